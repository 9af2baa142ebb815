// Idempotent producers: a writer numbers its appends, and each is taken once.
//
// A producer has an id, an epoch that it raises when it starts anew, and counts its appends from 0
// in every epoch. What it sends again is recognised; what it sends from an older epoch is refused,
// because a newer instance of it is at work.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace reprise::stream {

// What a request says.
struct ProducerClaim {
  std::string id;
  std::uint64_t epoch = 0;
  std::uint64_t seq = 0;
};

// What a log remembers of a producer.
struct ProducerState {
  std::uint64_t epoch = 0;
  std::uint64_t last_seq = 0;
  friend bool operator==(const ProducerState&, const ProducerState&) = default;
};

struct ProducerVerdict {
  enum class Kind : std::uint8_t {
    kAccept,
    kDuplicate,   // taken before: nothing is written
    kStaleEpoch,  // 403: `current` is the epoch of now
    kBadStart,    // 400: a new epoch begins with 0
    kGap          // 409: `expected` comes next
  };
  Kind kind = Kind::kAccept;
  std::uint64_t current = 0;
  std::uint64_t expected = 0;
};

ProducerVerdict judge(const std::optional<ProducerState>& known, const ProducerClaim& claim);

std::string encode_producer(const ProducerState& state);
Result<ProducerState> decode_producer(std::string_view bytes);

}  // namespace reprise::stream
