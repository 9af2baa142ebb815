// A log: a stream that clients name by a path, and its record in the store.
//
// Its appends are the entries of one incarnation (a StreamId); deleting and creating it again makes
// another. A fork shares its source's appends up to a point and goes on by itself: `inherited` says
// where those are, `base` how many they are, and its own entry 1 is append base + 1.
//
//     L path            the record
//     P stream id       what a producer of that name has sent to that incarnation
//     X time path       expiry: a lower bound of when the log may expire
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "base/time.h"
#include "stream/log/producer.h"

namespace reprise::stream {

// Appends base + 1 to `until` of a log are entries 1 to until - base of `stream`.
struct Inherited {
  StreamId stream;
  std::uint64_t base = 0;
  std::uint64_t until = 0;
  friend bool operator==(const Inherited&, const Inherited&) = default;
};

struct ForkOrigin {
  std::string path;
  std::uint64_t offset = 0;
  std::uint64_t sub_offset = 0;
  std::uint64_t depth = 1;  // how many sources are above: 1 for a fork of what is no fork
  friend bool operator==(const ForkOrigin&, const ForkOrigin&) = default;
};

struct LogRecord {
  StreamId stream;
  std::string content_type;
  std::optional<std::uint64_t> ttl_seconds;  // since the last use
  std::optional<TimePoint> expires_at;
  TimePoint created_at;
  TimePoint used_at;  // written down at most once per tenth of the window
  bool is_closed = false;
  bool is_deleted = false;                 // kept for its forks only
  std::optional<std::string> writer_seq;   // the last Stream-Seq
  std::optional<ProducerClaim> closed_by;  // the append that closed it
  std::optional<ForkOrigin> origin;
  std::vector<Inherited> inherited;
  std::uint64_t base = 0;
  std::uint64_t forks = 0;  // logs that inherit from this one
  std::optional<TimePoint> filed_expiry;

  // The earlier of the two clocks.
  std::optional<TimePoint> due() const;
  bool is_expired(TimePoint now) const;
  bool is_json() const;
};

std::string encode_log(const LogRecord& record);
Result<LogRecord> decode_log(std::string_view bytes);

std::string log_key(std::string_view path);
std::string producer_prefix(StreamId stream);
std::string producer_key(StreamId stream, std::string_view producer);
std::string log_expiry_key(TimePoint at, std::string_view path);
std::string log_expiry_begin();
std::string log_expiry_end(TimePoint now);
// The path at the end of an expiry key.
std::optional<std::string> path_of_log_expiry(std::string_view key);

// "text/plain; charset=utf-8" and "Text/Plain" are one media type.
bool is_same_media_type(std::string_view a, std::string_view b);

}  // namespace reprise::stream
