#include "server/cli/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rt/cancel.h"
#include "server/version.h"

namespace reprise::server::cli {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;

// RFC 9110 section 5.5: what a header's value may hold; anything else could end the header early.
bool is_header_value(std::string_view value) {
  return std::ranges::none_of(value, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && byte != '\t') || byte == 0x7f;
  });
}

bool is_kept_alive(const wire::ResponseParser& parser) {
  const auto connection = parser.headers().get("connection");
  return !connection || *connection == "keep-alive";
}

}  // namespace

// A connection being made. It is shared with the task that makes it, which may end after its client
// gave up.
struct Client::Opening {
  explicit Opening(rt::Loop& loop) : is_done(loop) {}
  rt::Signal is_done;
  std::optional<Result<std::unique_ptr<rt::Socket>>> outcome;
};

Client::Client(rt::RealLoop& loop, Url url, std::string token, std::shared_ptr<rt::TlsContext> tls,
               ClientTimeouts timeouts)
    : loop_(loop),
      url_(std::move(url)),
      token_(std::move(token)),
      tls_(std::move(tls)),
      timeouts_(timeouts) {}

Client::~Client() = default;

std::unexpected<Error> Client::lost(const Error& error) const {
  return fail(error.code, fmt::format("{}: {}", url_.to_string(), error.detail));
}

rt::Task<Result<std::unique_ptr<rt::Socket>>> Client::connect_all() {
  REPRISE_CO_TRY(auto plain, co_await rt::connect(loop_, {url_.host, url_.port}));
  if (!url_.is_tls) co_return std::move(plain);
  co_return co_await rt::connect_tls(tls_, std::move(plain), url_.host);
}

rt::Task<> Client::open_into(std::shared_ptr<Opening> opening) {
  opening->outcome.emplace(co_await connect_all());
  opening->is_done.notify();
}

// A connection attempt cannot be called off, so after the deadline it is left behind: it stays in
// openings_ until the loop has stopped.
rt::Task<Result<std::unique_ptr<rt::Socket>>> Client::open() {
  if (url_.is_tls && tls_ == nullptr) co_return fail(Code::kInternal, "TLS is not set up");
  auto opening = std::make_shared<Opening>(loop_);
  rt::CancelScope scope;
  openings_.push_back(Running::start(open_into(opening)));
  if (!opening->outcome) {
    (void)co_await opening->is_done.wait(scope, rt::Deadline::after(loop_, timeouts_.connect));
    if (!opening->outcome)
      co_return fail(Code::kDeadline, fmt::format("cannot connect to {}: no answer within {} ms",
                                                  url_.to_string(), timeouts_.connect.count()));
  }
  openings_.pop_back();
  auto outcome = std::move(*opening->outcome);
  if (!outcome) co_return lost(outcome.error());
  co_return std::move(*outcome);
}

Result<std::string> Client::head_of(const ClientRequest& request) const {
  if (!is_header_value(token_))
    return fail(Code::kBadParameter, "the token holds a control character");
  std::string head =
      fmt::format("{} {}{} HTTP/1.1\r\nHost: {}\r\nUser-Agent: reprise/{}\r\n", request.method,
                  url_.path, request.target, url_.authority(), kVersion);
  if (!token_.empty()) head += fmt::format("Authorization: Bearer {}\r\n", token_);
  for (const auto& [name, value] : request.headers) {
    if (!is_header_value(value))
      return fail(Code::kBadParameter, fmt::format("{} holds a control character", name));
    head += fmt::format("{}: {}\r\n", name, value);
  }
  if (!request.body.empty()) head += "Content-Type: application/json\r\n";
  if (request.is_upload) return head + "\r\n";
  if (!request.body.empty() || request.method == "POST" || request.method == "PUT")
    head += fmt::format("Content-Length: {}\r\n", request.body.size());
  head += "\r\n";
  return head;
}

rt::Task<Result<std::size_t>> Client::read(rt::Socket& socket, std::span<char> buffer,
                                           std::chrono::milliseconds limit) {
  bool is_late = false;
  rt::Timer timer(loop_.timers());
  timer.arm(loop_.now() + limit, [&socket, &is_late] {
    is_late = true;
    socket.close();
  });
  auto count = co_await socket.read_some(buffer);
  if (is_late)
    co_return fail(Code::kDeadline,
                   fmt::format("{} sent nothing for {} ms", url_.to_string(), limit.count()));
  if (!count) co_return lost(count.error());
  co_return *count;
}

rt::Task<Result<>> Client::write(rt::Socket& socket, std::string_view bytes) {
  bool is_late = false;
  rt::Timer timer(loop_.timers());
  timer.arm(loop_.now() + timeouts_.response, [&socket, &is_late] {
    is_late = true;
    socket.close();
  });
  auto outcome = co_await socket.write(bytes);
  if (is_late)
    co_return fail(Code::kDeadline, fmt::format("{} took nothing for {} ms", url_.to_string(),
                                                timeouts_.response.count()));
  if (!outcome) co_return lost(outcome.error());
  co_return Result<>{};
}

// One request and its response on socket_, which stays if it can be used again.
rt::Task<Result<wire::Response>> Client::exchange(std::string bytes, bool is_head,
                                                  bool& was_answered) {
  auto socket = std::move(socket_);
  // A server that refuses a request early answers and closes before it has read all: the answer is
  // what counts, so a failed write is told only if there is none.
  const auto written = co_await write(*socket, bytes);
  wire::ResponseParser parser(is_head);
  std::vector<char> buffer(kReadBytes);
  while (!parser.is_complete()) {
    auto count = co_await read(*socket, buffer, timeouts_.response);
    if (!count) co_return fail(written ? count.error() : written.error());
    if (*count == 0) {
      if (!was_answered)
        co_return fail(Code::kClosed,
                       fmt::format("{} closed the connection without an answer", url_.to_string()));
      if (auto finished = parser.finish(); !finished) co_return lost(finished.error());
      break;
    }
    was_answered = true;
    if (auto fed = parser.feed({buffer.data(), *count}); !fed) co_return lost(fed.error());
  }
  if (is_kept_alive(parser) && socket->is_open()) socket_ = std::move(socket);
  co_return wire::Response{parser.status(), parser.headers(), std::move(parser.body())};
}

rt::Task<Result<wire::Response>> Client::send(ClientRequest request) {
  REPRISE_CO_TRY(std::string bytes, head_of(request));
  bytes += request.body;
  const bool is_head = request.method == "HEAD";
  if (socket_ != nullptr) {
    bool was_answered = false;
    auto response = co_await exchange(bytes, is_head, was_answered);
    // The server may have closed the idle connection at the moment it was used again.
    if (response || was_answered || !request.is_repeatable) co_return response;
  }
  REPRISE_CO_TRY(socket_, co_await open());
  bool was_answered = false;
  co_return co_await exchange(std::move(bytes), is_head, was_answered);
}

rt::Task<Result<wire::Response>> Client::stream(ClientRequest request, StreamReader& reader) {
  REPRISE_CO_TRY(std::string bytes, head_of(request));
  bytes += request.body;
  REPRISE_CO_TRY(const auto socket, co_await open());
  REPRISE_CO_CHECK(co_await write(*socket, bytes));
  wire::ResponseParser parser;
  std::vector<char> buffer(kReadBytes);
  const auto patience = request.patience.value_or(timeouts_.response);
  bool is_open = false;
  while (!parser.is_complete()) {
    REPRISE_CO_TRY(const std::size_t count,
                   co_await read(*socket, buffer, is_open ? timeouts_.stream_idle : patience));
    if (count == 0) {
      if (auto finished = parser.finish(); !finished) co_return lost(finished.error());
      break;
    }
    if (auto fed = parser.feed({buffer.data(), count}); !fed) co_return lost(fed.error());
    if (!parser.is_header_complete() || parser.status() != 200) continue;
    if (!is_open) {
      is_open = true;
      reader.on_open();
    }
    const std::string piece = std::exchange(parser.body(), {});
    if (!piece.empty() && !reader.on_bytes(piece))
      co_return wire::Response{parser.status(), parser.headers(), {}};
  }
  if (is_open && !reader.may_end())
    co_return fail(Code::kClosed, fmt::format("{} ended the stream", url_.to_string()));
  co_return wire::Response{parser.status(), parser.headers(), std::move(parser.body())};
}

rt::Task<Result<>> Client::write_all(rt::Socket& socket, UploadSource& source) {
  std::vector<char> buffer(kReadBytes);
  std::uint64_t sent = 0;
  for (;;) {
    REPRISE_CO_TRY(std::size_t count, source.read(buffer));
    // A file that grows meanwhile is sent as long as it was.
    if (source.size()) count = std::min<std::uint64_t>(count, *source.size() - sent);
    sent += count;
    std::string piece(buffer.data(), count);
    if (!source.size()) piece = fmt::format("{:x}\r\n{}\r\n", count, piece);
    if (!piece.empty()) REPRISE_CO_CHECK(co_await write(socket, piece));
    if (count == 0) break;
  }
  if (source.size() && sent != *source.size())
    co_return fail(Code::kBadRequest, "the file became shorter while it was sent");
  co_return Result<>{};
}

rt::Task<Result<wire::Response>> Client::upload(ClientRequest request, UploadSource& source) {
  request.is_upload = true;
  const auto size = source.size();
  if (size)
    request.headers.emplace_back("Content-Length", std::to_string(*size));
  else
    request.headers.emplace_back("Transfer-Encoding", "chunked");
  const bool has_body = size.value_or(1) > 0;
  if (has_body) request.headers.emplace_back("Expect", "100-continue");
  REPRISE_CO_TRY(const std::string head, head_of(request));
  REPRISE_CO_TRY(const auto socket, co_await open());
  REPRISE_CO_CHECK(co_await write(*socket, head));
  wire::ResponseParser parser;
  std::vector<char> buffer(kReadBytes);
  const auto patience = request.patience.value_or(timeouts_.response);
  bool is_sent = !has_body;
  Result<> written;
  while (!parser.is_complete()) {
    auto count = co_await read(*socket, buffer, patience);
    if (!count) co_return fail(written ? count.error() : written.error());
    if (*count == 0) {
      if (!written) co_return fail(written.error());
      if (auto finished = parser.finish(); !finished) co_return lost(finished.error());
      break;
    }
    if (auto fed = parser.feed({buffer.data(), *count}); !fed) co_return lost(fed.error());
    // The first answer that is not a final one says: go on.
    if (parser.is_header_complete() || std::exchange(is_sent, true)) continue;
    written = co_await write_all(*socket, source);
    if (!written && written.error().code == Code::kBadRequest) co_return fail(written.error());
  }
  co_return wire::Response{parser.status(), parser.headers(), std::move(parser.body())};
}

}  // namespace reprise::server::cli
