// Events: what a client sees of targets, sessions and downloads, and what it never does.
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

class CdpEventsTest : public ::testing::Test, protected Conversation {
 protected:
  static std::string event(std::string_view method, std::string_view params,
                           std::string_view session = "") {
    return fmt::format(R"({{"method":"{}","params":{}{}}})", method, params,
                       session.empty() ? "" : fmt::format(R"(,"sessionId":"{}")", session));
  }
  static std::string of_target(std::string_view method, const std::string& target_info,
                               std::string_view session = "") {
    return event(method, R"({"targetInfo":)" + target_info + "}", session);
  }
  bool is_shown(const std::string& message) {
    const auto seen = hear(message);
    if (!seen.empty()) EXPECT_THAT(seen, ElementsAre(message));
    return !seen.empty();
  }
};

TEST_F(CdpEventsTest, DiscoveryShowsTheSessionsTargets) {
  for (const std::string_view session : {"", "S"}) {
    EXPECT_TRUE(is_shown(of_target("Target.targetCreated", info("T", "page", "OWN"), session)));
    EXPECT_TRUE(is_shown(of_target("Target.targetInfoChanged", info("T", "page", "OWN"), session)));
    EXPECT_FALSE(
        is_shown(of_target("Target.targetCreated", info("F", "page", "FOREIGN"), session)));
    EXPECT_FALSE(
        is_shown(of_target("Target.targetInfoChanged", info("F", "page", "FOREIGN"), session)));
    EXPECT_FALSE(is_shown(event("Target.targetCrashed", R"({"targetId":"F"})", session)));
    EXPECT_FALSE(is_shown(event("Target.targetDestroyed", R"({"targetId":"F"})", session)));
    EXPECT_TRUE(is_shown(event("Target.targetCrashed", R"({"targetId":"T"})", session)));
    EXPECT_TRUE(is_shown(event("Target.targetDestroyed", R"({"targetId":"T"})", session)));
    EXPECT_FALSE(is_shown(event("Target.targetDestroyed", R"({"targetId":"T"})", session)));
  }
}

TEST_F(CdpEventsTest, EachSessionThatDiscoversIsToldOfAnEnd) {
  is_shown(of_target("Target.targetCreated", info("T", "page", "OWN")));
  is_shown(of_target("Target.targetCreated", info("T", "page", "OWN"), "S"));
  EXPECT_TRUE(is_shown(event("Target.targetDestroyed", R"({"targetId":"T"})")));
  EXPECT_TRUE(is_shown(event("Target.targetDestroyed", R"({"targetId":"T"})", "S")));
}

TEST_F(CdpEventsTest, OfBrowsersAClientSeesItsOwnConnection) {
  EXPECT_TRUE(is_shown(of_target("Target.targetCreated", info("BROWSER", "browser", ""))));
  EXPECT_FALSE(is_shown(of_target("Target.targetCreated", info("BROWSER2", "browser", ""))));
  EXPECT_FALSE(is_shown(of_target("Target.targetCreated", info("U", "browser_ui", "OWN"))));
  EXPECT_FALSE(is_shown(of_target("Target.targetCreated", info("X", "other", ""))));
}

TEST_F(CdpEventsTest, ANewContextsTargetsAreShownToAllClientsOfTheSession) {
  scope->add_sub_context("SUB");
  EXPECT_TRUE(is_shown(of_target("Target.targetCreated", info("T", "page", "SUB"))));
  EXPECT_TRUE(is_shown(attached("S2", "T", "page", "SUB")));
}

TEST_F(CdpEventsTest, TheBrowserItselfTellsNothingElse) {
  EXPECT_FALSE(is_shown(event("Tethering.accepted", "{}")));
  EXPECT_FALSE(is_shown(event("Fetch.requestPaused", "{}")));
  EXPECT_FALSE(is_shown(event("Target.receivedMessageFromTarget", "{}")));
  EXPECT_FALSE(is_shown(event("Page.loadEventFired", "{}", "NOBODY")));
  EXPECT_FALSE(is_shown("no message"));
}

TEST_F(CdpEventsTest, SessionsOfOwnTargetsComeAndGo) {
  EXPECT_TRUE(is_shown(attached("F", "FRAME", "iframe", "OWN", {.in = "S"})));
  EXPECT_TRUE(is_shown(attached("W", "WORKER", "worker", "", {.in = "F"})));
  EXPECT_EQ(client->holdings().sessions, 4U);
  EXPECT_TRUE(is_shown(event("Runtime.x", "{}", "W")));
  // With a session go those under it.
  EXPECT_TRUE(is_shown(detached("S")));
  EXPECT_EQ(client->holdings().sessions, 1U);
  EXPECT_FALSE(is_shown(event("Runtime.x", "{}", "W")));
  EXPECT_FALSE(is_shown(detached("S")));
}

TEST_F(CdpEventsTest, AForeignTargetIsLeftAndNothingOfItIsShown) {
  EXPECT_FALSE(is_shown(attached("H", "THEIRS", "page", "FOREIGN")));
  EXPECT_THAT(client.to_browser(),
              ElementsAre(HasSubstr(R"("Target.detachFromTarget","params":{"sessionId":"H"}})")));
  EXPECT_FALSE(is_shown(event("Page.frameNavigated", R"({"secret":1})", "H")));
  EXPECT_EQ(client->holdings().hidden_sessions, 1U);
  EXPECT_FALSE(is_shown(detached("H")));
  EXPECT_EQ(client->holdings().hidden_sessions, 0U);
}

TEST_F(CdpEventsTest, AForeignNavigationIsResumedAtOnce) {
  is_shown(attached("H", "THEIRS", "page", "FOREIGN", {.is_waiting = true}));
  EXPECT_THAT(client.to_browser(),
              ElementsAre(HasSubstr(R"("Runtime.runIfWaitingForDebugger","sessionId":"H"})"),
                          HasSubstr("Target.detachFromTarget")));
}

TEST_F(CdpEventsTest, APopupThatNobodyOwnsIsResumedAndThenLeft) {
  is_shown(attached("H", "THEIRS", "page", "FOREIGN", {.is_waiting = true, .has_opener = true}));
  const auto resumed = client.to_browser();
  EXPECT_THAT(resumed, ElementsAre(HasSubstr("Runtime.runIfWaitingForDebugger")));
  reply(resumed.front(), "{}");
  EXPECT_THAT(client.to_browser(), ElementsAre(HasSubstr("Target.detachFromTarget")));
}

TEST_F(CdpEventsTest, AWorkerThatNobodyOwnsIsResumedAndThenLeft) {
  is_shown(attached("H", "W", "service_worker", "FOREIGN", {.is_waiting = true}));
  const auto resumed = client.to_browser();
  EXPECT_THAT(resumed, ElementsAre(HasSubstr("Runtime.runIfWaitingForDebugger")));
  reply(resumed.front(), "{}");
  EXPECT_THAT(client.to_browser(), ElementsAre(HasSubstr("Target.detachFromTarget")));
}

TEST_F(CdpEventsTest, UnderATabThatNobodyOwnsThePopupIsFoundAndResumed) {
  is_shown(attached("H", "TAB", "tab", "FOREIGN", {.is_waiting = true}));
  auto sent = client.to_browser();
  ASSERT_THAT(sent, ElementsAre(HasSubstr(R"("Runtime.runIfWaitingForDebugger","sessionId":"H"})"),
                                HasSubstr("Target.setAutoAttach")));
  EXPECT_FALSE(
      is_shown(attached("P", "THEIRS", "page", "FOREIGN", {.has_opener = true, .in = "H"})));
  const auto resumed = client.to_browser();
  EXPECT_THAT(resumed,
              ElementsAre(HasSubstr(R"("Runtime.runIfWaitingForDebugger","sessionId":"P"})")));
  reply(sent.back(), "{}");
  EXPECT_THAT(client.to_browser(), IsEmpty());
  reply(resumed.front(), "{}");
  EXPECT_THAT(client.to_browser(),
              ElementsAre(HasSubstr(R"("Target.detachFromTarget","params":{"sessionId":"H"}})")));
}

TEST_F(CdpEventsTest, UnderATabWithoutAPopupThereIsNothingToDo) {
  is_shown(attached("H", "TAB", "tab", "FOREIGN", {.is_waiting = true}));
  const auto sent = client.to_browser();
  is_shown(attached("P", "THEIRS", "page", "FOREIGN", {.in = "H"}));
  reply(sent.back(), "{}");
  EXPECT_THAT(client.to_browser(), ElementsAre(HasSubstr("Target.detachFromTarget")));
}

TEST_F(CdpEventsTest, APageCannotMakeUsHoldWhatItLikes) {
  // Nothing foreign hangs on a page.
  EXPECT_FALSE(is_shown(attached("X", "THEIRS", "page", "FOREIGN", {.in = "S"})));
  EXPECT_THAT(client.to_browser(), IsEmpty());
  EXPECT_EQ(client->holdings().hidden_sessions, 0U);
  for (std::size_t i = client->holdings().sessions; i < kMaxCdpSessions; ++i)
    client->from_browser(attached(fmt::format("W{}", i), "WORKER", "worker", "OWN", {.in = "S"}));
  client.to_client();
  EXPECT_EQ(client->holdings().sessions, kMaxCdpSessions);
  EXPECT_FALSE(is_shown(attached("ONE_MORE", "WORKER", "worker", "OWN", {.in = "S"})));
  for (std::size_t i = 0; i < kMaxAnnouncedTargets; ++i)
    client->from_browser(
        of_target("Target.targetCreated", info(fmt::format("T{}", i), "page", "OWN"), "S"));
  client.to_client();
  EXPECT_FALSE(is_shown(of_target("Target.targetCreated", info("NEW", "page", "OWN"), "S")));
  EXPECT_TRUE(is_shown(of_target("Target.targetInfoChanged", info("T1", "page", "OWN"), "S")));
}

TEST_F(CdpEventsTest, ANestedBrowserSessionIsFilteredLikeTheRoot) {
  const auto sent = say(R"({"id":7,"method":"Target.attachToBrowserTarget"})");
  EXPECT_TRUE(is_shown(attached("N", "NESTED", "browser", "")));
  EXPECT_THAT(reply(sent.front(), R"({"sessionId":"N"})"),
              ElementsAre(R"({"id":7,"result":{"sessionId":"N"}})"));
  // Nobody asked for this one.
  EXPECT_FALSE(is_shown(attached("N2", "NESTED2", "browser", "")));
  client.to_browser();

  EXPECT_THAT(say(R"({"id":7,"method":"Browser.crash","sessionId":"N"})"), IsEmpty());
  EXPECT_THAT(answer(), ElementsAre(HasSubstr("wasn't found")));
  EXPECT_THAT(say(R"({"id":7,"method":"Storage.getCookies","sessionId":"N"})"),
              ElementsAre(HasSubstr(R"("browserContextId":"OWN")")));
  EXPECT_FALSE(is_shown(of_target("Target.targetCreated", info("F", "page", "FOREIGN"), "N")));
  EXPECT_FALSE(is_shown(attached("H", "F", "page", "FOREIGN", {.in = "N"})));
  EXPECT_THAT(client.to_browser(),
              ElementsAre(HasSubstr(R"("params":{"sessionId":"H"},"sessionId":"N"})")));
  EXPECT_FALSE(is_shown(event("Tracing.dataCollected", "{}", "N")));
  EXPECT_TRUE(is_shown(attached("P", "PAGE", "page", "OWN", {.in = "N"})));
  // Contexts that were made there vanish with it.
  const auto create =
      say(R"({"id":7,"method":"Target.createBrowserContext","params":{"disposeOnDetach":true},)"
          R"("sessionId":"N"})");
  hear(R"({"id":)" + id_of(create.front()) +
       R"(,"result":{"browserContextId":"SUB"},"sessionId":"N"})");
  EXPECT_TRUE(scope->owns("SUB"));
  EXPECT_TRUE(is_shown(detached("N")));
  EXPECT_FALSE(scope->owns("SUB"));
}

class CdpDownloadsTest : public CdpEventsTest {
 protected:
  std::string begin(std::string_view guid, std::string_view frame) {
    return event("Browser.downloadWillBegin",
                 fmt::format(R"({{"frameId":"{}","guid":"{}"}})", frame, guid));
  }
  std::string progress(std::string_view guid, std::string_view state = "inProgress") {
    return event("Browser.downloadProgress",
                 fmt::format(R"({{"guid":"{}","state":"{}"}})", guid, state));
  }
};

TEST_F(CdpDownloadsTest, OfAPageOfItsOwnAClientIsTold) {
  EXPECT_TRUE(is_shown(begin("G", "PAGE")));
  EXPECT_TRUE(is_shown(progress("G")));
  EXPECT_TRUE(is_shown(progress("G", "completed")));
  EXPECT_FALSE(is_shown(progress("UNKNOWN")));
}

TEST_F(CdpDownloadsTest, ThePageItselfMaySaySoFirst) {
  EXPECT_TRUE(
      is_shown(event("Page.downloadWillBegin", R"({"frameId":"SUBFRAME","guid":"G"})", "S")));
  EXPECT_TRUE(is_shown(begin("G", "SUBFRAME")));
  EXPECT_TRUE(is_shown(progress("G")));
}

TEST_F(CdpDownloadsTest, AnUnknownFrameIsLookedUpAsATarget) {
  EXPECT_FALSE(is_shown(begin("G", "NEW")));
  const auto lookup = client.to_browser();
  ASSERT_THAT(lookup, ElementsAre(HasSubstr(R"({"targetId":"NEW"})")));
  EXPECT_FALSE(is_shown(progress("G")));
  EXPECT_THAT(reply(lookup.front(), R"({"targetInfo":)" + info("NEW", "page", "OWN") + "}"),
              ElementsAre(begin("G", "NEW"), progress("G")));
  EXPECT_TRUE(is_shown(progress("G")));
}

TEST_F(CdpDownloadsTest, AForeignFramesDownloadIsNotShown) {
  EXPECT_FALSE(is_shown(begin("G", "THEIRS")));
  const auto lookup = client.to_browser();
  EXPECT_FALSE(is_shown(progress("G")));
  EXPECT_THAT(reply(lookup.front(), R"({"targetInfo":)" + info("THEIRS", "page", "FOREIGN") + "}"),
              IsEmpty());
  EXPECT_FALSE(is_shown(progress("G")));
}

TEST_F(CdpDownloadsTest, AFrameWithinAPageIsFoundInItsTree) {
  hear(attached("S2", "PAGE2", "page", "OWN"));
  EXPECT_FALSE(is_shown(begin("G", "SUBFRAME")));
  const auto lookup = client.to_browser();
  reply_error(lookup.front(), "No target with given id found");
  const auto trees = client.to_browser();
  ASSERT_THAT(trees, SizeIs(2));
  EXPECT_THAT(trees.front(), HasSubstr("Page.getFrameTree"));
  EXPECT_THAT(reply(trees.front(), R"({"frameTree":{"frame":{"id":"PAGE"}}})"), IsEmpty());
  EXPECT_THAT(reply(trees.back(), R"({"frameTree":{"childFrames":[{"frame":{"id":"SUBFRAME"}}]}})"),
              ElementsAre(begin("G", "SUBFRAME")));
  EXPECT_TRUE(is_shown(progress("G")));
}

TEST_F(CdpDownloadsTest, AFrameThatIsNowhereIsForeign) {
  EXPECT_FALSE(is_shown(begin("G", "SUBFRAME")));
  reply_error(client.to_browser().front(), "No target with given id found");
  EXPECT_THAT(reply(client.to_browser().front(), R"({"frameTree":{}})"), IsEmpty());
  EXPECT_FALSE(is_shown(progress("G")));
  // And if the page is gone before it answers.
  EXPECT_FALSE(is_shown(begin("G2", "SUBFRAME")));
  reply_error(client.to_browser().front(), "No target with given id found");
  EXPECT_TRUE(is_shown(detached("S")));
  EXPECT_EQ(client->holdings().tracked_commands, 0U);
}

TEST_F(CdpDownloadsTest, UndecidedOnesAreBounded) {
  for (std::size_t i = 0; i < kMaxUndecidedDownloads + 1; ++i)
    is_shown(begin(fmt::format("G{}", i), "THEIRS"));
  EXPECT_THAT(client.to_browser(), SizeIs(kMaxUndecidedDownloads));
  for (std::size_t i = 0; i < kMaxUndecidedMessages + 5; ++i) is_shown(progress("G0"));
}

TEST_F(CdpDownloadsTest, TheOldestKnownAreForgotten) {
  for (std::size_t i = 0; i < kMaxKnownDownloads + 1; ++i)
    EXPECT_TRUE(is_shown(begin(fmt::format("G{}", i), "PAGE")));
  EXPECT_FALSE(is_shown(progress("G0")));
  EXPECT_TRUE(is_shown(progress("G1")));
}

}  // namespace
}  // namespace reprise::browser
