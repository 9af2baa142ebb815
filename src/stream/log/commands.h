// What can be asked of a log, and what comes of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/time.h"
#include "stream/log/producer.h"
#include "stream/log/record.h"

namespace reprise::stream {

// What readers need: the record, and the number of the last append.
struct LogView {
  LogRecord record;
  Seq tail;
  std::size_t home = 0;  // the index of its home loop
};

struct ForkRequest {
  std::string path;
  std::optional<Seq> offset;  // none: the tail
  std::uint64_t sub_offset = 0;
};

struct CreateLog {
  std::optional<std::string> content_type;
  std::optional<std::uint64_t> ttl_seconds;
  std::optional<TimePoint> expires_at;
  bool is_closed = false;
  std::optional<ForkRequest> fork;
  std::string body;
};

struct CreatedLog {
  LogView view;
  bool is_new = false;  // else it was there, and is as asked for
};

struct AppendLog {
  std::optional<std::string> content_type;
  std::string body;
  bool closes = false;
  std::optional<ProducerClaim> producer;
  std::optional<std::string> writer_seq;
};

struct AppendOutcome {
  enum class Kind : std::uint8_t {
    kAppended,
    kClosed,         // and nothing appended
    kDuplicate,      // of a producer's earlier append
    kAlreadyClosed,  // 409
    kWrongType,      // 409
    kOldWriterSeq,   // 409
    kStaleEpoch,     // 403
    kBadStart,       // 400
    kGap             // 409
  };
  Kind kind = Kind::kAppended;
  Seq tail;
  bool is_closed = false;
  std::optional<ProducerState> producer;  // as it is afterwards
  std::uint64_t expected_seq = 0;         // kGap
};

}  // namespace reprise::stream
