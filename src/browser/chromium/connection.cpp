#include "browser/chromium/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <coroutine>
#include <optional>
#include <vector>

#include "base/assert.h"
#include "base/log.h"
#include "browser/limits.h"

namespace reprise::browser::chromium {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;

Error gone() { return Error{Code::kBrowserGone, "the browser's process has ended"}; }

// The four digits behind `\u`; nullopt if they are none.
std::optional<unsigned> code_unit(std::string_view text, std::size_t at) {
  if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') return std::nullopt;
  unsigned value = 0;
  for (std::size_t i = at + 2; i < at + 6; ++i) {
    const char c = text[i];
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return std::nullopt;
    value = value * 16 + static_cast<unsigned>(digit);
  }
  return value;
}

bool is_high(unsigned unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool is_low(unsigned unit) { return unit >= 0xDC00 && unit < 0xE000; }

}  // namespace

std::string without_lone_surrogates(std::string text) {
  for (std::size_t at = text.find('\\'); at != std::string::npos; at = text.find('\\', at)) {
    const auto unit = code_unit(text, at);
    if (!unit) {
      at += 2;  // another escape
      continue;
    }
    const auto next = is_high(*unit) ? code_unit(text, at + 6) : std::nullopt;
    if (next && is_low(*next)) {
      at += 12;
      continue;
    }
    if (is_high(*unit) || is_low(*unit)) text.replace(at + 2, 4, "FFFD");
    at += 6;
  }
  return text;
}

CdpReply::CdpReply(wire::JsonDocument document)
    : document_(std::move(document)),
      result_(document_.root().find("result").value_or(document_.root())) {}

std::string CdpReply::text(std::string_view name) const {
  const auto member = result_.find(name);
  return member ? member->as_string().value_or("") : "";
}

// A call that waits for its reply.
struct CdpConnection::Pending {
  CdpConnection& connection;
  std::uint64_t id;
  const std::string& session;
  rt::Deadline deadline;
  rt::CancelScope* scope;
  std::coroutine_handle<> handle = {};
  std::optional<Result<CdpReply>> outcome = std::nullopt;
  std::optional<rt::Timer> timer = std::nullopt;
  std::optional<rt::CancelScope::Listener> listener = std::nullopt;

  Pending(CdpConnection& on, std::uint64_t number, const std::string& of, rt::Deadline until,
          rt::CancelScope* under)
      : connection(on), id(number), session(of), deadline(until), scope(under) {
    connection.pending_.emplace(id, this);
  }
  ~Pending() { connection.pending_.erase(id); }
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;

  bool await_ready() const { return outcome.has_value(); }
  void await_suspend(std::coroutine_handle<> waiting) {
    handle = waiting;
    if (scope != nullptr)
      listener.emplace(*scope, [this] { connection.finish(id, fail(scope->reason())); });
    if (deadline.is_never()) return;
    timer.emplace(connection.loop_.timers());
    timer->arm(deadline.at(), [this] {
      connection.finish(id, fail(Code::kDeadline, "the browser did not answer in time"));
    });
  }
  Result<CdpReply> await_resume() { return std::move(*outcome); }
};

CdpConnection::CdpConnection(rt::Loop& loop, std::unique_ptr<rt::Socket> pipe)
    : loop_(loop), pipe_(std::move(pipe)) {}

CdpConnection::~CdpConnection() { REPRISE_ASSERT(pending_.empty(), pending_.size()); }

void CdpConnection::listen(const std::string& session, CdpListener* listener) {
  listeners_[session] = listener;
}

void CdpConnection::forget(const std::string& session) {
  std::vector<std::uint64_t> waiting;
  for (const auto& [id, pending] : pending_)
    if (pending->session == session) waiting.push_back(id);
  for (const std::uint64_t id : waiting)
    finish(id, fail(Code::kBrowserError, "the page or frame was closed"));
  listeners_.erase(session);
}

rt::Task<Result<CdpReply>> CdpConnection::call(std::string session, std::string method,
                                               std::string params, rt::Deadline deadline,
                                               rt::CancelScope* scope) {
  if (!is_open_) co_return fail(gone());
  Pending pending(*this, write(session, method, params), session, deadline, scope);
  auto outcome = co_await pending;
  if (!outcome && outcome.error().code != Code::kBrowserGone)
    outcome.error().detail = fmt::format("{}: {}", method, outcome.error().detail);
  co_return outcome;
}

void CdpConnection::send(std::string_view session, std::string_view method,
                         std::string_view params) {
  if (is_open_) write(session, method, params);
}

void CdpConnection::ask(std::string_view session, std::string_view method, std::string_view params,
                        OnResult told) {
  if (is_open_ && asked_.size() < kMaxAsked)
    asked_.emplace(write(session, method, params), std::move(told));
}

std::uint64_t CdpConnection::write(std::string_view session, std::string_view method,
                                   std::string_view params) {
  const std::uint64_t id = ++last_id_;
  fmt::format_to(std::back_inserter(output_), R"({{"id":{},"method":"{}","params":{})", id, method,
                 params);
  if (!session.empty())
    fmt::format_to(std::back_inserter(output_), R"(,"sessionId":"{}")", session);
  output_ += '}';
  output_ += '\0';
  flush();
  return id;
}

void CdpConnection::flush() {
  if (output_.size() > kMaxPipeBacklogBytes && pipe_->is_open()) {
    log::error("a browser does not take its commands", {{"bytes", output_.size()}});
    return pipe_->close();
  }
  if (is_writing_ || output_.empty()) return;
  const iovec part{output_.data(), output_.size()};
  const auto taken = pipe_->try_write({&part, 1});
  if (!taken) return pipe_->close();
  output_.erase(0, *taken);
  if (output_.empty()) return;
  is_writing_ = true;
  rt::spawn(writing_, write_rest());
}

rt::Task<> CdpConnection::write_rest() {
  const auto ready = co_await pipe_->wait_writable();
  is_writing_ = false;
  if (ready && is_open_) flush();
}

rt::Task<> CdpConnection::run() {
  std::vector<char> buffer(kReadBytes);
  for (;;) {
    const auto count = co_await pipe_->read_some(buffer);
    if (!count || *count == 0) break;
    for (std::string& message : input_.feed({buffer.data(), *count})) take(std::move(message));
    if (input_.has_overflowed()) {
      log::error("a browser sent a message that is too long");
      break;
    }
  }
  close();
  co_await writing_.empty();
}

void CdpConnection::take(std::string message) {
  auto document = wire::parse_json(message);
  if (!document) document = wire::parse_json(without_lone_surrogates(std::move(message)));
  if (!document) {
    log::warning("a browser's message is no JSON", {{"detail", document.error().detail}});
    return;
  }
  const wire::JsonValue root = document->root();
  if (const auto id = root.find("id")) {
    const auto number = id->as_uint().value_or(0);
    const auto error = root.find("error");
    if (auto asked = asked_.extract(number)) {
      const auto result = root.find("result");
      if (!error && result) asked.mapped()(*result);
      return;
    }
    if (!error) return finish(number, CdpReply(std::move(*document)));
    const auto text = error->find("message");
    return finish(number, fail(Code::kBrowserError,
                               text ? text->as_string().value_or("it failed") : "it failed"));
  }
  const auto method = root.find("method");
  const auto params = root.find("params");
  if (!method || !params) return;
  const auto session = root.find("sessionId");
  const std::string from = session ? session->as_string().value_or("") : "";
  const auto listener = listeners_.find(from);
  if (listener != listeners_.end())
    listener->second->on_event(from, method->as_string().value_or(""), *params);
}

void CdpConnection::finish(std::uint64_t id, Result<CdpReply> outcome) {
  const auto found = pending_.find(id);
  if (found == pending_.end() || found->second->outcome) return;
  Pending& pending = *found->second;
  pending.outcome.emplace(std::move(outcome));
  // One that has not suspended yet finds the outcome by itself.
  if (pending.handle) loop_.post([handle = pending.handle] { handle.resume(); });
}

void CdpConnection::close() {
  if (!std::exchange(is_open_, false)) return;
  pipe_->close();
  std::vector<std::uint64_t> waiting;
  for (const auto& [id, pending] : pending_) waiting.push_back(id);
  for (const std::uint64_t id : waiting) finish(id, fail(gone()));
  const auto listeners = std::exchange(listeners_, {});
  std::vector<CdpListener*> told;
  for (const auto& [session, listener] : listeners)
    if (std::find(told.begin(), told.end(), listener) == told.end()) told.push_back(listener);
  for (CdpListener* listener : told) listener->on_closed();
}

}  // namespace reprise::browser::chromium
