// What `reprise tail` remembers between connections: where it is, what is new, when to try again.
//
//     TailProgress progress({.after = 0});
//     while (...) {
//       connect with progress.last_event_id();
//       for each frame: switch (progress.on_frame(frame)) { ... }
//       wait progress.delay_after_loss(random);
//     }
//
// Pure: no clock, no network. The server promises each event once and in order; a frame seen before
// (a reconnect that overlaps) is dropped by its sequence number all the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "wire/sse.h"

namespace reprise::server::cli {

inline constexpr Millis kFirstDelay{250};
inline constexpr Millis kLongestDelay{10'000};
// Failures in a row before tail gives up: about eight minutes.
inline constexpr std::uint32_t kMaxFailuresInARow = 60;

class TailProgress {
 public:
  struct Options {
    std::uint64_t after = 0;
    std::vector<std::string> types = {};  // empty: all
    bool is_following = true;
  };
  enum class Step : std::uint8_t { kPrint, kSkip, kFinished };

  explicit TailProgress(Options options);

  Step on_frame(const wire::SseEvent& frame);

  // The header of the next connection; none before anything has been read.
  std::optional<std::string> last_event_id() const;
  std::uint64_t after() const { return options_.after; }

  // The server accepted the stream, so a later loss is worth another try.
  void on_open() { was_open_ = true; }
  bool was_open() const { return was_open_; }

  // How long to wait before the next try: doubling, between half and the whole of each step at
  // random so that many readers do not come back at once, and never less than the server asks for.
  // nullopt: give up.
  std::optional<Millis> delay_after_loss(Random& random, Millis server_asks = Millis{0});
  std::uint32_t failures() const { return failures_; }

 private:
  Options options_;
  std::uint64_t last_seq_;
  bool has_read_ = false;
  bool was_open_ = false;
  std::uint32_t failures_ = 0;
};

}  // namespace reprise::server::cli
