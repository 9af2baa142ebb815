#include "http/websocket.h"

#include <utility>

namespace reprise::http {
namespace {

using enum wire::WebSocketOpcode;

wire::WebSocketOpcode opcode_of(bool is_text) { return is_text ? kText : kBinary; }

}  // namespace

struct WebSocket::Owned {
  Owned(std::unique_ptr<rt::Socket> connected, rt::Loop& loop)
      : socket(std::move(connected)), flusher(loop) {}
  std::unique_ptr<rt::Socket> socket;
  Flusher flusher;
};

// What a read that is under way writes to.
struct WebSocket::Inbox {
  Inbox(WebSocket& websocket, wire::WebSocketRole role, std::size_t max_message_bytes)
      : owner(&websocket), decoder({.role = role, .max_message_bytes = max_message_bytes}) {}
  WebSocket* owner;  // nullptr: gone
  ReadBuffer input;
  wire::WebSocketDecoder decoder;
};

WebSocket::WebSocket(rt::Socket& socket, Flusher& flusher, const WebSocketOptions& options)
    : socket_(socket),
      loop_(flusher.loop()),
      writer_(socket_, flusher),
      inbox_(
          std::make_shared<Inbox>(*this, wire::WebSocketRole::kServer, options.max_message_bytes)),
      changed_(loop_),
      ping_(loop_.timers()),
      ping_interval_(options.ping_interval) {}

WebSocket::WebSocket(std::unique_ptr<rt::Socket> socket, rt::Loop& loop, Random& random,
                     const WebSocketOptions& options)
    : owned_(std::make_unique<Owned>(std::move(socket), loop)),
      socket_(*owned_->socket),
      loop_(loop),
      random_(&random),
      writer_(socket_, owned_->flusher),
      inbox_(
          std::make_shared<Inbox>(*this, wire::WebSocketRole::kClient, options.max_message_bytes)),
      changed_(loop_),
      ping_(loop_.timers()),
      ping_interval_(options.ping_interval) {}

WebSocket::~WebSocket() {
  inbox_->owner = nullptr;
  if (owned_) owned_->socket->close();
}

void WebSocket::start(ReadBuffer input, rt::CancelScope* while_there) {
  while_there_ = while_there;
  inbox_->input = std::move(input);
  if (ping_interval_ > rt::Nanos::zero())
    ping_.arm(loop_.now() + ping_interval_, [this] { ask_whether_there(); });
  advance();
}

// Decodes and reads until there is a message, or nothing more will come.
void WebSocket::advance() {
  while (!message_ && !is_ended_) {
    if (inbox_->input.empty()) {
      if (!is_reading_) read_on();
      return;
    }
    if (is_dropping_)
      drop(inbox_->input.unread().size());
    else
      decode();
  }
}

void WebSocket::read_on() {
  is_reading_ = true;
  // The rest of a long message goes where it belongs, without a copy.
  std::span<char> place;
  if (!is_dropping_) place = inbox_->decoder.payload_room(kIdleReadBytes);
  const bool is_payload = !place.empty();
  if (!is_payload) {
    const std::size_t size = is_busy_ ? kLargeReadBytes : kIdleReadBytes;
    if (inbox_->input.capacity() > size) inbox_->input = {};
    place = inbox_->input.room(size);
  }
  socket_.start_read(place, [inbox = inbox_, is_payload](Result<std::size_t> count) {
    if (inbox->owner != nullptr) inbox->owner->on_read(std::move(count), is_payload);
  });
}

void WebSocket::on_read(Result<std::size_t> count, bool is_payload) {
  is_reading_ = false;
  if (!count) return end(std::move(count).error());
  if (*count == 0) return end({Code::kClosed, "the peer ended the connection"});
  missed_pings_ = 0;
  if (is_payload) {
    is_busy_ = false;
    auto filled = inbox_->decoder.payload_filled(*count);
    if (filled)
      take_event();
    else
      refuse(std::move(filled).error());
  } else {
    is_busy_ = *count == (is_busy_ ? kLargeReadBytes : kIdleReadBytes);
    inbox_->input.fill(*count);
  }
  advance();
}

void WebSocket::decode() {
  auto used = inbox_->decoder.feed(inbox_->input.unread());
  if (!used) return refuse(std::move(used).error());
  inbox_->input.skip(*used);
  take_event();
}

void WebSocket::take_event() {
  auto event = inbox_->decoder.take();
  if (!event) return;
  switch (event->opcode) {
    case kPing: push_control(kPong, std::move(event->payload)); return;
    case kPong: return;
    case kClose:
      peer_close_ = Close{event->close_code, std::move(event->payload)};
      return stop_serving({Code::kClosed, "the peer closed the connection"});
    default: break;
  }
  if (is_closing_) return;
  message_ = Message{event->opcode == kText, std::move(event->payload)};
  changed_.notify();
}

// The peer broke the protocol: it is told, and not listened to any more.
void WebSocket::refuse(Error error) {
  say_close(wire::close_code_for(error), error.detail);
  failure_ = std::make_unique<Error>(error);
  stop_serving(std::move(error));
}

void WebSocket::end(Error error) {
  is_ended_ = true;
  if (!failure_) failure_ = std::make_unique<Error>(Code::kClosed, error.detail);
  stop_serving(std::move(error));
}

void WebSocket::stop_serving(Error reason) {
  is_dropping_ = true;
  ping_.cancel();
  changed_.notify();
  if (while_there_ != nullptr) while_there_->cancel(std::move(reason));
}

void WebSocket::drop(std::size_t count) {
  inbox_->input.skip(count);
  dropped_ += count;
  if (dropped_ < kMaxLingerBytes) return;
  socket_.close();
  end({Code::kClosed, "the peer sends on after the end"});
}

rt::Task<Result<std::optional<WebSocket::Message>>> WebSocket::read(rt::CancelScope& scope) {
  for (;;) {
    if (message_) {
      std::optional<Message> taken = std::exchange(message_, std::nullopt);
      advance();
      co_return taken;
    }
    if (peer_close_ || is_closing_) co_return std::nullopt;
    if (failure_) co_return fail(*failure_);
    auto waited = co_await changed_.wait(scope);
    // What came meanwhile counts, though it may have cancelled the scope.
    if (!waited && !message_ && !is_answered()) co_return fail(std::move(waited).error());
  }
}

bool WebSocket::push(Message&& message) {
  if (!can_send() || writer_.is_full()) return false;
  push_frame(opcode_of(message.is_text), std::move(message.data));
  return true;
}

void WebSocket::push_anyway(Message&& message) {
  if (can_send()) push_frame(opcode_of(message.is_text), std::move(message.data));
}

bool WebSocket::push(bool is_text, SharedBytes data) {
  if (!can_send() || writer_.is_full()) return false;
  if (is_client() || data->size() <= kMaxJoinedFrameBytes) return push(Message{is_text, *data});
  std::string header;
  wire::append_frame_header(header, opcode_of(is_text), data->size());
  writer_.push_anyway(std::make_shared<const std::string>(std::move(header)));
  writer_.push_anyway(std::move(data));
  return true;
}

std::optional<wire::WebSocketMask> WebSocket::next_mask() {
  if (!is_client()) return std::nullopt;
  wire::WebSocketMask mask;
  random_->fill(reinterpret_cast<unsigned char*>(mask.data()), mask.size());
  return mask;
}

void WebSocket::push_frame(wire::WebSocketOpcode opcode, std::string&& payload) {
  const auto mask = next_mask();
  std::string frame;
  if (payload.size() <= kMaxJoinedFrameBytes) {
    constexpr std::size_t kMaxHeaderBytes = 14;
    frame.reserve(kMaxHeaderBytes + payload.size());
    wire::append_frame(frame, opcode, payload, mask);
    writer_.push_anyway(std::make_shared<const std::string>(std::move(frame)));
    return;
  }
  wire::append_frame_header(frame, opcode, payload.size(), mask);
  if (mask) wire::apply_mask(payload, *mask);
  writer_.push_anyway(std::make_shared<const std::string>(std::move(frame)));
  writer_.push_anyway(std::make_shared<const std::string>(std::move(payload)));
}

// It goes out also when the backlog is full; but a peer that asks on and on without taking the
// answers does not get them all.
void WebSocket::push_control(wire::WebSocketOpcode opcode, std::string&& payload) {
  if (!can_send() || writer_.waiting_parts() >= 2 * kMaxBacklogParts) return;
  push_frame(opcode, std::move(payload));
}

rt::Task<Result<>> WebSocket::wait_for_room(rt::CancelScope& scope) {
  if (has_said_close_) co_return fail(Code::kClosed, "the connection is closed");
  co_return co_await writer_.wait_for_room(scope);
}

rt::Task<Result<>> WebSocket::send(Message message, rt::CancelScope& scope) {
  while (can_send() && writer_.is_full()) REPRISE_CO_CHECK(co_await wait_for_room(scope));
  if (!push(std::move(message))) co_return fail(Code::kClosed, "the connection is closed");
  co_return Result<>{};
}

// A peer that was asked and says nothing may be busy taking what was sent before the question.
void WebSocket::ask_whether_there() {
  const std::uint64_t unsent = socket_.unsent_bytes();
  const std::uint64_t acknowledged =
      writer_.sent_bytes() > unsent ? writer_.sent_bytes() - unsent : 0;
  const bool is_taking = acknowledged < ping_position_ && acknowledged > acknowledged_;
  acknowledged_ = acknowledged;
  // Nobody listens while a message waits to be taken, so silence then means nothing.
  missed_pings_ = is_taking || !is_reading_ ? 0 : missed_pings_ + 1;
  if (missed_pings_ > kMaxMissedPings) {
    socket_.close();
    return end({Code::kClosed, "the peer answers no pings"});
  }
  push_control(kPing, {});
  ping_position_ = writer_.taken_bytes();
  ping_.arm(loop_.now() + ping_interval_, [this] { ask_whether_there(); });
}

void WebSocket::say_close(std::uint16_t code, std::string_view reason) {
  push_control(kClose, wire::close_payload(code, reason));
  has_said_close_ = true;
}

rt::Task<> WebSocket::close(std::uint16_t code, std::string reason) {
  is_closing_ = true;
  message_.reset();
  ping_.cancel();
  if (peer_close_)
    say_close(peer_close_->code, "");
  else
    say_close(code, reason);
  changed_.notify();
  advance();
  // Nothing cancels it; a peer that takes nothing, or whoever closes the socket, ends it.
  rt::CancelScope scope;
  if (socket_.is_open() && co_await writer_.drain(scope)) {
    const bool is_in_order = co_await wait_until(&WebSocket::is_answered, kCloseTimeout);
    // Section 7.1.1: the server ends the connection first.
    if (!is_client()) socket_.shutdown_write();
    if (is_in_order) co_await wait_until(&WebSocket::is_ended, kLingerTimeout);
  }
  is_ended_ = true;
  socket_.close();
}

rt::Task<bool> WebSocket::wait_until(bool (WebSocket::*is_met)() const, rt::Nanos patience) {
  const rt::Deadline deadline = rt::Deadline::after(loop_, patience);
  rt::CancelScope scope;
  while (!(this->*is_met)())
    if (!co_await changed_.wait(scope, deadline)) co_return (this->*is_met)();
  co_return true;
}

}  // namespace reprise::http
