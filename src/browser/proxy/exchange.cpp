#include "browser/proxy/exchange.h"

#include <fmt/format.h>

#include <utility>

#include "browser/proxy/limits.h"

namespace reprise::browser {
namespace {

bool has_no_body(const wire::Request& request, int status) {
  return request.method == wire::Method::kHead || status == 204 || status == 304;
}

}  // namespace

ProxyExchange::ProxyExchange(Parts parts, const wire::Request& request, const ProxyRequest& asked,
                             const NextHop& next, bool has_body)
    : parts_(parts),
      request_(request),
      asked_(asked),
      has_body_(has_body),
      request_form_(request.headers.get("transfer-encoding") ? BodyForm::kChunked
                                                             : BodyForm::kAsGiven),
      request_head_(head_for_server(request, asked, request_form_, next)) {}

rt::Task<ExchangeEnd> ProxyExchange::run() {
  // If it cannot be sent, the server may still have said why before it closed.
  (void)co_await parts_.server.socket->write(request_head_);
  rt::Gate bodies;
  is_body_whole_ = !has_body_;
  if (has_body_) rt::spawn(bodies, send_body());
  co_await bring_response();
  // Answered before the whole request was read: the server need not take the rest, but the client
  // must be able to send it, or it would never read the answer.
  if (!is_body_whole_ && !end_.is_switched) parts_.server.socket->close();
  co_await bodies.empty();
  end_.is_client_reusable &= is_body_whole_ && !is_client_gone_;
  end_.is_server_reusable &= parts_.server.socket->is_open();
  end_.is_answered |= is_client_gone_;
  co_return std::move(end_);
}

void ProxyExchange::give_up() {
  is_client_gone_ = true;
  parts_.server.socket->close();
}

rt::Task<> ProxyExchange::send_body() {
  bool is_taken = true;  // by the server; if not, the rest is read and dropped
  while (!parts_.parser.is_complete()) {
    const Result<bool> has_bytes = co_await parts_.client.input.wait();
    if (!has_bytes.value_or(false)) co_return give_up();
    const auto used = parts_.parser.feed(parts_.client.input.bytes());
    if (!used) co_return give_up();
    parts_.client.input.skip(*used);
    parts_.idle.touch();
    std::string piece = parts_.parser.take_body();
    parts_.probe.bytes_up.fetch_add(piece.size(), std::memory_order_relaxed);
    if (request_form_ == BodyForm::kChunked) piece = as_chunk(piece);
    if (is_taken && !piece.empty())
      is_taken = (co_await parts_.server.socket->write(piece)).has_value();
  }
  if (is_taken && request_form_ == BodyForm::kChunked)
    (void)co_await parts_.server.socket->write(kLastChunk);
  is_body_whole_ = true;
  parts_.client.input.keep_watching();
}

rt::Task<> ProxyExchange::bring_response() {
  wire::ResponseParser response(
      wire::ResponseOptions{.is_head_request = request_.method == wire::Method::kHead,
                            .max_body_bytes = kProxyBufferBytes,
                            .keeps_interim = true});
  end_.is_silent = true;
  for (;;) {
    const Result<bool> has_bytes = co_await parts_.server.input.wait();
    Result<> fed;
    if (!has_bytes) {
      fed = fail(has_bytes.error());
    } else if (!*has_bytes) {
      fed = response.finish();
    } else {
      end_.is_silent = false;
      fed = response.feed(parts_.server.input.bytes());
      parts_.server.input.skip(parts_.server.input.bytes().size());
      parts_.idle.touch();
    }
    if (is_client_gone_) co_return;
    if (!co_await pass_on_response(response)) co_return give_up();
    const bool is_withheld = response.is_header_complete() && !is_head_passed_;
    if (response.is_complete() || is_withheld || !fed) co_return settle(response, fed);
  }
}

// False if the client has not taken it.
rt::Task<bool> ProxyExchange::pass_on_response(wire::ResponseParser& response) {
  if (!co_await pass_on_interim(response)) co_return false;
  if (!response.is_header_complete()) co_return true;
  if (!co_await pass_on_head(response)) co_return false;
  if (!is_head_passed_) co_return true;
  std::string piece = std::exchange(response.body(), {});
  parts_.probe.bytes_down.fetch_add(piece.size(), std::memory_order_relaxed);
  if (client_form_.body == BodyForm::kChunked) {
    piece = as_chunk(piece);
    if (response.is_complete()) piece += kLastChunk;
  }
  co_return co_await to_client(piece);
}

rt::Task<bool> ProxyExchange::pass_on_interim(wire::ResponseParser& response) {
  while (const auto interim = response.take_interim())
    // RFC 9110, section 15.2: HTTP/1.0 knows no interim responses.
    if (request_.minor_version > 0 && !co_await to_client(interim_for_client(*interim)))
      co_return false;
  co_return true;
}

rt::Task<bool> ProxyExchange::pass_on_head(wire::ResponseParser& response) {
  if (is_head_passed_) co_return true;
  const int status = response.status();
  // A server that is no proxy has no business with the browser's proxy credentials, and one that
  // switches unasked speaks what nobody here does: see settle().
  if (status == 407 || (status == 101 && !asked_.wants_websocket)) co_return true;
  client_form_.is_switching = status == 101;
  const bool is_length_known = client_form_.is_switching || has_no_body(request_, status) ||
                               response.headers().get("content-length").has_value();
  if (!is_length_known && request_.minor_version > 0) client_form_.body = BodyForm::kChunked;
  client_form_.keep_alive =
      request_.keep_alive && (is_length_known || client_form_.body == BodyForm::kChunked);
  is_head_passed_ = true;
  end_.is_answered = true;
  co_return co_await to_client(
      head_for_client({status, response.reason(), response.headers()}, client_form_));
}

rt::Task<bool> ProxyExchange::to_client(std::string_view bytes) {
  if (bytes.empty()) co_return true;
  const bool is_taken = (co_await parts_.client.socket->write(bytes)).has_value();
  parts_.idle.touch();
  co_return is_taken && !is_client_gone_;
}

void ProxyExchange::settle(const wire::ResponseParser& response, const Result<>& fed) {
  if (response.is_header_complete() && !is_head_passed_) {
    end_.error = Error{Code::kIo, fmt::format("the server answered {}", response.status())};
  } else if (!response.is_complete()) {
    end_.error = fed.error();
  } else if (response.status() == 101) {
    end_.is_switched = true;
  } else {
    end_.is_client_reusable = client_form_.keep_alive;
    end_.is_server_reusable = response.keep_alive() && fed.has_value();
  }
}

}  // namespace reprise::browser
