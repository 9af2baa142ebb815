#include "stream/log/record.h"

#include <algorithm>

#include "base/bytes.h"
#include "stream/limits.h"

namespace reprise::stream {
namespace {

constexpr char kLogTable = 'L';
constexpr char kProducerTable = 'P';
constexpr char kExpiryTable = 'X';
constexpr std::uint8_t kFormat = 1;
// Beyond the year 9999, which is the last that a client can name.
constexpr std::uint64_t kLatestMs = std::uint64_t{1} << 48;

enum Flag : std::uint64_t {
  kHasTtl = 1,
  kHasExpiry = 2,
  kIsClosed = 4,
  kIsDeleted = 8,
  kHasWriterSeq = 16,
  kHasCloser = 32,
  kHasOrigin = 64,
  kIsFiled = 128
};

void put_time(std::string& out, TimePoint at) {
  put_varint(out, static_cast<std::uint64_t>(std::max<std::int64_t>(at.ms, 0)));
}

bool read_time(ByteReader& reader, TimePoint& at) {
  std::uint64_t ms = 0;
  if (!reader.varint(ms) || ms > kLatestMs) return false;
  at.ms = static_cast<std::int64_t>(ms);
  return true;
}

bool read_stream(ByteReader& reader, StreamId& stream) {
  std::string_view raw;
  if (!reader.take(16, raw)) return false;
  stream = *StreamId::from_bytes(raw);
  return true;
}

std::string_view media_type(std::string_view content_type) {
  content_type = content_type.substr(0, content_type.find(';'));
  while (!content_type.empty() && (content_type.back() == ' ' || content_type.back() == '\t'))
    content_type.remove_suffix(1);
  return content_type;
}

}  // namespace

bool is_same_media_type(std::string_view a, std::string_view b) {
  a = media_type(a);
  b = media_type(b);
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

std::optional<TimePoint> LogRecord::due() const {
  std::optional<TimePoint> due = expires_at;
  if (ttl_seconds) {
    const TimePoint by_use = used_at + std::chrono::seconds(*ttl_seconds);
    if (!due || by_use < *due) due = by_use;
  }
  return due;
}

bool LogRecord::is_expired(TimePoint now) const {
  const auto at = due();
  return at && *at <= now;
}

bool LogRecord::is_json() const { return is_same_media_type(content_type, "application/json"); }

std::string encode_log(const LogRecord& record) {
  std::string out(1, static_cast<char>(kFormat));
  const auto flag = [](bool is_set, Flag value) { return is_set ? std::uint64_t{value} : 0; };
  put_varint(out, flag(record.ttl_seconds.has_value(), kHasTtl) |
                      flag(record.expires_at.has_value(), kHasExpiry) |
                      flag(record.is_closed, kIsClosed) | flag(record.is_deleted, kIsDeleted) |
                      flag(record.writer_seq.has_value(), kHasWriterSeq) |
                      flag(record.closed_by.has_value(), kHasCloser) |
                      flag(record.origin.has_value(), kHasOrigin) |
                      flag(record.filed_expiry.has_value(), kIsFiled));
  out += record.stream.view();
  put_text(out, record.content_type);
  put_time(out, record.created_at);
  put_time(out, record.used_at);
  put_varint(out, record.base);
  put_varint(out, record.forks);
  put_varint(out, record.inherited.size());
  for (const Inherited& part : record.inherited) {
    out += part.stream.view();
    put_varint(out, part.base);
    put_varint(out, part.until);
  }
  if (record.ttl_seconds) put_varint(out, *record.ttl_seconds);
  if (record.expires_at) put_time(out, *record.expires_at);
  if (record.writer_seq) put_text(out, *record.writer_seq);
  if (record.closed_by) {
    put_text(out, record.closed_by->id);
    put_varint(out, record.closed_by->epoch);
    put_varint(out, record.closed_by->seq);
  }
  if (record.origin) {
    put_text(out, record.origin->path);
    put_varint(out, record.origin->offset);
    put_varint(out, record.origin->sub_offset);
    put_varint(out, record.origin->depth);
  }
  if (record.filed_expiry) put_time(out, *record.filed_expiry);
  return out;
}

Result<LogRecord> decode_log(std::string_view bytes) {
  ByteReader reader(bytes);
  LogRecord record;
  std::uint8_t format = 0;
  std::uint64_t flags = 0;
  std::uint64_t parts = 0;
  bool is_sound = reader.byte(format) && format == kFormat && reader.varint(flags) &&
                  read_stream(reader, record.stream) && reader.text(record.content_type) &&
                  read_time(reader, record.created_at) && read_time(reader, record.used_at) &&
                  reader.varint(record.base) && reader.varint(record.forks) &&
                  reader.varint(parts) && parts <= bytes.size();
  for (std::uint64_t i = 0; is_sound && i < parts; ++i) {
    Inherited part;
    is_sound =
        read_stream(reader, part.stream) && reader.varint(part.base) && reader.varint(part.until);
    record.inherited.push_back(part);
  }
  record.is_closed = (flags & kIsClosed) != 0;
  record.is_deleted = (flags & kIsDeleted) != 0;
  if ((flags & kHasTtl) != 0)
    is_sound = reader.varint(record.ttl_seconds.emplace()) &&
               *record.ttl_seconds <= kMaxTtlSeconds && is_sound;
  if ((flags & kHasExpiry) != 0)
    is_sound = read_time(reader, record.expires_at.emplace()) && is_sound;
  if ((flags & kHasWriterSeq) != 0) is_sound = reader.text(record.writer_seq.emplace()) && is_sound;
  if ((flags & kHasCloser) != 0) {
    ProducerClaim& closer = record.closed_by.emplace();
    is_sound = reader.text(closer.id) && reader.varint(closer.epoch) && reader.varint(closer.seq) &&
               is_sound;
  }
  if ((flags & kHasOrigin) != 0) {
    ForkOrigin& origin = record.origin.emplace();
    is_sound = reader.text(origin.path) && reader.varint(origin.offset) &&
               reader.varint(origin.sub_offset) && reader.varint(origin.depth) && is_sound;
  }
  if ((flags & kIsFiled) != 0)
    is_sound = read_time(reader, record.filed_expiry.emplace()) && is_sound;
  if (!is_sound || !reader.at_end()) return fail(Code::kCorrupt, "a log's record does not decode");
  return record;
}

std::string log_key(std::string_view path) {
  std::string key(1, kLogTable);
  key += path;
  return key;
}

std::string producer_prefix(StreamId stream) {
  std::string key(1, kProducerTable);
  key += stream.view();
  return key;
}

std::string producer_key(StreamId stream, std::string_view producer) {
  std::string key = producer_prefix(stream);
  key += producer;
  return key;
}

std::string log_expiry_begin() { return std::string(1, kExpiryTable); }

std::string log_expiry_key(TimePoint at, std::string_view path) {
  std::string key = log_expiry_begin();
  put_be64(key, static_cast<std::uint64_t>(std::max<std::int64_t>(at.ms, 0)));
  key += path;
  return key;
}

std::string log_expiry_end(TimePoint now) { return log_expiry_key(now + Millis{1}, ""); }

std::optional<std::string> path_of_log_expiry(std::string_view key) {
  constexpr std::size_t kHead = 9;
  if (key.size() <= kHead || key[0] != kExpiryTable) return std::nullopt;
  return std::string(key.substr(kHead));
}

}  // namespace reprise::stream
