#include <fmt/format.h>

#include <algorithm>

#include "wire/http.h"
#include "wire/http_chunked.h"
#include "wire/http_head.h"
#include "wire/limits.h"

namespace reprise::wire {

struct ResponseParser::Impl {
  explicit Impl(ResponseOptions response_options)
      : options(response_options),
        head(HeadReader::Kind::kResponse,
             {.max_bytes = kMaxResponseHeadBytes, .max_headers = kMaxResponseHeaders}) {}

  enum class Body : std::uint8_t { kLength, kChunked, kUntilEnd };
  Result<> feed(std::string_view bytes);
  Result<> take_head();
  Result<> take_interim_head();
  Result<> append_body(std::string_view bytes);

  ResponseOptions options;
  bool is_header_complete = false;
  bool is_complete = false;
  Body body_kind = Body::kLength;
  bool keep_alive = false;
  bool is_switched = false;  // another protocol follows the head
  int status = 0;
  std::size_t interim_count = 0;
  std::string reason;
  std::vector<InterimResponse> interim;
  std::uint64_t rest_of_body = 0;
  HeadReader head;
  ChunkedDecoder chunks;
  Headers headers;
  std::string body;
  std::unique_ptr<Error> error;
};

Result<> ResponseParser::Impl::feed(std::string_view bytes) {
  while (!is_header_complete && !bytes.empty()) {
    REPRISE_TRY(const std::size_t used, head.feed(bytes));
    bytes.remove_prefix(used);
    if (!head.is_complete()) return {};
    REPRISE_CHECK(take_head());
  }
  if (bytes.empty()) return {};
  if (is_switched) return append_body(bytes);
  if (is_complete) return fail(Code::kMalformedHttp, "bytes follow the response");
  if (body_kind == Body::kUntilEnd) return append_body(bytes);
  if (body_kind == Body::kLength) {
    const auto piece =
        static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), rest_of_body));
    REPRISE_CHECK(append_body(bytes.substr(0, piece)));
    rest_of_body -= piece;
    is_complete = rest_of_body == 0;
    bytes.remove_prefix(piece);
  } else {
    REPRISE_TRY(const std::size_t used, chunks.feed(bytes, body, options.max_body_bytes));
    is_complete = chunks.is_done();
    bytes.remove_prefix(used);
  }
  if (!bytes.empty()) return fail(Code::kMalformedHttp, "bytes follow the response");
  return {};
}

Result<> ResponseParser::Impl::take_head() {
  REPRISE_TRY(const Framing framing, read_framing(head.headers, head.minor_version));
  if (head.status < 200 && head.status != 101) return take_interim_head();
  status = head.status;
  reason = std::move(head.reason);
  keep_alive = head.keep_alive;
  headers = std::move(head.headers);
  is_header_complete = true;
  // RFC 9112 section 6.3.
  is_switched = status == 101 || (options.is_connect_request && status < 300);
  const bool has_no_body = options.is_head_request || is_switched || status == 204 || status == 304;
  switch (framing.kind) {
    case Framing::Kind::kNone: body_kind = Body::kUntilEnd; break;
    case Framing::Kind::kChunked: body_kind = Body::kChunked; break;
    case Framing::Kind::kLength: body_kind = Body::kLength; break;
  }
  rest_of_body = framing.length;
  is_complete = has_no_body || (framing.kind == Framing::Kind::kLength && framing.length == 0);
  return {};
}

// RFC 9110 section 15.2: any number of interim responses may come before the final one; here, not
// any number.
Result<> ResponseParser::Impl::take_interim_head() {
  if (++interim_count > kMaxInterimResponses)
    return fail(Code::kMalformedHttp,
                fmt::format("more than {} interim responses", kMaxInterimResponses));
  if (options.keeps_interim)
    interim.push_back({head.status, std::move(head.reason), std::move(head.headers)});
  head.reset();
  return {};
}

Result<> ResponseParser::Impl::append_body(std::string_view bytes) {
  const std::size_t most = options.max_body_bytes;
  if (bytes.size() > most || body.size() > most - bytes.size())
    return fail(Code::kBodyTooLarge, fmt::format("the body is over {} bytes", most));
  body.append(bytes);
  return {};
}

ResponseParser::ResponseParser(ResponseOptions options) : impl_(std::make_unique<Impl>(options)) {}
ResponseParser::ResponseParser(bool is_head_request, std::size_t max_body_bytes)
    : ResponseParser(
          ResponseOptions{.is_head_request = is_head_request, .max_body_bytes = max_body_bytes}) {}
ResponseParser::~ResponseParser() = default;
ResponseParser::ResponseParser(ResponseParser&&) noexcept = default;

Result<> ResponseParser::feed(std::string_view bytes) {
  if (impl_->error) return fail(*impl_->error);
  auto fed = impl_->feed(bytes);
  if (!fed) impl_->error = std::make_unique<Error>(fed.error());
  return fed;
}

Result<> ResponseParser::finish() {
  if (impl_->error) return fail(*impl_->error);
  if (impl_->is_complete) return {};
  if (!impl_->is_header_complete || impl_->body_kind != Impl::Body::kUntilEnd)
    return fail(Code::kClosed, "the connection ended before the response did");
  impl_->is_complete = true;
  return {};
}

bool ResponseParser::is_header_complete() const { return impl_->is_header_complete; }
bool ResponseParser::is_complete() const { return impl_->is_complete; }
int ResponseParser::status() const { return impl_->status; }
const std::string& ResponseParser::reason() const { return impl_->reason; }
bool ResponseParser::keep_alive() const { return impl_->keep_alive; }

std::optional<InterimResponse> ResponseParser::take_interim() {
  if (impl_->interim.empty()) return std::nullopt;
  InterimResponse first = std::move(impl_->interim.front());
  impl_->interim.erase(impl_->interim.begin());
  return first;
}

const Headers& ResponseParser::headers() const { return impl_->headers; }
std::string& ResponseParser::body() { return impl_->body; }

}  // namespace reprise::wire
