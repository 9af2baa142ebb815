#include "model/status.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace reprise::model {
namespace {

// The contract's table once more, spelt out: the test must not derive it from the code.
struct Row {
  Status status;
  std::string_view standard, browser, agent, registry, graph, connection, execution;
};
constexpr Row kContract[] = {
    {Status::kInitializing, "INITIALIZING", "starting", "planning", "active", "running",
     "CONNECTING", "PENDING"},
    {Status::kActive, "ACTIVE", "active", "running", "active", "running", "CONNECTED",
     "IN_PROGRESS"},
    {Status::kPaused, "PAUSED", "active", "waiting_for_input", "paused", "suspended",
     "RATE_LIMITED", "IN_PROGRESS"},
    {Status::kCompleted, "COMPLETED", "ended", "completed", "completed", "completed",
     "DISCONNECTED", "COMPLETED"},
    {Status::kFailed, "FAILED", "failed", "failed", "error", "failed", "ERROR", "FAILED"},
    {Status::kCancelled, "CANCELLED", "ended", "cancelled", "completed", "cancelled",
     "DISCONNECTED", "SKIPPED"},
    {Status::kCleanup, "CLEANUP", "ending", "cancelled", "completed", "cancelled", "DISCONNECTED",
     "SKIPPED"},
};

TEST(Status, EachOfThe49MovesIsAllowedOrNotAsTheContractSays) {
  // Rows are from, columns to, both in the order of the enum.
  constexpr std::string_view kMoves[] = {
      ".yyyyy.",  // INITIALIZING
      "..yyyy.",  // ACTIVE
      ".y.yyy.",  // PAUSED
      "......y",  // COMPLETED
      "......y",  // FAILED
      "......y",  // CANCELLED
      ".......",  // CLEANUP
  };
  for (std::size_t from = 0; from < kStatuses.size(); ++from)
    for (std::size_t to = 0; to < kStatuses.size(); ++to)
      EXPECT_EQ(may_move(kStatuses[from], kStatuses[to]), kMoves[from][to] == 'y')
          << word(kStatuses[from]) << " to " << word(kStatuses[to]);
}

TEST(Status, FourStatusesAreTerminal) {
  const std::set<Status> terminal = {Status::kCompleted, Status::kFailed, Status::kCancelled,
                                     Status::kCleanup};
  for (const Status status : kStatuses) {
    EXPECT_EQ(is_terminal(status), terminal.contains(status)) << word(status);
    EXPECT_EQ(is_living(status), !terminal.contains(status)) << word(status);
  }
}

TEST(Status, EveryCellOfTheVocabularyTableIsSpoken) {
  for (const Row& row : kContract) {
    EXPECT_EQ(word(row.status), row.standard);
    EXPECT_EQ(word(row.status, Vocabulary::kStandard), row.standard);
    EXPECT_EQ(word(row.status, Vocabulary::kBrowser), row.browser);
    EXPECT_EQ(word(row.status, Vocabulary::kAgent), row.agent);
    EXPECT_EQ(word(row.status, Vocabulary::kRegistry), row.registry);
    EXPECT_EQ(word(row.status, Vocabulary::kGraph), row.graph);
    EXPECT_EQ(word(row.status, Vocabulary::kConnection), row.connection);
    EXPECT_EQ(word(row.status, Vocabulary::kExecution), row.execution);
  }
}

TEST(Status, EveryWordOfEveryVocabularyIsUnderstood) {
  const std::map<std::string_view, Status> meanings = {
      {"INITIALIZING", Status::kInitializing},
      {"ACTIVE", Status::kActive},
      {"PAUSED", Status::kPaused},
      {"COMPLETED", Status::kCompleted},
      {"FAILED", Status::kFailed},
      {"CANCELLED", Status::kCancelled},
      {"CLEANUP", Status::kCleanup},
      {"starting", Status::kInitializing},
      {"active", Status::kActive},
      {"ended", Status::kCompleted},
      {"failed", Status::kFailed},
      {"ending", Status::kCleanup},
      {"planning", Status::kInitializing},
      {"running", Status::kActive},
      {"waiting_for_input", Status::kPaused},
      {"completed", Status::kCompleted},
      {"cancelled", Status::kCancelled},
      {"paused", Status::kPaused},
      {"error", Status::kFailed},
      {"suspended", Status::kPaused},
      {"CONNECTING", Status::kInitializing},
      {"CONNECTED", Status::kActive},
      {"RATE_LIMITED", Status::kPaused},
      {"DISCONNECTED", Status::kFailed},
      {"ERROR", Status::kFailed},
      {"PENDING", Status::kInitializing},
      {"IN_PROGRESS", Status::kActive},
      {"SKIPPED", Status::kCancelled},
  };
  for (const auto& [text, status] : meanings) EXPECT_EQ(parse_status(text), status) << text;
  // And the list above misses no cell.
  for (const Row& row : kContract)
    for (const std::string_view text : {row.standard, row.browser, row.agent, row.registry,
                                        row.graph, row.connection, row.execution})
      EXPECT_TRUE(meanings.contains(text)) << text;
}

TEST(Status, OtherWordsAreNotUnderstood) {
  for (const std::string_view text :
       {"", "Active", "INITIALISING", "paused ", "DISCONNECTING", "idle"})
    EXPECT_EQ(parse_status(text), std::nullopt) << text;
}

TEST(Status, VocabulariesAreFoundByName) {
  EXPECT_EQ(parse_vocabulary("standard"), Vocabulary::kStandard);
  EXPECT_EQ(parse_vocabulary("browser"), Vocabulary::kBrowser);
  EXPECT_EQ(parse_vocabulary("agent"), Vocabulary::kAgent);
  EXPECT_EQ(parse_vocabulary("registry"), Vocabulary::kRegistry);
  EXPECT_EQ(parse_vocabulary("graph"), Vocabulary::kGraph);
  EXPECT_EQ(parse_vocabulary("connection"), Vocabulary::kConnection);
  EXPECT_EQ(parse_vocabulary("execution"), Vocabulary::kExecution);
  EXPECT_EQ(parse_vocabulary("Browser"), std::nullopt);
  EXPECT_EQ(parse_vocabulary(""), std::nullopt);
}

TEST(PauseReasons, AreWordsInBothDirections) {
  EXPECT_EQ(word(PauseReason::kInput), "input");
  EXPECT_EQ(word(PauseReason::kOperator), "operator");
  EXPECT_EQ(word(PauseReason::kRateLimit), "rateLimit");
  EXPECT_EQ(word(PauseReason::kWorkerLost), "workerLost");
  for (const PauseReason reason : kPauseReasons)
    EXPECT_EQ(parse_pause_reason(word(reason)), reason);
  EXPECT_EQ(parse_pause_reason("ratelimit"), std::nullopt);
}

TEST(PauseReasons, AreASetWhoseFirstIsTheFirstOfTheEnum) {
  PauseReasons reasons;
  EXPECT_TRUE(reasons.empty());
  EXPECT_EQ(reasons.first(), std::nullopt);
  reasons.insert(PauseReason::kWorkerLost);
  reasons.insert(PauseReason::kOperator);
  reasons.insert(PauseReason::kOperator);
  EXPECT_EQ(reasons.first(), PauseReason::kOperator);
  EXPECT_FALSE(reasons.contains(PauseReason::kInput));
  reasons.erase(PauseReason::kOperator);
  reasons.erase(PauseReason::kInput);
  EXPECT_EQ(reasons.first(), PauseReason::kWorkerLost);
  reasons.erase(PauseReason::kWorkerLost);
  EXPECT_TRUE(reasons.empty());
}

TEST(PauseReasons, BitsOfNoReasonAreRefused) {
  for (unsigned bits = 0; bits < 256; ++bits) {
    const auto reasons = PauseReasons::from_bits(static_cast<std::uint8_t>(bits));
    EXPECT_EQ(reasons.has_value(), bits < 16);
    if (reasons) {
      EXPECT_EQ(reasons->bits(), bits);
    }
  }
}

}  // namespace
}  // namespace reprise::model
