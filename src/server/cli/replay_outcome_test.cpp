#include "server/cli/replay_outcome.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace reprise::server::cli {
namespace {

RecordedCommand recorded(std::string json) {
  const auto document = wire::parse_json(std::move(json)).value();
  return read_command(document.root());
}

std::vector<std::string> kinds(const std::vector<Difference>& all) {
  std::vector<std::string> names;
  for (const Difference& one : all) names.push_back(one.kind);
  return names;
}
using Kinds = std::vector<std::string>;

TEST(ReplayOutcome, ComparesTheOutcomeAndWhereItLed) {
  auto before = recorded(R"({"tool":"t","ok":true,"page":{"url":"http://a/","title":"A"}})");
  EXPECT_TRUE(differences(before, {.is_ok = true, .url = "http://a/", .title = "A"}).empty());
  EXPECT_EQ(kinds(differences(before, {.is_ok = true, .url = "http://b/", .title = "B"})),
            (Kinds{"url", "title"}));
  EXPECT_EQ(kinds(differences(before, {.error_code = "not_found"})), Kinds{"outcome"});
  before = recorded(R"({"tool":"t","ok":false,"error":{"code":"dialog"}})");
  EXPECT_TRUE(differences(before, {.error_code = "dialog"}).empty());
  EXPECT_EQ(kinds(differences(before, {.error_code = "navigation"})), Kinds{"error"});
  EXPECT_EQ(kinds(differences(before, {.is_ok = true})), Kinds{"outcome"});
  // The protocol's errors have no codes of tools.
  before = recorded(R"({"tool":"t","source":"cdp","ok":false,"error":{"code":"browser_error"}})");
  EXPECT_TRUE(differences(before, {.error_code = "navigation"}).empty());
}

TEST(ReplayOutcome, TellsWhenAnotherElementWasActedOn) {
  const auto before = recorded(R"({"tool":"t","ok":true,"target":{"role":"button","name":"Buy"}})");
  const auto told =
      differences(before, {.is_ok = true, .target = R"({"role":"button","name":"Purchase"})"});
  ASSERT_EQ(kinds(told), Kinds{"element"});
  EXPECT_EQ(told.front().words, R"(acted on button "Purchase" instead of button "Buy")");
  EXPECT_TRUE(
      differences(before, {.is_ok = true, .target = R"({"role":"button","name":"Buy"})"}).empty());
  EXPECT_TRUE(differences(before, {.is_ok = true}).empty());
}

constexpr const char* kBefore =
    "- heading \"Orders\" [level=1] [ref=e2]\n"
    "- list [ref=e3]:\n"
    "  - listitem [ref=e4]:\n"
    "    - text: Paid at 10:03\n"
    "    - link \"Invoice 7\" [ref=e5] [cursor=pointer]:\n"
    "      - /url: /invoices/7\n"
    "- 'button \"Don''t: \\\"ever\\\"\" [ref=e6]'\n";

TEST(ReplayOutcome, ReadsRolesAndNamesAndNeitherRefsNorTexts) {
  EXPECT_EQ(roles_and_names(kBefore),
            (std::vector<std::string>{R"(heading "Orders")", "list", "listitem",
                                      R"(link "Invoice 7")", R"(button "Don't: \"ever\"")"}));
  EXPECT_TRUE(roles_and_names("").empty());
  EXPECT_TRUE(roles_and_names("- generic [ref=e1]: x\nno line\n- text: button \"x\"").empty());
  EXPECT_EQ(roles_and_names("- button \"unclosed").size(), 1U);
}

TEST(ReplayOutcome, TellsWhatAPageShowsMoreAndLess) {
  const auto before = recorded(R"({"tool":"t","ok":true})");
  EXPECT_TRUE(differences(before, {.is_ok = true}, kBefore).empty());
  ReplayedCommand now{.is_ok = true, .snapshot = std::string(kBefore)};
  EXPECT_TRUE(differences(before, now, kBefore).empty());
  // Refs and texts are of their page.
  now.snapshot->replace(now.snapshot->find("10:03"), 5, "11:44");
  now.snapshot->replace(now.snapshot->find("ref=e2"), 6, "ref=f2e2");
  EXPECT_TRUE(differences(before, now, kBefore).empty());
  now.snapshot->replace(now.snapshot->find("Invoice 7"), 9, "Invoice 8");
  const auto told = differences(before, now, kBefore);
  ASSERT_EQ(kinds(told), Kinds{"snapshot"});
  EXPECT_EQ(told.front().words, R"(shows link "Invoice 8", and no link "Invoice 7")");
  // A list that has grown has one more of the same.
  now.snapshot = std::string(kBefore) + "- listitem [ref=e9]\n";
  EXPECT_EQ(differences(before, now, kBefore).front().words, "shows listitem");
  // What is cut says nothing of its end.
  now.snapshot = std::string(61 * 1024, ' ');
  EXPECT_TRUE(differences(before, now, kBefore).empty());
}

}  // namespace
}  // namespace reprise::server::cli
