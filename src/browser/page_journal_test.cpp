#include "browser/page_journal.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "browser/limits.h"

namespace reprise::browser {
namespace {

void say(PageJournal& journal, std::string text) {
  journal.said({.level = "info", .text = std::move(text), .place = "u:1"});
}

void ask(PageJournal& journal, const std::string& id, double at = 0) {
  journal.asked(
      id, {.method = "GET", .url = "http://x/" + id, .kind = "fetch", .type = {}, .error = {}}, at);
}

TEST(PageJournal, TellsWhatHappenedBetweenTwoMarksAndNothingElse) {
  PageJournal journal;
  say(journal, "before");
  ask(journal, "a");
  const JournalMark first = journal.mark();
  EXPECT_TRUE(journal.between(first, journal.mark()).is_empty());
  say(journal, "during");
  ask(journal, "b");
  const JournalMark second = journal.mark();
  say(journal, "after");
  ask(journal, "c");
  const JournalPart part = journal.between(first, second);
  ASSERT_EQ(part.console.size(), 1U);
  EXPECT_EQ(part.console.front().text, "during");
  ASSERT_EQ(part.requests.size(), 1U);
  EXPECT_EQ(part.requests.front().url, "http://x/b");
  EXPECT_EQ(part.lost_messages, 0U);
  EXPECT_EQ(part.lost_requests, 0U);
  EXPECT_TRUE(journal.between(second, first).is_empty()) << "the wrong way round is nothing";
}

TEST(PageJournal, ARequestIsToldWithWhatHasBecomeOfItSince) {
  PageJournal journal;
  ask(journal, "a", 10.0);
  const JournalMark asked = journal.mark();
  EXPECT_EQ(journal.between({}, asked).requests.front().duration, std::nullopt);
  journal.answered("a", 404, "text/html");
  journal.over("a", "", 10.25);
  const JournalRequest request = journal.between({}, asked).requests.front();
  EXPECT_EQ(request.status, 404);
  EXPECT_EQ(request.type, "text/html");
  EXPECT_EQ(request.duration, Millis{250});
  ask(journal, "a", 11.0);  // a redirect
  journal.over("a", "net::ERR_FAILED", 10.0);
  const JournalRequest again = journal.between(asked, journal.mark()).requests.front();
  EXPECT_EQ(again.error, "net::ERR_FAILED");
  EXPECT_EQ(again.duration, Millis{0}) << "clocks that go back take no time";
  EXPECT_EQ(journal.between({}, asked).requests.front().error, "");
  journal.answered("nobody", 200, "");
  journal.over("nobody", "", 1);
}

TEST(PageJournal, KeepsTheNewestAndSaysHowManyAreGone) {
  PageJournal journal;
  say(journal, "old");
  const JournalMark mark = journal.mark();
  for (std::size_t i = 0; i < kMaxJournalMessages; ++i) say(journal, fmt::to_string(i));
  JournalPart part = journal.between(mark, journal.mark());
  EXPECT_EQ(part.console.size(), kMaxJournalMessages);
  EXPECT_EQ(part.lost_messages, 0U);
  say(journal, "one more");
  for (std::size_t i = 0; i < kMaxJournalRequests + 3; ++i) ask(journal, fmt::to_string(i));
  part = journal.between(mark, journal.mark());
  EXPECT_EQ(part.console.size(), kMaxJournalMessages);
  EXPECT_EQ(part.console.front().text, "1");
  EXPECT_EQ(part.lost_messages, 1U);
  EXPECT_EQ(part.requests.size(), kMaxJournalRequests);
  EXPECT_EQ(part.lost_requests, 3U);
  // A part that is gone as a whole.
  part = journal.between({}, mark);
  EXPECT_TRUE(part.console.empty());
  EXPECT_EQ(part.lost_messages, 1U);
}

}  // namespace
}  // namespace reprise::browser
