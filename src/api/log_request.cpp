#include "api/log_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "api/access.h"
#include "base/time.h"
#include "stream/limits.h"
#include "wire/target.h"

namespace reprise::api {
namespace {

using http::Exchange;

constexpr std::uint64_t kMaxProducerNumber = (std::uint64_t{1} << 53) - 1;

Result<> check_path(std::string_view path) {
  const bool has_control = std::any_of(path.begin(), path.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (path.empty() || path.size() > stream::kMaxLogPathBytes || has_control)
    return fail(Code::kBadRequest, fmt::format("the path of a stream has 1 to {} printable bytes",
                                               stream::kMaxLogPathBytes));
  return {};
}

Result<std::string> join_path(const std::vector<std::string>& segments, std::size_t from) {
  std::string path;
  for (std::size_t i = from; i < segments.size(); ++i) {
    const std::string& part = segments[i];
    if (part.empty() || part == "." || part == ".." || part.find('/') != std::string::npos)
      return fail(Code::kBadRequest, "a part of the path is empty, '.', '..' or holds a slash");
    if (i > from) path += '/';
    path += part;
  }
  REPRISE_CHECK(check_path(path));
  return path;
}

// "^(0|[1-9]\d*)$"
std::optional<std::uint64_t> plain_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_plain = !text.empty() && error == std::errc() && end == text.data() + text.size() &&
                        text[0] != '+' && text[0] != '-' && (text == "0" || text[0] != '0');
  return is_plain ? std::optional(value) : std::nullopt;
}

Result<std::optional<std::uint64_t>> number_header(const Exchange& exchange,
                                                   std::string_view name) {
  const auto text = exchange.request.headers.get(name);
  if (!text) return std::nullopt;
  const auto value = plain_number(*text);
  if (!value)
    return fail(Code::kBadParameter, fmt::format("{} is '{}', which is no number", name, *text));
  return value;
}

Result<std::optional<stream::ForkRequest>> read_fork(const Exchange& exchange) {
  const auto& headers = exchange.request.headers;
  const auto from = headers.get("stream-forked-from");
  const auto offset = headers.get("stream-fork-offset");
  REPRISE_TRY(const auto sub_offset, number_header(exchange, "stream-fork-sub-offset"));
  if (!from) {
    if (offset || sub_offset)
      return fail(Code::kBadParameter, "a fork's offset needs Stream-Forked-From");
    return std::nullopt;
  }
  stream::ForkRequest fork;
  auto source = wire::parse_target(*from);
  if (!source || source->segments.size() < 3 || source->segments[0] != "v1" ||
      source->segments[1] != "stream")
    return fail(Code::kBadParameter, "Stream-Forked-From must be /v1/stream/ and a path");
  REPRISE_TRY(fork.path, join_path(source->segments, 2));
  REPRISE_CHECK(check_log_access(exchange.principal, fork.path));
  if (offset) {
    REPRISE_TRY(fork.offset, stream::parse_offset(*offset));
  }
  fork.sub_offset = sub_offset.value_or(0);
  return fork;
}

Result<std::optional<std::string>> content_type(const Exchange& exchange) {
  const auto type = exchange.request.headers.get("content-type");
  if (!type || type->empty()) return std::nullopt;
  if (type->size() > stream::kMaxContentTypeBytes)
    return fail(Code::kBadParameter, "the Content-Type is too long");
  return std::string(*type);
}

// Producer numbers may have leading zeros.
Result<std::uint64_t> producer_number(std::string_view name, std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || text[0] == '+' || text[0] == '-' || error != std::errc() ||
      end != text.data() + text.size() || value > kMaxProducerNumber)
    return fail(Code::kBadParameter, fmt::format("{} must be a number up to 2^53-1", name));
  return value;
}

Result<std::optional<stream::ProducerClaim>> read_producer(const Exchange& exchange) {
  const auto& headers = exchange.request.headers;
  const auto id = headers.get("producer-id");
  const auto epoch = headers.get("producer-epoch");
  const auto seq = headers.get("producer-seq");
  if (!id && !epoch && !seq) return std::nullopt;
  if (!id || !epoch || !seq)
    return fail(Code::kBadParameter, "Producer-Id, Producer-Epoch and Producer-Seq go together");
  if (id->empty() || id->size() > stream::kMaxProducerIdBytes)
    return fail(Code::kBadParameter,
                fmt::format("Producer-Id has 1 to {} bytes", stream::kMaxProducerIdBytes));
  stream::ProducerClaim claim{.id = std::string(*id)};
  REPRISE_TRY(claim.epoch, producer_number("Producer-Epoch", *epoch));
  REPRISE_TRY(claim.seq, producer_number("Producer-Seq", *seq));
  return claim;
}

}  // namespace

Result<std::string> log_path(const Exchange& exchange) {
  REPRISE_TRY(std::string path, join_path(exchange.captured, 0));
  // A session's own stream is as the session is.
  if (!path.starts_with(kSessionLogs)) REPRISE_CHECK(check_log_access(exchange.principal, path));
  return path;
}

bool says_closed(const Exchange& exchange) {
  const auto text = exchange.request.headers.get("stream-closed");
  constexpr std::string_view kTrue = "true";
  return text && std::equal(text->begin(), text->end(), kTrue.begin(), kTrue.end(),
                            [](char a, char b) { return (a | 0x20) == b; });
}

Result<stream::CreateLog> read_create(Exchange& exchange) {
  stream::CreateLog create;
  REPRISE_TRY(create.content_type, content_type(exchange));
  REPRISE_TRY(create.ttl_seconds, number_header(exchange, "stream-ttl"));
  if (create.ttl_seconds && *create.ttl_seconds > stream::kMaxTtlSeconds)
    return fail(Code::kBadParameter,
                fmt::format("Stream-TTL is at most {}", stream::kMaxTtlSeconds));
  if (const auto text = exchange.request.headers.get("stream-expires-at")) {
    auto at = parse_time(*text);
    if (!at) return fail(Code::kBadParameter, "Stream-Expires-At must be a time of RFC 3339");
    create.expires_at = *at;
  }
  if (create.ttl_seconds && create.expires_at)
    return fail(Code::kBadParameter, "Stream-TTL and Stream-Expires-At exclude each other");
  REPRISE_TRY(create.fork, read_fork(exchange));
  create.is_closed = says_closed(exchange);
  create.body = std::move(exchange.request.body);
  return create;
}

Result<stream::AppendLog> read_append_log(Exchange& exchange) {
  stream::AppendLog append;
  REPRISE_TRY(append.content_type, content_type(exchange));
  REPRISE_TRY(append.producer, read_producer(exchange));
  if (const auto seq = exchange.request.headers.get("stream-seq")) {
    if (seq->size() > stream::kMaxWriterSeqBytes)
      return fail(Code::kBadParameter,
                  fmt::format("Stream-Seq has at most {} bytes", stream::kMaxWriterSeqBytes));
    append.writer_seq = std::string(*seq);
  }
  append.closes = says_closed(exchange);
  append.body = std::move(exchange.request.body);
  return append;
}

Result<ReadLog> read_read(const Exchange& exchange) {
  ReadLog read;
  REPRISE_TRY(const auto live, exchange.query("live"));
  if (live && *live != "long-poll" && *live != "sse")
    return fail(Code::kBadParameter, "live is long-poll or sse");
  if (live) read.live = *live == "sse" ? LiveMode::kSse : LiveMode::kLongPoll;
  REPRISE_TRY(const auto offset, exchange.query("offset"));
  if (!offset && live) return fail(Code::kBadParameter, "a live read needs an offset");
  if (offset) {
    REPRISE_TRY(read.from, stream::parse_read_from(*offset));
  }
  REPRISE_TRY(const auto cursor, exchange.query("cursor"));
  if (cursor) read.cursor = plain_number(*cursor);
  return read;
}

std::uint64_t live_cursor(TimePoint now, std::optional<std::uint64_t> brought) {
  constexpr std::int64_t kEpochMs = 1'728'432'000'000;  // 2024-10-09T00:00:00Z
  constexpr std::int64_t kIntervalMs = 20'000;
  const auto present =
      static_cast<std::uint64_t>(std::max<std::int64_t>((now.ms - kEpochMs) / kIntervalMs, 0));
  // One that nobody can have been given is no cursor.
  if (!brought || *brought < present || *brought > kMaxProducerNumber) return present;
  // Spread over up to an hour of intervals, by the clock's own milliseconds.
  return *brought + 1 + static_cast<std::uint64_t>(now.ms) % 180;
}

}  // namespace reprise::api
