#include <fmt/format.h>

#include <algorithm>

#include "wire/http.h"
#include "wire/http_chunked.h"
#include "wire/http_head.h"
#include "wire/limits.h"

namespace reprise::wire {

struct ResponseParser::Impl {
  Impl(bool is_head, std::size_t max_body)
      : is_head_request(is_head),
        max_body_bytes(max_body),
        head(HeadReader::Kind::kResponse,
             {.max_bytes = kMaxResponseHeadBytes, .max_headers = kMaxResponseHeaders}) {}

  enum class Body : std::uint8_t { kLength, kChunked, kUntilEnd };
  Result<> feed(std::string_view bytes);
  Result<> take_head();
  Result<> append_body(std::string_view bytes);

  bool is_head_request;
  bool is_header_complete = false;
  bool is_complete = false;
  Body body_kind = Body::kLength;
  int status = 0;
  std::size_t max_body_bytes;
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
  if (status == 101) return append_body(bytes);
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
    REPRISE_TRY(const std::size_t used, chunks.feed(bytes, body, max_body_bytes));
    is_complete = chunks.is_done();
    bytes.remove_prefix(used);
  }
  if (!bytes.empty()) return fail(Code::kMalformedHttp, "bytes follow the response");
  return {};
}

Result<> ResponseParser::Impl::take_head() {
  REPRISE_TRY(const Framing framing, read_framing(head.headers, head.minor_version));
  // RFC 9110 section 15.2: any number of interim responses may come before the final one.
  if (head.status < 200 && head.status != 101) {
    head.reset();
    return {};
  }
  status = head.status;
  headers = std::move(head.headers);
  is_header_complete = true;
  // RFC 9112 section 6.3.
  const bool has_no_body = is_head_request || status == 101 || status == 204 || status == 304;
  switch (framing.kind) {
    case Framing::Kind::kNone: body_kind = Body::kUntilEnd; break;
    case Framing::Kind::kChunked: body_kind = Body::kChunked; break;
    case Framing::Kind::kLength: body_kind = Body::kLength; break;
  }
  rest_of_body = framing.length;
  is_complete = has_no_body || (framing.kind == Framing::Kind::kLength && framing.length == 0);
  return {};
}

Result<> ResponseParser::Impl::append_body(std::string_view bytes) {
  if (bytes.size() > max_body_bytes || body.size() > max_body_bytes - bytes.size())
    return fail(Code::kBodyTooLarge, fmt::format("the body is over {} bytes", max_body_bytes));
  body.append(bytes);
  return {};
}

ResponseParser::ResponseParser(bool is_head_request, std::size_t max_body_bytes)
    : impl_(std::make_unique<Impl>(is_head_request, max_body_bytes)) {}
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
const Headers& ResponseParser::headers() const { return impl_->headers; }
std::string& ResponseParser::body() { return impl_->body; }

}  // namespace reprise::wire
