// Random command sequences against the laws of the fold: whatever is asked for, the history stays
// inside the table of moves, and folding it at once, in parts, from a snapshot or from stored
// entries gives the same session.
#include <gtest/gtest.h>

#include <random>

#include "model/testing.h"

namespace reprise::model {
namespace {

struct Stored {
  Seq seq;
  std::string bytes;
};

class History {
 public:
  explicit History(std::uint64_t seed) : random_(seed) {}

  // Commands, some absurd, until there are about `length` events.
  void run(std::size_t length) {
    now_ = kStart;
    Create create = create_command();
    create.status = one_in(2) ? Status::kActive : Status::kInitializing;
    if (one_in(2)) create.ttl_seconds = 1 + below(100);
    if (one_in(3)) create.max_lifetime_seconds = 1 + below(1000);
    commit(decide(nullptr, create, now_));
    for (std::size_t attempt = 0; entries.size() < length && attempt < 20 * length; ++attempt) {
      now_ = now_ + Millis{static_cast<std::int64_t>(below(3000))};
      const SessionState before = state;
      const Command command = random_command();
      commit(decide(&state, command, now_));
      check_move(before, std::holds_alternative<Reset>(command));
    }
  }

  SessionState state;
  std::vector<Stored> entries;
  std::vector<std::string> snapshots;  // after each entry

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  bool one_in(std::uint64_t chances) { return below(chances) == 0; }
  Status any_status() { return kStatuses[below(kStatuses.size())]; }
  PauseReason any_reason() { return kPauseReasons[below(kPauseReasons.size())]; }
  std::string any_text() {
    static constexpr std::string_view kTexts[] = {"", "", "because", "a \"quote\"\n",
                                                  "\xe2\x82\xac"};
    return std::string(kTexts[below(std::size(kTexts))]);
  }

  Command random_command() {
    switch (below(20)) {
      case 0: {
        Move move{.to = any_status(), .reason = any_text(), .error = any_text()};
        if (one_in(2)) move.pause_reason = any_reason();
        if (one_in(3)) move.expected_status = any_status();
        return move;
      }
      case 1: return Pause{.pause_reason = any_reason(), .reason = any_text()};
      case 2: return Resume{.reason = any_text()};
      case 3: return Cancel{.reason = any_text(), .error = any_text()};
      case 4: return one_in(3) ? Command{Close{.reason = any_text()}} : Command{Expire{}};
      case 5:
      case 6: return Reset{.reason = any_text()};
      case 7:
      case 8: {
        Patch patch;
        if (one_in(2))
          patch.metadata = one_in(5) ? "{broken" : fmt::format(R"({{"n":{}.50}})", below(3));
        if (one_in(2)) patch.ttl_seconds.emplace();
        if (patch.ttl_seconds && one_in(2)) *patch.ttl_seconds = below(200);
        if (one_in(2)) patch.owner_agent = any_text();
        return patch;
      }
      case 9:
      case 10: return random_question();
      case 11:
      case 12: return random_answer();
      case 13:
      case 14: return random_input();
      default: {
        Append append;
        static constexpr std::string_view kTypes[] = {"message",     "message", "log",
                                                      "agent_event", "command", "BAD"};
        for (std::uint64_t i = below(4); i > 0; --i)
          append.events.push_back(client_event(std::string(kTypes[below(one_in(5) ? 6 : 4)])));
        if (one_in(4)) append.expected_seq = Seq{state.head.value - below(2)};
        return append;
      }
    }
  }

  Ask random_question() {
    Ask ask{.id = InteractionId{}, .kind = static_cast<InteractionKind>(below(4))};
    for (unsigned char& byte : ask.id.bytes) byte = static_cast<unsigned char>(below(256));
    ask.prompt = any_text();
    if (one_in(3)) ask.schema = one_in(3) ? R"({"minimun":1})" : R"({"type":"integer"})";
    if (one_in(2)) ask.choices = R"([{"id":"a"},{"id":"b","label":"B"}])";
    if (one_in(3)) ask.skip_label = "skip";
    if (one_in(2)) ask.deadline_ms = below(20'000);
    if (one_in(3)) ask.on_deadline = one_in(2) ? "cancelSession" : "failSession";
    if (one_in(4)) ask.default_answer = one_in(2) ? "7" : R"(["a"])";
    return ask;
  }

  Respond random_answer() {
    Respond respond;
    if (!state.interactions.empty() && !one_in(5))
      respond.id = state.interactions[below(state.interactions.size())].id;
    switch (below(4)) {
      case 0: respond.input = one_in(3) ? "\"x\"" : "7"; break;
      case 1: respond.selected = one_in(3) ? R"(["c"])" : R"(["b"])"; break;
      case 2: respond.confirmed = one_in(2); break;
      default: respond.is_skipped = true;
    }
    return respond;
  }

  Command random_input() {
    SubmitInput submit{.id = {}, .data = one_in(5) ? "{broken" : R"({"n":1})"};
    for (unsigned char& byte : submit.id.bytes) byte = static_cast<unsigned char>(below(256));
    submit.when_busy = static_cast<WhenBusy>(below(4));
    if (!state.inputs.active || one_in(2)) return submit;
    if (one_in(2))
      return FinishInput{
          .id = state.inputs.active->id, .is_success = one_in(2), .error = any_text()};
    return CancelInput{.id =
                           state.inputs.queued.empty() ? submit.id : state.inputs.queued.back().id};
  }

  void commit(const Result<std::vector<Event>>& decided) {
    if (!decided) {
      // Nothing a command can say is an error of ours.
      ASSERT_LT(error_row(decided.error().code).http_status, 500) << decided.error().detail;
      return;
    }
    for (const Event& event : *decided) {
      evolve(state, event);
      entries.push_back({state.head, encode_entry(event, {state.message_count})});
      snapshots.push_back(encode_state(state));
    }
  }

  void check_move(const SessionState& before, bool is_reset) {
    ASSERT_TRUE(before.status == state.status || may_move(before.status, state.status) ||
                (is_reset && before.status != Status::kCleanup && state.status == Status::kActive))
        << word(before.status) << " to " << word(state.status);
    ASSERT_EQ(state.status == Status::kPaused, !state.pause_reasons.empty());
    ASSERT_EQ(is_terminal(state.status), state.ended_at.has_value());
    ASSERT_LE(state.visible_after, state.head);
    if (!state.inputs.queued.empty()) ASSERT_TRUE(state.inputs.active);
    if (is_terminal(state.status)) ASSERT_FALSE(state.inputs.is_busy());
    // While a question is open the session waits for it.
    if (!state.interactions.empty()) {
      ASSERT_EQ(state.status, Status::kPaused);
      ASSERT_TRUE(state.pause_reasons.contains(PauseReason::kInput));
    }
  }

  std::mt19937_64 random_;
  TimePoint now_;
};

void fold(SessionState& state, const std::vector<Stored>& entries, std::size_t from,
          std::size_t to) {
  for (std::size_t i = from; i < to; ++i) {
    const auto entry = decode_entry(entries[i].bytes);
    ASSERT_TRUE(entry) << entry.error().detail;
    const auto folded = evolve(state, entries[i].seq, *entry);
    ASSERT_TRUE(folded) << folded.error().detail;
  }
}

constexpr std::uint64_t kSeeds = 300;

TEST(History, NoSequenceOfCommandsLeavesTheTableOfMoves) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    History history(seed);
    history.run(60);
    if (testing::Test::HasFatalFailure()) return;
    EXPECT_EQ(history.state.head.value, history.entries.size());
  }
}

TEST(History, FoldingTheStoredEntriesTwiceGivesTheSameSession) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    History history(seed);
    history.run(60);
    for (int round = 0; round < 2; ++round) {
      SessionState folded;
      fold(folded, history.entries, 0, history.entries.size());
      ASSERT_EQ(folded, history.state);
    }
  }
}

TEST(History, APrefixOrASnapshotAtAnyPointAndTheRestGiveTheWhole) {
  for (std::uint64_t seed = 1; seed <= kSeeds / 5; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    History history(seed);
    history.run(40);
    const std::size_t count = history.entries.size();
    SessionState prefix;
    for (std::size_t i = 0; i < count; ++i) {
      fold(prefix, history.entries, i, i + 1);
      SessionState from_prefix = prefix;
      fold(from_prefix, history.entries, i + 1, count);
      ASSERT_EQ(from_prefix, history.state) << "after " << i;
      const auto snapshot = decode_state(history.snapshots[i]);
      ASSERT_TRUE(snapshot);
      ASSERT_EQ(*snapshot, prefix);
      SessionState from_snapshot = *snapshot;
      fold(from_snapshot, history.entries, i + 1, count);
      ASSERT_EQ(from_snapshot, history.state) << "after " << i;
    }
  }
}

TEST(History, StatesAndEntriesSurviveTheirStoredForm) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    History history(seed);
    history.run(60);
    const auto read = decode_state(encode_state(history.state));
    ASSERT_TRUE(read);
    ASSERT_EQ(*read, history.state);
    for (const Stored& stored : history.entries) {
      const auto entry = decode_entry(stored.bytes);
      ASSERT_TRUE(entry);
      const Event again{.type = std::string(entry->type),
                        .at = entry->at,
                        .data = std::string(entry->data),
                        .by = std::string(entry->by)};
      ASSERT_EQ(encode_entry(again, entry->counters), stored.bytes);
    }
  }
}

}  // namespace
}  // namespace reprise::model
