// The rules of appending to a log, pure.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "stream/log/commands.h"

namespace reprise::stream {

// What an append changes; applied to the record and the producer by the caller once decided.
struct AppendDecision {
  AppendOutcome outcome;
  std::optional<std::string> entry;       // to be appended
  std::optional<ProducerState> producer;  // to be remembered
  bool writes_record = false;             // `record` of decide_append was changed
};

// In this order: closed, content type, content, producer, Stream-Seq. Changes `record` only where
// it accepts. `tail` is the number of the last append before. Fails for what is wrong in itself
// (400).
Result<AppendDecision> decide_append(LogRecord& record, Seq tail,
                                     const std::optional<ProducerState>& known,
                                     const AppendLog& append);

}  // namespace reprise::stream
