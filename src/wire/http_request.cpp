#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "wire/http.h"
#include "wire/http_chunked.h"
#include "wire/http_head.h"
#include "wire/limits.h"

namespace reprise::wire {
namespace {

Method method_of(std::string_view name) {
  for (const Method method : {Method::kGet, Method::kHead, Method::kPost, Method::kPut,
                              Method::kPatch, Method::kDelete, Method::kOptions})
    if (word(method) == name) return method;
  return Method::kOther;
}

HeadLimits head_limits(const ParserLimits& limits) {
  return {.max_first_line_bytes = limits.max_target_bytes + kMaxRequestLineExtraBytes,
          .max_bytes = limits.max_header_bytes,
          .max_headers = limits.max_headers,
          .takes_connect = limits.takes_connect};
}

}  // namespace

struct RequestParser::Impl {
  explicit Impl(ParserLimits parser_limits)
      : limits(parser_limits), head(HeadReader::Kind::kRequest, head_limits(parser_limits)) {}

  Result<std::size_t> feed(std::string_view bytes);
  Result<> take_head();
  Result<> check_host() const;
  Result<> check_expectation();
  Result<> check_length(std::uint64_t most) const;
  Result<std::size_t> feed_body(std::string_view bytes);
  bool is_streamed() const { return max_streamed_bytes.has_value(); }

  ParserLimits limits;
  HeadReader head;
  ChunkedDecoder chunks;
  Framing framing;
  Request request;
  bool is_complete = false;
  bool wants_continue = false;
  bool is_stopped = false;                          // before a long body
  std::uint64_t body_bytes = 0;                     // received
  std::optional<std::uint64_t> max_streamed_bytes;  // of a body that is streamed
  std::unique_ptr<Error> error;                     // once refused, always refused
};

Result<std::size_t> RequestParser::Impl::feed(std::string_view bytes) {
  if (is_complete || is_stopped) return 0;
  std::size_t used = 0;
  if (!head.is_complete()) {
    REPRISE_TRY(used, head.feed(bytes));
    if (!head.is_complete()) return used;
    REPRISE_CHECK(take_head());
    if (is_complete || wants_continue || is_stopped) return used;
  }
  REPRISE_TRY(const std::size_t body_used, feed_body(bytes.substr(used)));
  return used + body_used;
}

Result<> RequestParser::Impl::take_head() {
  request.method = method_of(head.method);
  request.method_name = std::move(head.method);
  request.target = std::move(head.target);
  request.minor_version = head.minor_version;
  request.headers = std::move(head.headers);
  request.keep_alive = head.keep_alive;
  if (request.target.size() > limits.max_target_bytes)
    return fail(Code::kTargetTooLong, fmt::format("the target has {} bytes, the most is {}",
                                                  request.target.size(), limits.max_target_bytes));
  REPRISE_CHECK(check_host());
  REPRISE_TRY(framing, read_framing(request.headers, request.minor_version));
  // RFC 9110 section 9.3.6: content has no meaning there, and would be taken for the tunnel's.
  if (request.method_name == "CONNECT" && framing.kind != Framing::Kind::kNone)
    return fail(Code::kMalformedHttp, "CONNECT has no body");
  is_complete = framing.kind == Framing::Kind::kNone ||
                (framing.kind == Framing::Kind::kLength && framing.length == 0);
  REPRISE_CHECK(check_expectation());
  const bool is_long =
      framing.kind == Framing::Kind::kChunked || !check_length(limits.max_body_bytes);
  is_stopped = is_long && limits.stops_before_long_bodies;
  if (!is_stopped) REPRISE_CHECK(check_length(limits.max_body_bytes));
  if (!is_complete && framing.kind == Framing::Kind::kLength) {
    // A few bytes more than the body: parse_json() needs room behind it, and then need not copy it.
    constexpr std::size_t kRoomBehind = 64;
    request.body.reserve(std::min<std::size_t>(framing.length, kMaxBodyReserve) + kRoomBehind);
  }
  return {};
}

Result<> RequestParser::Impl::check_length(std::uint64_t most) const {
  if (framing.kind != Framing::Kind::kLength || framing.length <= most) return {};
  return fail(Code::kBodyTooLarge,
              fmt::format("the body has {} bytes, the most is {}", framing.length, most));
}

// RFC 9112 section 3.2.
Result<> RequestParser::Impl::check_host() const {
  const std::size_t hosts = request.headers.count("host");
  if (hosts > 1) return fail(Code::kMalformedHttp, "Host is given more than once");
  if (hosts == 0 && request.minor_version == 1)
    return fail(Code::kMalformedHttp, "Host is missing");
  return {};
}

// RFC 9110 section 10.1.1: HTTP/1.0 does not know 100, so its expectation is ignored.
Result<> RequestParser::Impl::check_expectation() {
  wants_continue = false;
  for (const Header& header : request.headers) {
    if (header.name != "expect" || request.minor_version == 0) continue;
    if (!equals_ignoring_case(header.value, "100-continue"))
      return fail(Code::kExpectationFailed, "the only expectation met is 100-continue");
    wants_continue = !is_complete;
  }
  return {};
}

Result<std::size_t> RequestParser::Impl::feed_body(std::string_view bytes) {
  const std::size_t held = request.body.size();
  if (framing.kind == Framing::Kind::kChunked) {
    // The decoder counts what is in the body, which of a streamed one is only what was not taken.
    const std::uint64_t most = max_streamed_bytes.value_or(limits.max_body_bytes);
    const std::uint64_t taken = body_bytes - held;
    REPRISE_TRY(const std::size_t used, chunks.feed(bytes, request.body, most - taken));
    body_bytes += request.body.size() - held;
    is_complete = chunks.is_done();
    return used;
  }
  const auto piece =
      static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), framing.length - body_bytes));
  request.body.append(bytes.substr(0, piece));
  body_bytes += piece;
  is_complete = body_bytes == framing.length;
  return piece;
}

RequestParser::RequestParser(ParserLimits limits) : impl_(std::make_unique<Impl>(limits)) {}
RequestParser::~RequestParser() = default;
RequestParser::RequestParser(RequestParser&&) noexcept = default;
RequestParser& RequestParser::operator=(RequestParser&&) noexcept = default;

Result<std::size_t> RequestParser::feed(std::string_view bytes) {
  if (impl_->error) return fail(*impl_->error);
  auto used = impl_->feed(bytes);
  if (!used) impl_->error = std::make_unique<Error>(used.error());
  return used;
}

bool RequestParser::is_complete() const { return impl_->is_complete; }
bool RequestParser::has_started() const { return impl_->head.has_started(); }
bool RequestParser::is_header_complete() const { return impl_->head.is_complete(); }
bool RequestParser::wants_continue() { return std::exchange(impl_->wants_continue, false); }
const Request& RequestParser::partial() const { return impl_->request; }

Result<> RequestParser::buffer_body() {
  impl_->is_stopped = false;
  return impl_->check_length(impl_->limits.max_body_bytes);
}

Result<> RequestParser::stream_body(std::uint64_t max_bytes) {
  impl_->is_stopped = false;
  // What has come already is not more than would have been kept.
  impl_->max_streamed_bytes = std::max<std::uint64_t>(max_bytes, impl_->body_bytes);
  return impl_->check_length(max_bytes);
}

std::string RequestParser::take_body() {
  REPRISE_ASSERT(impl_->is_streamed());
  return std::exchange(impl_->request.body, {});
}

Request RequestParser::take() {
  REPRISE_ASSERT(impl_->is_complete);
  Request taken = std::exchange(impl_->request, Request{});
  impl_->head.reset();
  impl_->chunks.reset();
  impl_->framing = {};
  impl_->body_bytes = 0;
  impl_->max_streamed_bytes.reset();
  impl_->is_complete = false;
  impl_->wants_continue = false;
  return taken;
}

}  // namespace reprise::wire
