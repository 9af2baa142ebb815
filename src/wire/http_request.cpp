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
          .max_headers = limits.max_headers};
}

}  // namespace

struct RequestParser::Impl {
  explicit Impl(ParserLimits parser_limits)
      : limits(parser_limits), head(HeadReader::Kind::kRequest, head_limits(parser_limits)) {}

  Result<std::size_t> feed(std::string_view bytes);
  Result<> take_head();
  Result<> check_host() const;
  Result<> check_expectation();
  Result<std::size_t> feed_body(std::string_view bytes);

  ParserLimits limits;
  HeadReader head;
  ChunkedDecoder chunks;
  Framing framing;
  Request request;
  bool is_complete = false;
  bool wants_continue = false;
  std::unique_ptr<Error> error;  // once refused, always refused
};

Result<std::size_t> RequestParser::Impl::feed(std::string_view bytes) {
  if (is_complete) return 0;
  std::size_t used = 0;
  if (!head.is_complete()) {
    REPRISE_TRY(used, head.feed(bytes));
    if (!head.is_complete()) return used;
    REPRISE_CHECK(take_head());
    if (is_complete || wants_continue) return used;
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
  if (framing.kind == Framing::Kind::kLength && framing.length > limits.max_body_bytes)
    return fail(Code::kBodyTooLarge, fmt::format("the body has {} bytes, the most is {}",
                                                 framing.length, limits.max_body_bytes));
  is_complete = framing.kind == Framing::Kind::kNone ||
                (framing.kind == Framing::Kind::kLength && framing.length == 0);
  REPRISE_CHECK(check_expectation());
  if (!is_complete && framing.kind == Framing::Kind::kLength) {
    // A few bytes more than the body: parse_json() needs room behind it, and then need not copy it.
    constexpr std::size_t kRoomBehind = 64;
    request.body.reserve(std::min<std::size_t>(framing.length, kMaxBodyReserve) + kRoomBehind);
  }
  return {};
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
  if (framing.kind == Framing::Kind::kChunked) {
    REPRISE_TRY(const std::size_t used, chunks.feed(bytes, request.body, limits.max_body_bytes));
    is_complete = chunks.is_done();
    return used;
  }
  const std::size_t piece =
      std::min<std::size_t>(bytes.size(), framing.length - request.body.size());
  request.body.append(bytes.substr(0, piece));
  is_complete = request.body.size() == framing.length;
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

Request RequestParser::take() {
  REPRISE_ASSERT(impl_->is_complete);
  Request taken = std::exchange(impl_->request, Request{});
  impl_->head.reset();
  impl_->chunks.reset();
  impl_->framing = {};
  impl_->is_complete = false;
  impl_->wants_continue = false;
  return taken;
}

}  // namespace reprise::wire
