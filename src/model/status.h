// A session's status: one enum, its allowed moves, and the words other systems use for it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace reprise::model {

enum class Status : std::uint8_t {
  kInitializing,
  kActive,
  kPaused,
  kCompleted,
  kFailed,
  kCancelled,
  kCleanup,
};
inline constexpr std::array kStatuses = {Status::kInitializing, Status::kActive, Status::kPaused,
                                         Status::kCompleted,    Status::kFailed, Status::kCancelled,
                                         Status::kCleanup};

// Why a session is paused; a set, because several reasons may hold at once.
enum class PauseReason : std::uint8_t { kInput, kOperator, kRateLimit, kWorkerLost };
inline constexpr std::array kPauseReasons = {PauseReason::kInput, PauseReason::kOperator,
                                             PauseReason::kRateLimit, PauseReason::kWorkerLost};

// A set of pause reasons in the order of the enum; the first is the record's `pauseReason`.
class PauseReasons {
 public:
  bool contains(PauseReason reason) const { return (bits_ & bit(reason)) != 0; }
  void insert(PauseReason reason) { bits_ = static_cast<std::uint8_t>(bits_ | bit(reason)); }
  void erase(PauseReason reason) { bits_ = static_cast<std::uint8_t>(bits_ & ~bit(reason)); }
  bool empty() const { return bits_ == 0; }
  std::optional<PauseReason> first() const;
  std::uint8_t bits() const { return bits_; }
  static std::optional<PauseReasons> from_bits(std::uint8_t bits);
  friend bool operator==(const PauseReasons&, const PauseReasons&) = default;

 private:
  static std::uint8_t bit(PauseReason reason) {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(reason));
  }
  std::uint8_t bits_ = 0;
};

enum class Vocabulary : std::uint8_t {
  kStandard,
  kBrowser,
  kAgent,
  kRegistry,
  kGraph,
  kConnection,
  kExecution
};

// COMPLETED, FAILED, CANCELLED and CLEANUP: the session takes no more work.
bool is_terminal(Status status);
inline bool is_living(Status status) { return !is_terminal(status); }
// The table of moves, without reset and without staying where one is.
bool may_move(Status from, Status to);

// The word for a status in a vocabulary, e.g. (kPaused, kGraph) -> "suspended".
std::string_view word(Status status, Vocabulary vocabulary = Vocabulary::kStandard);
std::string_view word(PauseReason reason);
std::optional<PauseReason> parse_pause_reason(std::string_view text);
// "browser", "agent", ... ; "standard" is the enum's own words.
std::optional<Vocabulary> parse_vocabulary(std::string_view name);

// What a word means on a write, in any vocabulary: the enum's own word first; else ACTIVE where
// ACTIVE's row has it; else the first row that has it; except DISCONNECTED, which is FAILED.
// Matching is exact: case counts.
std::optional<Status> parse_status(std::string_view text);

}  // namespace reprise::model
