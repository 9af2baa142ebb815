#include "server/cli/tail_progress.h"

#include <algorithm>
#include <utility>

#include "wire/json.h"

namespace reprise::server::cli {

TailProgress::TailProgress(Options options)
    : options_(std::move(options)), last_seq_(options_.after) {}

TailProgress::Step TailProgress::on_frame(const wire::SseEvent& frame) {
  failures_ = 0;
  if (frame.type == "end") return Step::kFinished;
  if (frame.type == "replayComplete") return options_.is_following ? Step::kSkip : Step::kFinished;
  if (frame.type != "message") return Step::kSkip;  // of a later server

  const auto document = wire::parse_json(frame.data);
  if (!document) return Step::kPrint;  // not ours to judge
  // An ephemeral event has no number: it is shown and does not move the cursor.
  const auto seq = document->root().find("seq");
  if (const auto number = seq ? seq->as_uint() : std::nullopt) {
    if (*number <= last_seq_) return Step::kSkip;
    last_seq_ = *number;
    has_read_ = true;
  }
  if (options_.types.empty()) return Step::kPrint;
  const auto type = document->root().find("type");
  const auto word = type ? type->as_string() : std::nullopt;
  return word && std::ranges::find(options_.types, *word) != options_.types.end() ? Step::kPrint
                                                                                  : Step::kSkip;
}

std::optional<std::string> TailProgress::last_event_id() const {
  if (!has_read_) return std::nullopt;
  return std::to_string(last_seq_);
}

std::optional<Millis> TailProgress::delay_after_loss(Random& random, Millis server_asks) {
  if (++failures_ > kMaxFailuresInARow) return std::nullopt;
  const std::uint32_t doublings = std::min(failures_ - 1, 16U);
  const Millis step = std::min<Millis>(kLongestDelay, kFirstDelay * (1LL << doublings));
  const auto half = static_cast<std::uint64_t>(step.count() / 2);
  const Millis jittered{static_cast<std::int64_t>(half + random.next_u64() % (half + 1))};
  return std::max(jittered, std::min(server_asks, Millis{60'000}));
}

}  // namespace reprise::server::cli
