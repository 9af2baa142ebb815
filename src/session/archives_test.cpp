// Sessions leave as archives and come back, over the real services and a store in memory.
#include "session/archives.h"

#include "session/archives_testing.h"
#include "session/tool_call_rows.h"

namespace reprise::session {
namespace {

using testing::Archives;
using testing::Members;
using testing::members_of;

std::vector<std::string> names_of(const Members& members) {
  std::vector<std::string> names;
  for (const auto& [name, content] : members) names.push_back(name);
  return names;
}

TEST(Archives, AnImportIsExportedAsTheSameBytes) {
  Archives here(1);
  Archives there(2);
  const SessionView lived = here.lively_session();
  const auto bytes = here.exported(lived.state.id);
  ASSERT_TRUE(bytes) << bytes.error().detail;
  EXPECT_EQ(*here.exported(lived.state.id), *bytes) << "two exports differ";
  there.sessions.world.time.advance(Millis{20'000});
  const auto imported = there.import(*bytes);
  ASSERT_TRUE(imported) << imported.error().detail;
  EXPECT_EQ(imported->state.id, lived.state.id);
  EXPECT_EQ(imported->revision, lived.revision);
  EXPECT_NE(imported->stream, lived.stream);
  EXPECT_EQ(imported->subscribers, 0U);
  const auto again = there.exported(lived.state.id);
  ASSERT_TRUE(again) << again.error().detail;
  EXPECT_EQ(*again, *bytes);
  EXPECT_EQ(there.service->probe().imports, 1U);
  EXPECT_EQ(here.service->probe().exports, 2U);
  EXPECT_EQ(here.service->probe().at_once, 0U);
}

TEST(Archives, AnEndedSessionIsExportedAsTheSameBytesToo) {
  Archives here(1);
  Archives there(2);
  const SessionId id = here.lively_session().state.id;
  ASSERT_TRUE(here.sessions.command(id, model::Close{.reason = "done"}));
  here.sweep();
  const auto bytes = here.exported(id);
  ASSERT_TRUE(bytes) << bytes.error().detail;
  ASSERT_TRUE(there.import(*bytes));
  EXPECT_EQ(*there.exported(id), *bytes);
  EXPECT_EQ(there.records("ft"), 0U) << "what is under tmp/ goes with the end";
}

TEST(Archives, TheMembersAreThoseThatAreDocumented) {
  Archives here;
  const SessionId id = here.lively_session().state.id;
  const Members members = members_of(*here.exported(id));
  std::vector<std::string> expected = {"reprise.json", "session.json", "artifacts-000001.ndjson",
                                       "checkpoints-000001.ndjson", "events-000001.ndjson"};
  std::set<std::string> contents;
  for (const char* content : {"before the reset", "one", "two", "", "still here"})
    contents.insert("contents/" + to_hex(sha256(content)));
  expected.insert(expected.end(), contents.begin(), contents.end());
  expected.emplace_back("SHA256SUMS");
  EXPECT_EQ(names_of(members), expected);
}

}  // namespace
}  // namespace reprise::session
