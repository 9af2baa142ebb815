// Agents: registration, heartbeats, generations, the list.
#include "session/agents.h"

#include <malloc.h>

#include "session/agents_testing.h"

namespace reprise::session {
namespace {

using model::AgentStatus;
using std::chrono::seconds;
using testing::code_of;
using testing::Crew;

std::vector<std::string> ids_of(const AgentPage& page) {
  std::vector<std::string> ids;
  for (const AgentView& view : page.agents) ids.push_back(view.id);
  return ids;
}

// All pages of a list; how many rows they have looked at must be how many they show.
std::vector<std::string> all_pages(Crew& crew, AgentQuery query) {
  std::vector<std::string> all;
  do {
    const auto page = crew.list(query);
    EXPECT_TRUE(page) << page.error().detail;
    EXPECT_EQ(page->examined, page->agents.size());
    for (std::string& id : ids_of(*page)) all.push_back(std::move(id));
    query.cursor = page->next_cursor;
  } while (!query.cursor.empty());
  return all;
}

TEST(Agents, AreRegisteredWithRisingGenerations) {
  Crew crew;
  const auto first = crew.put("w", 20);
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->is_new);
  EXPECT_EQ(first->agent.heartbeat_seconds, 20U);
  EXPECT_EQ(first->agent.registered_at, crew.sessions.world.time.now());
  const auto other = crew.put("x");
  const auto again = crew.put("w", 30);
  EXPECT_FALSE(again->is_new);
  EXPECT_LT(first->agent.generation, other->agent.generation);
  EXPECT_LT(other->agent.generation, again->agent.generation);
  EXPECT_EQ(crew.get("w")->agent.heartbeat_seconds, 30U);
  EXPECT_EQ(code_of(crew.get("y")), Code::kAgentNotFound);
  EXPECT_EQ(code_of(crew.beat("y")), Code::kAgentNotFound);
}

TEST(Agents, GenerationsRiseAcrossDeletionsRacesAndRestarts) {
  Crew crew;
  const Generation first = crew.join("w");
  ASSERT_TRUE(crew.remove("w"));
  EXPECT_EQ(code_of(crew.get("w")), Code::kAgentNotFound);
  EXPECT_EQ(code_of(crew.remove("w")), Code::kAgentNotFound);
  // Nobody is left, and still nothing is given twice.
  auto restarted = crew.restarted();
  const Generation second = restarted->join("w");
  EXPECT_LT(first, second);
  std::vector<decltype(crew.sessions.start(crew.agents.put("", 1)))> racing;
  for (int i = 0; i < 50; ++i)
    racing.push_back(restarted->sessions.start(
        restarted->agents.put(i % 2 == 0 ? "w" : fmt::format("w{}", i), 15),
        static_cast<std::size_t>(i) % 3));
  restarted->sessions.world.settle();
  std::set<std::uint64_t> given;
  for (const auto& one : racing) given.insert((**one)->agent.generation.value);
  EXPECT_EQ(given.size(), 50U);
  EXPECT_GT(*given.begin(), second.value);
  const Generation newest = restarted->get("w")->agent.generation;
  EXPECT_EQ(restarted->restarted()->get("w")->agent.generation, newest);
  EXPECT_GT(restarted->restarted()->join("z"), Generation{*given.rbegin()});
}

TEST(Agents, AHeartbeatCostsNoWriteAndShowsTheGenerationIfItLikes) {
  Crew crew;
  const Generation first = crew.join("w");
  const Generation second = crew.join("w");
  const auto commits = crew.sessions.world.committer.probe().commits;
  crew.pass(10);
  EXPECT_TRUE(crew.beat("w"));
  ASSERT_TRUE(crew.beat("w", second));
  EXPECT_EQ(code_of(crew.beat("w", first)), Code::kFenced);
  EXPECT_EQ(code_of(crew.beat("w", second.next())), Code::kFenced);
  EXPECT_EQ(crew.get("w")->last_heartbeat_at, crew.sessions.world.time.now());
  EXPECT_EQ(crew.sessions.world.committer.probe().commits, commits);
  EXPECT_EQ(crew.agents.probe().heartbeats, 2U);
  EXPECT_EQ(crew.agents.probe().fenced, 2U);
}

TEST(Agents, AreListedByIdAndStatusPageByPage) {
  Crew crew;
  for (const char* id : {"d", "b", "a", "c", "e"})
    crew.join(id, std::string_view(id) < "c" ? 1 : 60);
  crew.pass(4);
  AgentQuery query{.status = {}, .allowed_apps = {}, .limit = 2, .cursor = {}};
  EXPECT_EQ(all_pages(crew, query), (std::vector<std::string>{"a", "b", "c", "d", "e"}));
  query.status = AgentStatus::kLost;
  EXPECT_EQ(all_pages(crew, query), (std::vector<std::string>{"a", "b"}));
  query.status = AgentStatus::kAlive;
  EXPECT_EQ(all_pages(crew, query), (std::vector<std::string>{"c", "d", "e"}));
  const auto page = crew.list(query);
  EXPECT_EQ(page->alive, 3U);
  EXPECT_EQ(page->lost, 2U);
  // A cursor is for the query it came from.
  query.cursor = page->next_cursor;
  query.status = AgentStatus::kLost;
  EXPECT_EQ(code_of(crew.list(query)), Code::kBadCursor);
  for (const char* cursor : {"!", "KmE=", "", "Kg"}) {
    query.cursor = cursor;
    EXPECT_EQ(code_of(crew.list(query)), query.cursor.empty() ? Code::kInternal : Code::kBadCursor);
  }
  // Whoever it pointed at may have gone meanwhile.
  query = {.status = {}, .allowed_apps = {}, .limit = 2, .cursor = {}};
  query.cursor = crew.list(query)->next_cursor;
  ASSERT_TRUE(crew.remove("b"));
  EXPECT_EQ(ids_of(*crew.list(query)), (std::vector<std::string>{"c", "d"}));
}

TEST(Agents, AListForSomeAppsHidesTheOthersAndLooksAtABoundedNumber) {
  Crew crew;
  for (const char* id : {"shop:a", "shop:b", "web:a", "plain"}) crew.join(id);
  AgentQuery query;
  query.allowed_apps = {"web", "default"};
  EXPECT_EQ(ids_of(*crew.list(query)), (std::vector<std::string>{"plain", "web:a"}));
}

TEST(Agents, HaveALimit) {
  EXPECT_EQ(AgentOptions{}.max_agents, kMaxAgents);
  Crew crew({.max_agents = 2});
  crew.join("a");
  crew.join("b");
  EXPECT_EQ(code_of(crew.put("c")), Code::kTooManyRequests);
  EXPECT_EQ(crew.agents.probe().refused, 1U);
  crew.join("a");  // who is known may come again
  ASSERT_TRUE(crew.remove("b"));
  crew.join("c");
}

TEST(Agents, ARegistrationOfUnknownOutcomeIsFoundOut) {
  using Outcome = store::MemoryEngine::Outcome;
  for (const Outcome outcome : {Outcome::kLost, Outcome::kApplied}) {
    const bool is_written = outcome == Outcome::kApplied;
    Crew crew;
    const Generation first = crew.join("old");
    crew.sessions.world.engine->fail_write(1, Code::kNoSpace, outcome);
    EXPECT_EQ(code_of(crew.put("old")), Code::kNoSpace);
    EXPECT_TRUE(crew.beat("old", first));  // as far as anybody knows
    crew.sessions.recover();
    crew.look();
    EXPECT_EQ(code_of(crew.beat("old", first)), is_written ? Code::kFenced : Code::kInternal);

    crew.sessions.world.engine->fail_write(1, Code::kNoSpace, outcome);
    EXPECT_EQ(code_of(crew.put("new")), Code::kNoSpace);
    EXPECT_EQ(code_of(crew.get("new")), Code::kAgentNotFound);
    crew.sessions.recover();
    crew.look();
    EXPECT_EQ(crew.get("new").has_value(), is_written);
    EXPECT_GT(crew.join("new"), first);

    crew.sessions.world.engine->fail_write(1, Code::kNoSpace, outcome);
    EXPECT_EQ(code_of(crew.remove("new")), Code::kNoSpace);
    crew.sessions.recover();
    crew.look();
    EXPECT_EQ(crew.get("new").has_value(), !is_written);
  }
}

// Each agent costs memory, and a page costs what it shows: with a hundred thousand as with ten.
TEST(Agents, AHundredThousandAreListedInConstantTimePerRow) {
  constexpr std::size_t kMany = 100'000;
  auto contents = std::make_unique<store::MemoryEngine>();
  {
    Crew few({}, std::move(contents));
    for (std::size_t i = 0; i < 1'000; ++i) few.join(fmt::format("w{:06}", i));
    store::Commit commit;
    const model::Agent agent{
        .generation = {5}, .heartbeat_seconds = 3'600, .registered_at = {}, .loss = {}};
    for (std::size_t i = 1'000; i < kMany; ++i)
      commit.puts.push_back({.key = agent_key(fmt::format("w{:06}", i)),
                             .value = encode_agent(agent),
                             .only_if = {}});
    few.sessions.world.store.submit(std::move(commit), [](store::CommitResult) {});
    few.sessions.world.settle();
    contents = few.sessions.contents();
  }
  const std::size_t before = mallinfo2().uordblks;
  Crew crew({}, std::move(contents));
  EXPECT_LT(mallinfo2().uordblks - std::min(before, mallinfo2().uordblks), kMany * 600);
  EXPECT_EQ(crew.agents.probe().alive, kMany);
  // The first thousand beat every 15 seconds and fall silent.
  crew.pass(50);
  EXPECT_EQ(crew.agents.probe().lost, 1'000U);

  const auto started = std::chrono::steady_clock::now();
  AgentQuery query{.status = {}, .allowed_apps = {}, .limit = kMaxListLimit, .cursor = {}};
  EXPECT_EQ(all_pages(crew, query).size(), kMany);
  query.status = AgentStatus::kLost;
  EXPECT_EQ(all_pages(crew, query).size(), 1'000U);
  // A few hundred nanoseconds a row; the bound is for sanitizers and busy machines.
  EXPECT_LT(std::chrono::steady_clock::now() - started, seconds(5));
  // Who may not see them looks at a bounded number.
  query = {.status = {}, .allowed_apps = {{"shop"}}, .limit = 10, .cursor = {}};
  const auto hidden = crew.list(query);
  EXPECT_TRUE(hidden->agents.empty());
  EXPECT_EQ(hidden->examined, kMaxExaminedRows);
  EXPECT_FALSE(hidden->next_cursor.empty());
}

}  // namespace
}  // namespace reprise::session
