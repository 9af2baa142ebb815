#include "model/status.h"

namespace reprise::model {
namespace {

constexpr std::size_t kVocabularies = 7;

// The contract's table: a row for each status, in the order of the enum; a column for each
// vocabulary.
constexpr std::array<std::array<std::string_view, kVocabularies>, kStatuses.size()> kWords = {{
    {"INITIALIZING", "starting", "planning", "active", "running", "CONNECTING", "PENDING"},
    {"ACTIVE", "active", "running", "active", "running", "CONNECTED", "IN_PROGRESS"},
    {"PAUSED", "active", "waiting_for_input", "paused", "suspended", "RATE_LIMITED", "IN_PROGRESS"},
    {"COMPLETED", "ended", "completed", "completed", "completed", "DISCONNECTED", "COMPLETED"},
    {"FAILED", "failed", "failed", "error", "failed", "ERROR", "FAILED"},
    {"CANCELLED", "ended", "cancelled", "completed", "cancelled", "DISCONNECTED", "SKIPPED"},
    {"CLEANUP", "ending", "cancelled", "completed", "cancelled", "DISCONNECTED", "SKIPPED"},
}};

constexpr std::array<std::string_view, kVocabularies> kVocabularyNames = {
    "standard", "browser", "agent", "registry", "graph", "connection", "execution"};

constexpr std::array<std::string_view, kPauseReasons.size()> kPauseReasonWords = {
    "input", "operator", "rateLimit", "workerLost"};

bool row_has(Status status, std::string_view text) {
  for (const std::string_view candidate : kWords[static_cast<std::size_t>(status)])
    if (candidate == text) return true;
  return false;
}

}  // namespace

std::optional<PauseReason> PauseReasons::first() const {
  for (const PauseReason reason : kPauseReasons)
    if (contains(reason)) return reason;
  return std::nullopt;
}

std::optional<PauseReasons> PauseReasons::from_bits(std::uint8_t bits) {
  if (bits >> kPauseReasons.size() != 0) return std::nullopt;
  PauseReasons reasons;
  reasons.bits_ = bits;
  return reasons;
}

bool is_terminal(Status status) {
  switch (status) {
    case Status::kInitializing:
    case Status::kActive:
    case Status::kPaused: return false;
    case Status::kCompleted:
    case Status::kFailed:
    case Status::kCancelled:
    case Status::kCleanup: return true;
  }
  return true;
}

bool may_move(Status from, Status to) {
  if (from == to || to == Status::kInitializing) return false;
  if (is_living(from)) return to != Status::kCleanup;
  return from != Status::kCleanup && to == Status::kCleanup;
}

std::string_view word(Status status, Vocabulary vocabulary) {
  return kWords[static_cast<std::size_t>(status)][static_cast<std::size_t>(vocabulary)];
}

std::string_view word(PauseReason reason) {
  return kPauseReasonWords[static_cast<std::size_t>(reason)];
}

std::optional<PauseReason> parse_pause_reason(std::string_view text) {
  for (const PauseReason reason : kPauseReasons)
    if (word(reason) == text) return reason;
  return std::nullopt;
}

std::optional<Vocabulary> parse_vocabulary(std::string_view name) {
  for (std::size_t i = 0; i < kVocabularyNames.size(); ++i)
    if (kVocabularyNames[i] == name) return static_cast<Vocabulary>(i);
  return std::nullopt;
}

std::optional<Status> parse_status(std::string_view text) {
  for (const Status status : kStatuses)
    if (word(status) == text) return status;
  // Three rows have it, and none says how it ended: a connection that is gone unasked has failed.
  if (text == "DISCONNECTED") return Status::kFailed;
  if (row_has(Status::kActive, text)) return Status::kActive;
  for (const Status status : kStatuses)
    if (row_has(status, text)) return status;
  return std::nullopt;
}

}  // namespace reprise::model
