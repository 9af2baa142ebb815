// Counts the events in a Server-Sent Events body, cheaply: one pass over the lines, no copies
// unless a line straddles two reads.
//
// Every event of a load has `"t":<nanoseconds>` in its data, written by the sender; counting those
// counts events for both servers (Reprise: one per frame; Durable Streams: a batch per frame).
// Where a frame has an id it must be the one before plus one: a load that lost events is not a
// measurement.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http_reader.h"
#include "stats.h"

namespace reprise::load {

class FrameCounter final : public BodySink {
 public:
  void take(std::string_view bytes) override;
  // Latencies are added here from now on; `now` is read once per turn of the loop by the owner.
  void measure(Histogram* latencies, const std::uint64_t* now) {
    latencies_ = latencies;
    now_ = now;
  }
  std::uint64_t events() const { return events_; }
  std::uint64_t gaps() const { return gaps_; }
  std::uint64_t bytes() const { return bytes_; }
  // The replay is over: `event: replayComplete`, or a control frame with "upToDate":true.
  bool is_live() const { return is_live_; }

 private:
  void take_line(std::string_view line);
  void take_events(std::string_view text);

  std::string rest_;  // the beginning of a line whose end has not arrived
  std::uint64_t events_ = 0;
  std::uint64_t gaps_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t last_id_ = 0;
  Histogram* latencies_ = nullptr;
  const std::uint64_t* now_ = nullptr;
  bool is_live_ = false;
  bool is_control_ = false;
};

// Counts `"t":` in any body, for catch-up reads that are one large JSON array.
class EventCounter final : public BodySink {
 public:
  void take(std::string_view bytes) override;
  std::uint64_t events() const { return events_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::string rest_;
  std::uint64_t events_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace reprise::load
