// New pages and those who wait for them: clients of one session and of others, at one gate.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "browser/chromium/cdp_limits.h"
#include "browser/chromium/cdp_testing.h"

namespace reprise::browser {
namespace {

using testing::Conversation;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::TestClient;
using namespace std::chrono_literals;

constexpr std::string_view kAttachAll =
    R"({"id":2,"method":"Target.setAutoAttach","params":{"autoAttach":true,)"
    R"("waitForDebuggerOnStart":true,"flatten":true}})";
// As Puppeteer does: tabs, and pages under them.
constexpr std::string_view kAttachTabs =
    R"({"id":2,"method":"Target.setAutoAttach","params":{"autoAttach":true,)"
    R"("waitForDebuggerOnStart":true,"flatten":true,)"
    R"("filter":[{"type":"page","exclude":true},{}]}})";

std::string resume_of(std::string_view session) {
  return fmt::format(R"({{"id":9,"method":"Runtime.runIfWaitingForDebugger","sessionId":"{}"}})",
                     session);
}

class CdpPopupTest : public ::testing::Test {
 protected:
  CdpPopupTest() {
    for (TestClient* client : {&own_, &second_, &other_}) Conversation::introduce(*client);
  }
  static std::vector<std::string> say(TestClient& client, std::string_view message) {
    client->from_client(std::string(message));
    return client.to_browser();
  }
  // A popup of our session is created, and the client's connection is attached to it.
  static std::vector<std::string> popup(TestClient& client, std::string_view session) {
    client->from_browser(Conversation::attached(session, "POPUP", "page", "OWN",
                                                {.is_waiting = true, .has_opener = true}));
    return client.to_browser();
  }

  testing::ManualTimers timers_;
  std::vector<std::string> stranded_;
  CdpGate gate_{{.start_timer = timers_.starter(),
                 .stranded = [this](std::string id) { stranded_.push_back(std::move(id)); }}};
  std::shared_ptr<SessionScope> scope_ = std::make_shared<SessionScope>("OWN");
  TestClient own_{gate_, scope_};
  TestClient second_{gate_, scope_};
  TestClient other_{gate_, std::make_shared<SessionScope>("FOREIGN")};
};

TEST_F(CdpPopupTest, AnotherSessionsClientLeavesAPopupToItsOwner) {
  say(own_, kAttachAll);
  say(other_, kAttachAll);
  EXPECT_THAT(popup(other_, "H"), ElementsAre(HasSubstr("Target.detachFromTarget")));
  EXPECT_THAT(other_.to_client(), IsEmpty());
  EXPECT_THAT(popup(own_, "P"), IsEmpty());
  EXPECT_THAT(own_.to_client(), SizeIs(1));
  EXPECT_THAT(say(own_, resume_of("P")), ElementsAre(resume_of("P")));
  // Whoever hears of it afterwards leaves it too.
  EXPECT_THAT(popup(other_, "H2"), ElementsAre(HasSubstr("Target.detachFromTarget")));
  EXPECT_THAT(stranded_, IsEmpty());
}

TEST_F(CdpPopupTest, ATabOfAnotherSessionIsResumedAndLeft) {
  say(own_, kAttachAll);
  say(other_, kAttachTabs);
  timers_.advance(kWatcherSettles);
  other_->from_browser(Conversation::attached("H", "TAB", "tab", "OWN", {.is_waiting = true}));
  EXPECT_THAT(other_.to_browser(), ElementsAre(HasSubstr("Runtime.runIfWaitingForDebugger"),
                                               HasSubstr("Target.detachFromTarget")));
}

TEST_F(CdpPopupTest, AWorkerOfAnotherSessionIsLeftToItsOwner) {
  say(own_, kAttachAll);
  other_->from_browser(
      Conversation::attached("H", "W", "service_worker", "OWN", {.is_waiting = true}));
  EXPECT_THAT(other_.to_browser(), ElementsAre(HasSubstr("Target.detachFromTarget")));
}

TEST_F(CdpPopupTest, TwoClientsOfASessionLetAPopupRunTogether) {
  say(own_, kAttachAll);
  say(second_, kAttachAll);
  popup(own_, "P1");
  EXPECT_THAT(say(own_, resume_of("P1")), IsEmpty());
  // The second has not even heard of it yet.
  popup(second_, "P2");
  EXPECT_THAT(say(second_, resume_of("P2")), ElementsAre(resume_of("P2")));
  EXPECT_THAT(own_.to_browser(), ElementsAre(resume_of("P1")));
}

TEST_F(CdpPopupTest, APageUnderATabIsWhatPuppeteerResumes) {
  say(own_, kAttachAll);
  say(second_, kAttachTabs);
  popup(own_, "P1");
  EXPECT_THAT(say(own_, resume_of("P1")), IsEmpty());
  second_->from_browser(Conversation::attached("TAB", "T", "tab", "OWN", {.is_waiting = true}));
  EXPECT_THAT(say(second_, resume_of("TAB")), SizeIs(1));
  EXPECT_THAT(own_.to_browser(), IsEmpty());
  // Chromium says that it does not wait, but it does.
  second_->from_browser(
      Conversation::attached("P2", "POPUP", "page", "OWN", {.has_opener = true, .in = "TAB"}));
  EXPECT_THAT(own_.to_browser(), IsEmpty());
  EXPECT_THAT(say(second_, resume_of("P2")), ElementsAre(resume_of("P2")));
  EXPECT_THAT(own_.to_browser(), ElementsAre(resume_of("P1")));
}

TEST_F(CdpPopupTest, AClientThatDoesNotResumeDelaysTheOthersOnlySoLong) {
  say(own_, kAttachAll);
  say(second_, kAttachAll);
  popup(own_, "P1");
  popup(second_, "P2");
  say(own_, resume_of("P1"));
  timers_.advance(kMaxResumeWait);
  EXPECT_THAT(own_.to_browser(), ElementsAre(resume_of("P1")));

  // A navigation needs everybody's resume: it is sent for who does not.
  for (TestClient* client : {&own_, &second_})
    (*client)->from_browser(Conversation::attached(client == &own_ ? "N1" : "N2", "NAV", "page",
                                                   "OWN", {.is_waiting = true}));
  EXPECT_THAT(say(own_, resume_of("N1")), ElementsAre(resume_of("N1")));
  EXPECT_THAT(second_.to_browser(), IsEmpty());
  timers_.advance(kMaxResumeWait);
  EXPECT_THAT(second_.to_browser(), SizeIs(2));
}

TEST_F(CdpPopupTest, WhoIsNotAttachedBeforeItRunsIsNotWaitedFor) {
  say(own_, kAttachAll);
  say(second_, R"({"id":2,"method":"Target.setAutoAttach","params":{"autoAttach":true,)"
               R"("waitForDebuggerOnStart":false,"flatten":true}})");
  popup(own_, "P1");
  EXPECT_THAT(say(own_, resume_of("P1")), SizeIs(1));
  // Its filter takes neither pages nor tabs.
  say(second_, R"({"id":2,"method":"Target.setAutoAttach","params":{"autoAttach":true,)"
               R"("waitForDebuggerOnStart":true,"flatten":true,"filter":[{"type":"worker"}]}})");
  own_->from_browser(Conversation::attached("Q1", "POPUP2", "page", "OWN",
                                            {.is_waiting = true, .has_opener = true}));
  EXPECT_THAT(say(own_, resume_of("Q1")), SizeIs(1));
  // It began to attach too late for this one.
  say(second_, kAttachAll);
  own_->from_browser(Conversation::attached("R1", "POPUP3", "page", "OWN",
                                            {.is_waiting = true, .has_opener = true}));
  EXPECT_THAT(say(own_, resume_of("R1")), IsEmpty());
  second_->from_browser(
      Conversation::attached("R2", "POPUP3", "page", "OWN", {.has_opener = true}));
  EXPECT_THAT(own_.to_browser(), SizeIs(1));
}

TEST_F(CdpPopupTest, WhoStopsAttachingOrLeavesIsNotWaitedFor) {
  say(own_, kAttachAll);
  say(second_, kAttachAll);
  popup(own_, "P1");
  popup(second_, "P2");
  EXPECT_THAT(say(own_, resume_of("P1")), IsEmpty());
  second_->from_browser(Conversation::detached("P2"));
  EXPECT_THAT(own_.to_browser(), SizeIs(1));
  say(second_, R"({"id":2,"method":"Target.setAutoAttach","params":{"autoAttach":false,)"
               R"("waitForDebuggerOnStart":false,"flatten":true}})");
  own_->from_browser(Conversation::attached("Q1", "POPUP2", "page", "OWN",
                                            {.is_waiting = true, .has_opener = true}));
  EXPECT_THAT(say(own_, resume_of("Q1")), SizeIs(1));
}

TEST_F(CdpPopupTest, AClientThatGoesLetsItsPagesRun) {
  say(own_, kAttachAll);
  popup(own_, "P1");
  own_->from_browser(Conversation::attached("N", "NAV", "page", "OWN", {.is_waiting = true}));
  own_->closed();
  EXPECT_THAT(own_.to_browser(), SizeIs(2));
  // Its connection may have been gone already.
  EXPECT_THAT(stranded_, ElementsAre("POPUP"));
}

TEST_F(CdpPopupTest, NestedBrowserSessionsCountForThemselves) {
  say(own_, kAttachAll);
  const auto sent = say(own_, R"({"id":3,"method":"Target.attachToBrowserTarget"})");
  own_->from_browser(Conversation::attached("N", "NESTED", "browser", ""));
  own_->from_browser(R"({"id":)" + Conversation::id_of(sent.front()) +
                     R"(,"result":{"sessionId":"N"}})");
  say(own_, R"({"id":4,"method":"Target.setAutoAttach","params":{"autoAttach":true,)"
            R"("waitForDebuggerOnStart":true,"flatten":true},"sessionId":"N"})");
  popup(own_, "P1");
  EXPECT_THAT(say(own_, resume_of("P1")), IsEmpty());
  own_->from_browser(Conversation::attached("P2", "POPUP", "page", "OWN",
                                            {.is_waiting = true, .has_opener = true, .in = "N"}));
  EXPECT_THAT(say(own_, resume_of("P2")), SizeIs(2));
  own_->from_browser(Conversation::detached("N"));
  own_->from_browser(Conversation::attached("Q1", "POPUP2", "page", "OWN",
                                            {.is_waiting = true, .has_opener = true}));
  EXPECT_THAT(say(own_, resume_of("Q1")), SizeIs(1));
}

}  // namespace
}  // namespace reprise::browser
