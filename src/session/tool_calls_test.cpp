// Tool calls and the audit over the real service and a store in memory.
#include "session/tool_calls.h"

#include "base/bytes.h"
#include "session/apps.h"
#include "session/testing.h"
#include "session/tool_call_rows.h"

namespace reprise::session {
namespace {

using model::ToolCallStatus;
using testing::code_of;
using testing::messages;
using testing::new_session;
using testing::Sessions;

// The service with tool calls beside it.
struct World : Sessions {
  using Sessions::Sessions;
  ToolCalls calls{*service};

  Result<ToolCallPlace> start(SessionId id, std::string tool = "click", std::string input = "",
                              WriteTerms terms = {}) {
    return run(calls.start(id,
                           {.id = {},
                            .tool_name = std::move(tool),
                            .input_summary = model::Redactor().text(input),
                            .by = "agent"},
                           std::move(terms)));
  }
  Result<ToolCallPlace> finish(SessionId id, model::ToolCallId call,
                               ToolCallStatus status = ToolCallStatus::kSuccess,
                               WriteTerms terms = {}) {
    return run(calls.finish(
        id, {.id = call, .status = status, .output_summary = {}, .error = {}, .by = {}},
        std::move(terms)));
  }
  ToolCallPage list(SessionId id, ToolCallQuery query = {}) {
    auto page = run(calls.list(id, std::move(query)));
    EXPECT_TRUE(page) << page.error().detail;
    return page ? std::move(*page) : ToolCallPage{};
  }
  AuditVerdict verify(SessionId id) {
    auto verdict = run(calls.verify(id));
    EXPECT_TRUE(verdict) << verdict.error().detail;
    return verdict ? *verdict : AuditVerdict{};
  }
};

WriteTerms with_key(std::string_view key, std::string_view body) {
  return {.claim = *stream::make_claim("tool-calls", key, body)};
}

std::vector<store::StoredEntry> entries_of(World& world, StreamId stream) {
  return *world.world.store.read(
      {.stream = stream, .after = {}, .limit = 1'000'000, .max_bytes = 1 << 30},
      store::ReadMode::kBlocking);
}

// What a restart finds after somebody has written to the files: past the store and its checksums.
std::unique_ptr<store::MemoryEngine> with_entries(World& world, StreamId stream,
                                                  const std::vector<std::string>& entries) {
  auto contents = world.contents();
  store::WriteSet forget;
  forget.cuts.push_back({.stream = stream, .up_to = Seq{entries.size()}, .forget = true});
  EXPECT_TRUE(contents->write(forget));
  store::WriteSet writes;
  for (std::size_t i = 0; i < entries.size(); ++i)
    writes.entries.push_back({stream, Seq{i + 1}, entries[i]});
  EXPECT_TRUE(contents->write(writes));
  return contents;
}

TEST(ToolCalls, AreStartedFinishedAndListedInTheOrderOfTheirStart) {
  World world;
  const SessionId id = world.create().state.id;
  const auto first = world.start(id, "click", "the button");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->seq, Seq{2});
  const auto second = world.start(id, "type");
  world.world.time.advance(Millis{40});
  const auto end = world.finish(id, first->id, ToolCallStatus::kFailure);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->seq, Seq{4});
  EXPECT_EQ(end->id, first->id);
  const auto page = world.list(id);
  ASSERT_EQ(page.calls.size(), 2U);
  EXPECT_EQ(page.calls[0].told.input_summary, "the button");
  EXPECT_EQ(page.calls[0].by, "agent");
  ASSERT_TRUE(page.calls[0].end);
  EXPECT_EQ(page.calls[0].end->told.status, ToolCallStatus::kFailure);
  EXPECT_EQ(page.calls[0].end->told.duration_ms, 40U);
  EXPECT_EQ(page.calls[1].told.id, second->id);
  EXPECT_FALSE(page.calls[1].end);
  EXPECT_TRUE(page.next_cursor.empty());
  EXPECT_EQ(world.calls.probe().started, 2U);
  EXPECT_EQ(world.calls.probe().finished, 1U);
}

TEST(ToolCalls, ACallThatNeverWasIsNotFoundAndOneThatIsOverIsAConflict) {
  World world;
  const SessionId id = world.create().state.id;
  const auto call = world.start(id);
  ASSERT_TRUE(world.finish(id, call->id));
  EXPECT_EQ(code_of(world.finish(id, call->id)), Code::kToolCallFinished);
  EXPECT_EQ(code_of(world.finish(id, model::ToolCallId{})), Code::kToolCallNotFound);
  const SessionId other = world.create().state.id;
  const auto elsewhere = world.start(other);
  EXPECT_EQ(code_of(world.finish(id, elsewhere->id)), Code::kToolCallNotFound);
  ASSERT_TRUE(world.command(other, model::Close{}));
  EXPECT_EQ(code_of(world.finish(other, elsewhere->id)), Code::kSessionEnded);
  EXPECT_EQ(code_of(world.start(other)), Code::kSessionEnded);
  EXPECT_EQ(world.list(other, {.status = ToolCallStatus::kOpen}).calls.size(), 1U);
}

TEST(ToolCalls, FiltersAndPages) {
  World world;
  const SessionId id = world.create().state.id;
  std::vector<model::ToolCallId> clicks;
  for (int i = 0; i < 700; ++i) {
    const auto call = world.start(id, i % 2 == 0 ? "click" : "type");
    ASSERT_TRUE(call);
    if (i % 2 == 0) clicks.push_back(call->id);
    const auto status = i % 3 == 0 ? ToolCallStatus::kFailure : ToolCallStatus::kSuccess;
    if (i % 5 != 0 || i < 400) ASSERT_TRUE(world.finish(id, call->id, status));
  }
  ToolCallQuery query{.tool_name = "click", .limit = 100};
  std::vector<model::ToolCallId> seen;
  for (;;) {
    const auto page = world.list(id, query);
    EXPECT_LE(page.calls.size(), 100U);
    for (const auto& call : page.calls) seen.push_back(call.told.id);
    if (page.next_cursor.empty()) break;
    query.cursor = page.next_cursor;
  }
  EXPECT_EQ(seen, clicks);
  EXPECT_EQ(world.list(id, {.status = ToolCallStatus::kOpen, .limit = 500}).calls.size(), 60U);
  EXPECT_TRUE(world.list(id, {.tool_name = "scroll"}).calls.empty());
  // Asked for more than a page may have.
  EXPECT_EQ(world.list(id, {.limit = 100'000}).calls.size(), kMaxToolCallPageLimit);
  EXPECT_EQ(world.list(id).calls.size(), kDefaultToolCallPageLimit);

  query.tool_name = "type";
  EXPECT_EQ(code_of(world.run(world.calls.list(id, query))), Code::kBadCursor);
  query.cursor = "rubbish";
  EXPECT_EQ(code_of(world.run(world.calls.list(id, query))), Code::kBadCursor);
}

TEST(ToolCalls, APageLooksAtALimitedNumberOfRows) {
  World world;
  const SessionView view = world.create();
  store::WriteSet writes;
  store::Version version = world.world.engine->version_floor() + 1'000'000;
  for (std::size_t i = 0; i < kMaxExaminedRows + 10; ++i)
    writes.puts.push_back({tool_call_key(view.stream, Seq{10 + i}),
                           encode_row({.id = {}, .finished = {}, .tool_name = "click"}),
                           ++version});
  ASSERT_TRUE(world.world.engine->write(writes));
  const auto page = world.list(view.state.id, {.tool_name = "type"});
  EXPECT_TRUE(page.calls.empty());
  ASSERT_FALSE(page.next_cursor.empty());
  const auto rest = world.list(view.state.id, {.tool_name = "type", .cursor = page.next_cursor});
  EXPECT_TRUE(rest.next_cursor.empty());
}

TEST(ToolCalls, TheSameCallAgainGivesTheSameIdAndIsStoredOnce) {
  World world;
  const SessionId id = world.create().state.id;
  const auto first = world.start(id, "click", "", with_key("k", "body"));
  const auto again = world.start(id, "click", "", with_key("k", "body"));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->id, first->id);
  EXPECT_EQ(again->seq, first->seq);
  EXPECT_EQ(code_of(world.start(id, "click", "", with_key("k", "other"))),
            Code::kIdempotencyMismatch);
  const auto end = world.finish(id, first->id, ToolCallStatus::kSuccess, with_key("f", "body"));
  const auto end_again =
      world.finish(id, first->id, ToolCallStatus::kSuccess, with_key("f", "body"));
  ASSERT_TRUE(end_again);
  EXPECT_EQ(end_again->seq, end->seq);
  EXPECT_EQ(end_again->id, first->id);
  EXPECT_EQ(world.get(id)->state.head, Seq{3});
  EXPECT_EQ(world.calls.probe().started, 1U);
}

TEST(ToolCalls, OfTwoThatFinishACallOneWins) {
  World world;
  const SessionId id = world.create().state.id;
  const auto call = world.start(id);
  model::FinishToolCall finish;
  finish.id = call->id;
  const auto one = world.Sessions::start(world.calls.finish(id, finish), 0);
  const auto two = world.Sessions::start(world.calls.finish(id, finish), 1);
  world.world.settle();
  EXPECT_NE(one->has_value() && (*one)->has_value(), two->has_value() && (*two)->has_value());
  EXPECT_EQ(world.get(id)->state.head, Seq{3});
}

TEST(ToolCalls, AreNoNewsForMonitorsAndLeaveTheEtagAlone) {
  World world;
  const SessionView made = world.create();
  const auto before = world.run(world.service->monitor_heads());
  const auto call = world.start(made.state.id);
  ASSERT_TRUE(world.finish(made.state.id, call->id));
  EXPECT_EQ(world.get(made.state.id)->revision, made.revision);
  EXPECT_EQ(world.run(world.service->monitor_heads())->heads, before->heads);
}

TEST(ToolCalls, AResetHidesThemFromReadersButNotFromListAndAudit) {
  World world;
  const SessionId id = world.create(new_session("one")).state.id;
  const auto call = world.start(id);
  ASSERT_TRUE(world.finish(id, call->id));
  ASSERT_TRUE(world.run(world.service->reset(id, "")));
  EXPECT_EQ(world.run(world.service->events(id, {0}))->entries.size(), 1U);
  EXPECT_EQ(world.list(id).calls.size(), 1U);
  const auto verdict = world.verify(id);
  EXPECT_TRUE(verdict.report.is_valid);
  EXPECT_EQ(verdict.recorded.entries, 2U);
}

TEST(ToolCalls, AreTheFoldOfTheStreamAlsoAfterARestart) {
  SeededRandom random(stream::testing::test_seed());
  World world({.max_loaded_per_loop = 1});
  std::vector<SessionId> ids;
  for (int i = 0; i < 4; ++i) ids.push_back(world.create().state.id);
  for (int step = 0; step < 300; ++step) {
    const SessionId id = ids[random.next_u64() % ids.size()];
    const auto open = world.get(id)->state.open_tool_calls;
    switch (random.next_u64() % 5) {
      case 0: ASSERT_TRUE(world.append(id, 1 + random.next_u64() % 3)); break;
      case 1: ASSERT_TRUE(world.command(id, model::Pause{})); break;
      case 2: ASSERT_TRUE(world.run(world.service->reset(id, ""))); break;
      case 3: ASSERT_TRUE(world.start(id)); break;
      default:
        if (!open.empty()) ASSERT_TRUE(world.finish(id, open[random.next_u64() % open.size()].id));
    }
    const auto view = world.get(id);
    ASSERT_EQ(view->state, world.folded(*view)) << "step " << step;
    ASSERT_EQ(world.list(id, {.status = ToolCallStatus::kOpen, .limit = 500}).calls.size(),
              view->state.open_tool_calls.size());
    if (step % 25 != 0) continue;
    World restarted({}, world.contents(), world.world.time.now());
    EXPECT_EQ(restarted.get(id)->state, view->state);
    EXPECT_TRUE(restarted.verify(id).report.is_valid);
  }
}

TEST(ToolCalls, ADeletedSessionLeavesNoRowBehind) {
  World world;
  const SessionView view = world.create();
  // More rows than one batch of the janitor.
  for (std::size_t i = 0; i < kJanitorBatch; ++i) {
    const auto call = world.start(view.state.id);
    ASSERT_TRUE(world.finish(view.state.id, call->id));
  }
  ASSERT_TRUE(world.run(world.service->remove(view.state.id)));
  ASSERT_TRUE(world.sweep());
  for (const auto& record : world.records())
    if (record.key != app_key("app")) ADD_FAILURE() << to_hex(record.key);
  EXPECT_EQ(*world.world.store.head(view.stream, store::ReadMode::kBlocking), Seq{0});
}

TEST(Audit, EntriesThatWereChangedBelowTheStoreAreFound) {
  World world;
  const SessionView view = world.create();
  for (int i = 0; i < 3; ++i) {
    const auto call = world.start(view.state.id, "click", fmt::format("call {}", i));
    ASSERT_TRUE(world.append(view.state.id));
    ASSERT_TRUE(world.finish(view.state.id, call->id));
  }
  std::vector<std::string> untouched;
  for (const auto& entry : entries_of(world, view.stream)) untouched.push_back(entry.bytes);
  const auto verdict = [&](const std::vector<std::string>& entries) {
    World restarted({}, with_entries(world, view.stream, entries), world.world.time.now());
    return restarted.verify(view.state.id);
  };
  EXPECT_TRUE(verdict(untouched).report.is_valid);
  EXPECT_EQ(verdict(untouched).recorded.entries, 6U);
  for (std::size_t i = 1; i < untouched.size(); ++i) {
    auto changed = untouched;
    const std::size_t place = changed[i].find(i % 3 == 2 ? "{}" : "click");
    if (i % 3 != 2) {  // a message is no part of the audit
      ASSERT_NE(place, std::string::npos);
      changed[i][place] = 'k';
      EXPECT_EQ(verdict(changed).report.first_bad, Seq{i + 1});
    }
    auto dropped = untouched;
    dropped.erase(dropped.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_FALSE(verdict(dropped).report.is_valid) << i;
    auto swapped = untouched;
    std::swap(swapped[i], swapped[i - 1]);
    if (i > 1) EXPECT_FALSE(verdict(swapped).report.is_valid) << i;
    auto cut = untouched;
    cut.resize(i);
    EXPECT_FALSE(verdict(cut).report.is_valid) << i;
  }
  EXPECT_EQ(world.calls.probe().invalid, 0U);
}

TEST(Audit, ARecordWhoseCountOrHeadWasChangedIsFound) {
  World world;
  const SessionView view = world.create();
  const auto call = world.start(view.state.id);
  ASSERT_TRUE(world.finish(view.state.id, call->id));
  const auto record =
      *world.world.store.get(session_key(view.state.id), store::ReadMode::kBlocking);
  for (const bool is_count : {true, false}) {
    auto stored = *decode_stored(record->value, record->version);
    if (is_count)
      ++stored.state.audit.entries;
    else
      stored.state.audit.head[5] ^= 1U;
    auto contents = world.contents();
    store::WriteSet writes;
    writes.puts.push_back(
        {session_key(view.state.id), encode_stored(stored), contents->version_floor() + 1'000'000});
    ASSERT_TRUE(contents->write(writes));
    World restarted({}, std::move(contents), world.world.time.now());
    EXPECT_FALSE(restarted.verify(view.state.id).report.is_valid);
    EXPECT_EQ(restarted.calls.probe().invalid, 1U);
  }
}

TEST(Audit, WhatIsWrittenMeanwhileDoesNotDisturbAVerification) {
  World world;
  const SessionId id = world.create().state.id;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(world.append(id, 900));
  const auto verdict = world.Sessions::start(world.calls.verify(id), 1);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(world.start(id));
  world.world.settle();
  ASSERT_TRUE(verdict->has_value() && (*verdict)->has_value());
  EXPECT_TRUE((**verdict)->report.is_valid) << (**verdict)->report.reason;
}

TEST(ToolCallRows, AreReadBackAndDamageIsFound) {
  SeededRandom random(1);
  const ToolCallRow row{.id = model::ToolCallId::make(TimePoint{5}, random),
                        .finished = Seq{300},
                        .status = ToolCallStatus::kCancelled,
                        .tool_name = "click"};
  const std::string bytes = encode_row(row);
  const auto read = decode_row(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->id, row.id);
  EXPECT_EQ(read->finished, row.finished);
  EXPECT_EQ(read->status, row.status);
  EXPECT_EQ(read->tool_name, row.tool_name);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_EQ(code_of(decode_row(bytes.substr(0, size))), Code::kCorrupt);
  EXPECT_EQ(code_of(decode_row(bytes + "x")), Code::kCorrupt);
  ToolCallRow both = row;
  both.status = ToolCallStatus::kOpen;
  EXPECT_EQ(code_of(decode_row(encode_row(both))), Code::kCorrupt);
}

}  // namespace
}  // namespace reprise::session
