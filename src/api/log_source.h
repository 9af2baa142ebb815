// What is read below /v1/stream: a log, or a session's events shown as one (inside src/api).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/logs.h"
#include "stream/log/commands.h"
#include "stream/log/reader.h"

namespace reprise::api {

struct LogSource {
  std::string path;
  std::string content_type;
  std::vector<stream::LogPart> parts;  // inherited ones, without its own
  StreamId stream;
  std::uint64_t base = 0;
  Seq start;  // appends up to it are not shown (a session that was reset)
  Seq tail;
  std::size_t home = 0;
  bool is_closed = false;
  bool is_session = false;
  std::optional<std::uint64_t> ttl_seconds;
  std::optional<TimePoint> expires_at;

  bool is_json() const;
  bool is_text() const;
  std::vector<stream::LogPart> all_parts() const;
  // What an entry adds to a body: the messages with commas between them, or the bytes.
  void append_content(std::string& out, Seq number, std::string_view entry) const;
};

// kStreamNotFound, kGone. A use starts the time to live anew.
rt::Task<Result<LogSource>> find_source(const LogRoutes& routes, const http::Exchange& exchange,
                                        std::string path, bool is_use);

struct LogChunk {
  std::string body;
  Seq next;
  bool is_at_tail = false;
};
// Appends after `after`, as one body of bounded size.
rt::Task<Result<LogChunk>> read_chunk(store::AsyncStore& store, const LogSource& source, Seq after);

}  // namespace reprise::api
