// The rules for targets, contexts and windows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "browser/chromium/cdp_testing.h"

namespace reprise::browser {
namespace {

using testing::Conversation;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class CdpCommandsTest : public ::testing::Test, protected Conversation {
 protected:
  std::string refusal(std::string message) {
    EXPECT_THAT(say(std::move(message)), IsEmpty());
    const auto answers = answer();
    return answers.size() == 1 ? answers.front() : "";
  }
  static std::string command(std::string_view method, std::string_view params,
                             std::string_view session = "") {
    return fmt::format(R"({{"id":7,"method":"{}","params":{}{}}})", method, params,
                       session.empty() ? "" : fmt::format(R"(,"sessionId":"{}")", session));
  }
  static std::string error(int code, std::string_view message) {
    return fmt::format(R"({{"id":7,"error":{{"code":{},"message":"{}"}}}})", code, message);
  }
};

TEST_F(CdpCommandsTest, AContextThatIsNotNamedIsTheSessions) {
  for (const std::string_view method :
       {"Storage.getCookies", "Storage.setCookies", "Storage.clearCookies",
        "Browser.grantPermissions", "Browser.setPermission", "Browser.resetPermissions",
        "Browser.cancelDownload"}) {
    EXPECT_THAT(say(command(method, R"({"a":1})")),
                ElementsAre(command(method, R"({"browserContextId":"OWN","a":1})")));
    const std::string own = command(method, R"({"browserContextId":"OWN"})");
    EXPECT_THAT(say(own), ElementsAre(own));
    EXPECT_EQ(refusal(command(method, R"({"browserContextId":"FOREIGN"})")),
              error(-32602, "Failed to find browser context for id FOREIGN"));
    EXPECT_THAT(refusal(command(method, R"({"browserContextId":null})")),
                HasSubstr("Invalid parameters"));
    EXPECT_THAT(
        refusal(command(method, R"({"browserContextId":"OWN","browserContextId":"FOREIGN"})")),
        HasSubstr("Invalid parameters"));
    EXPECT_THAT(refusal(command(method, R"({"browserContext\u0049d":"FOREIGN"})")),
                HasSubstr("Failed to find browser context"));
  }
  EXPECT_THAT(say(R"({"id":7,"method":"Browser.resetPermissions"})"),
              ElementsAre(R"({"id":7,"method":"Browser.resetPermissions",)"
                          R"("params":{"browserContextId":"OWN"}})"));
}

TEST_F(CdpCommandsTest, InAPageItIsThePagesContext) {
  scope->add_sub_context("SUB");
  hear(attached("S2", "PAGE2", "page", "SUB"));
  EXPECT_THAT(
      say(command("Browser.grantPermissions", "{}", "S2")),
      ElementsAre(command("Browser.grantPermissions", R"({"browserContextId":"SUB"})", "S2")));
  EXPECT_THAT(refusal(command("Browser.resetPermissions", R"({"browserContextId":"X"})", "S2")),
              HasSubstr("Failed to find browser context"));
}

TEST_F(CdpCommandsTest, CookiesOfAPageAreAskedForAtTheBrowser) {
  // There Chromium would answer from the browser's default context.
  const auto sent = say(command("Storage.getCookies", "{}", "S"));
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_THAT(sent.front(), HasSubstr(R"("params":{"browserContextId":"OWN"},"sessionId":""})"));
  EXPECT_THAT(reply(sent.front(), R"({"cookies":[]})"),
              ElementsAre(R"({"id":7,"result":{"cookies":[]},"sessionId":"S"})"));
  EXPECT_THAT(refusal(command("Storage.getCookies", R"({"browserContextId":"OWN"})", "S")),
              HasSubstr("browserContextId is only allowed for Browser target"));
}

TEST_F(CdpCommandsTest, OwnTargetsArePassedOn) {
  for (const std::string_view method :
       {"Target.activateTarget", "Target.getTargetInfo", "Target.autoAttachRelated"}) {
    const std::string own = command(method, R"({"targetId":"PAGE"})");
    EXPECT_THAT(say(own), ElementsAre(own)) << method;
  }
  const std::string attach =
      command("Target.attachToTarget", R"({"targetId":"PAGE","flatten":true})");
  EXPECT_THAT(say(attach), ElementsAre(attach));
  const std::string mine = R"({"id":7,"method":"Target.getTargetInfo"})";
  EXPECT_THAT(say(mine), ElementsAre(mine));
}

TEST_F(CdpCommandsTest, AnUnknownTargetIsLookedUpFirst) {
  const std::string attach =
      command("Target.attachToTarget", R"({"targetId":"NEW","flatten":true})");
  auto lookup = say(attach);
  ASSERT_THAT(lookup, SizeIs(1));
  EXPECT_THAT(lookup.front(), HasSubstr(R"("Target.getTargetInfo","params":{"targetId":"NEW"})"));
  EXPECT_TRUE(client->is_waiting());
  // What comes next stays behind it.
  EXPECT_THAT(say(R"({"id":8,"method":"Browser.getVersion"})"), IsEmpty());
  reply(lookup.front(), R"({"targetInfo":)" + info("NEW", "page", "OWN") + "}");
  EXPECT_THAT(client.to_browser(),
              ElementsAre(attach, R"({"id":8,"method":"Browser.getVersion"})"));
  EXPECT_FALSE(client->is_waiting());
  EXPECT_EQ(client.readables, 1);
}

TEST_F(CdpCommandsTest, AForeignTargetIsNotFound) {
  for (const std::string_view session : {"", "S"}) {
    for (const auto& [method, text] : std::map<std::string_view, std::string_view>{
             {"Target.attachToTarget", "No target with given id found"},
             {"Target.activateTarget", "No target with given id found"},
             {"Target.getTargetInfo", "No target with given id found"},
             {"Target.closeTarget", "No target found for targetId"}}) {
      const std::string guess = command(method, R"({"targetId":"THEIRS","flatten":true})", session);
      auto lookup = say(guess);
      ASSERT_THAT(lookup, SizeIs(1)) << method;
      EXPECT_THAT(
          reply(lookup.front(), R"({"targetInfo":)" + info("THEIRS", "page", "FOREIGN") + "}"),
          ElementsAre(HasSubstr(text)));
      EXPECT_THAT(client.to_browser(), IsEmpty());
      // Exactly as what does not exist.
      lookup = say(guess);
      EXPECT_THAT(reply_error(lookup.front(), "No target with given id found"),
                  ElementsAre(HasSubstr(text)));
      EXPECT_THAT(client.to_browser(), IsEmpty());
    }
  }
  EXPECT_THAT(refusal(command("Target.attachToTarget", R"({"targetId":5,"flatten":true})")),
              HasSubstr("Invalid parameters"));
  EXPECT_THAT(refusal(command("Target.closeTarget", "{}")), HasSubstr("Invalid parameters"));
}

TEST_F(CdpCommandsTest, OnlyFlatSessionsAreMade) {
  EXPECT_THAT(refusal(command("Target.attachToTarget", R"({"targetId":"PAGE"})")),
              HasSubstr("Only flatten protocol is supported"));
  const std::string params = R"({"autoAttach":true,"waitForDebuggerOnStart":false})";
  EXPECT_THAT(refusal(command("Target.setAutoAttach", params)), HasSubstr("Only flatten protocol"));
  EXPECT_THAT(refusal(command("Target.setAutoAttach", params, "S")),
              HasSubstr("Only flatten protocol"));
  EXPECT_THAT(refusal(command("Target.setAutoAttach", "{}")), HasSubstr("Invalid parameters"));
}

TEST_F(CdpCommandsTest, OfItsConnectionAClientMayKnowAndAttach) {
  const std::string info_of_it = command("Target.getTargetInfo", R"({"targetId":"BROWSER"})");
  EXPECT_THAT(say(info_of_it), ElementsAre(info_of_it));
  EXPECT_THAT(say(command("Target.attachToTarget", R"({"targetId":"BROWSER","flatten":true})")),
              SizeIs(1));
  EXPECT_THAT(refusal(command("Target.closeTarget", R"({"targetId":"BROWSER"})")),
              HasSubstr("No target found"));
  // Another connection is a target as well.
  const auto lookup =
      say(command("Target.attachToTarget", R"({"targetId":"BROWSER2","flatten":true})"));
  EXPECT_THAT(reply(lookup.front(), R"({"targetInfo":)" + info("BROWSER2", "browser", "") + "}"),
              ElementsAre(HasSubstr("No target with given id found")));
}

TEST_F(CdpCommandsTest, AWindowIsFoundThroughThePage) {
  // Asked with the id of a target that is gone, the headless shell crashes.
  const auto sent = say(command("Browser.getWindowForTarget", R"({"targetId":"PAGE"})"));
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_THAT(sent.front(), HasSubstr(R"("Browser.getWindowForTarget","sessionId":"S"})"));
  EXPECT_THAT(refusal(command("Browser.setWindowBounds", R"({"windowId":3})")),
              HasSubstr("Browser window not found"));
  EXPECT_THAT(
      hear(R"({"id":)" + id_of(sent.front()) + R"(,"result":{"windowId":3},"sessionId":"S"})"),
      ElementsAre(R"({"id":7,"result":{"windowId":3}})"));
  for (const std::string_view method :
       {"Browser.setWindowBounds", "Browser.getWindowBounds", "Browser.setContentsSize"}) {
    const std::string own = command(method, R"({"windowId":3})");
    EXPECT_THAT(say(own), ElementsAre(own));
    EXPECT_EQ(refusal(command(method, R"({"windowId":4})")),
              error(-32000, "Browser window not found"));
    EXPECT_THAT(refusal(command(method, R"({"windowId":3.0})")), HasSubstr("Invalid parameters"));
  }
  EXPECT_EQ(refusal(command("Browser.getWindowForTarget", R"({"targetId":"THEIRS"})")),
            error(-32000, "No web contents for the given target id"));
  EXPECT_THAT(say(R"({"id":7,"method":"Browser.getWindowForTarget","sessionId":"S"})"), SizeIs(1));
}

TEST_F(CdpCommandsTest, TheContextsAreTheSessions) {
  scope->add_sub_context("SUB");
  const auto sent = say(R"({"id":7,"method":"Target.getBrowserContexts"})");
  EXPECT_THAT(
      reply(sent.front(),
            R"({"browserContextIds":["OWN","SUB","FOREIGN"],"defaultBrowserContextId":"DEFAULT"})"),
      ElementsAre(R"({"id":7,"result":{"browserContextIds":["SUB"],)"
                  R"("defaultBrowserContextId":"OWN"}})"));
}

TEST_F(CdpCommandsTest, OnlyContextsOfItsOwnMakingAreDisposed) {
  scope->add_sub_context("SUB");
  EXPECT_EQ(refusal(command("Target.disposeBrowserContext", R"({"browserContextId":"OWN"})")),
            error(-32000, "Cannot dispose default browser context."));
  EXPECT_EQ(refusal(command("Target.disposeBrowserContext", R"({"browserContextId":"FOREIGN"})")),
            error(-32000, "Failed to find context with id FOREIGN"));
  const auto sent = say(command("Target.disposeBrowserContext", R"({"browserContextId":"SUB"})"));
  EXPECT_TRUE(scope->owns("SUB"));
  EXPECT_THAT(reply(sent.front(), "{}"), ElementsAre(R"({"id":7,"result":{}})"));
  EXPECT_FALSE(scope->owns("SUB"));
  EXPECT_THAT(client.contexts(), ElementsAre("-SUB"));
}

TEST_F(CdpCommandsTest, ATargetIsCreatedInTheSession) {
  auto sent = say(command("Target.createTarget", R"({"url":"about:blank"})"));
  EXPECT_THAT(sent, ElementsAre(HasSubstr(R"("params":{"browserContextId":"OWN","url")")));
  EXPECT_THAT(reply(sent.front(), R"({"targetId":"T"})"),
              ElementsAre(R"({"id":7,"result":{"targetId":"T"}})"));
  sent = say(command("Target.createTarget", R"({"url":""})", "S"));
  EXPECT_THAT(sent, ElementsAre(HasSubstr(R"("browserContextId":"OWN")")));
  EXPECT_EQ(refusal(command("Target.createTarget", R"({"url":"","browserContextId":"FOREIGN"})")),
            error(-32602, "browserContextId"));
  EXPECT_EQ(refusal(command("Target.createTarget", R"({"url":"file:///etc/passwd"})")),
            error(-32000, "Not that URL"));
  EXPECT_THAT(refusal(command("Target.createTarget", "{}")), HasSubstr("Invalid parameters"));
}

TEST_F(CdpCommandsTest, UrlsAreCheckedBeforeAPageGoesThere) {
  EXPECT_THAT(refusal(command("Page.navigate", R"({"url":"file:///etc/passwd"})", "S")),
              HasSubstr("Not that URL"));
  EXPECT_THAT(refusal(command("Page.navigate", R"({"url":"\u0066ile:///etc/passwd"})", "S")),
              HasSubstr("Not that URL"));
  EXPECT_THAT(refusal(command("Page.navigate", R"({"url":"http://a/","url":"file:///"})", "S")),
              HasSubstr("Invalid parameters"));
  EXPECT_THAT(refusal(command("Page.navigate", R"({"url":5})", "S")),
              HasSubstr("Invalid parameters"));
  EXPECT_THAT(say(command("Page.navigate", R"({"url":"http://a/"})", "S")), SizeIs(1));
}

TEST_F(CdpCommandsTest, OnlyItsOwnSessionsAreDetached) {
  hear(attached("HIDDEN", "THEIRS", "page", "FOREIGN"));
  client.to_browser();
  const std::string own = command("Target.detachFromTarget", R"({"sessionId":"S"})");
  EXPECT_THAT(say(own), ElementsAre(own));
  const std::string by_target = command("Target.detachFromTarget", R"({"targetId":"PAGE"})");
  EXPECT_THAT(say(by_target), ElementsAre(by_target));
  EXPECT_EQ(refusal(command("Target.detachFromTarget", R"({"sessionId":"HIDDEN"})")),
            error(-32602, "No session with given id"));
  EXPECT_EQ(refusal(command("Target.detachFromTarget", R"({"targetId":"THEIRS"})")),
            error(-32602, "No session for given target id"));
  EXPECT_EQ(refusal(command("Target.detachFromTarget", "{}")),
            error(-32602, "Session id must be specified"));
}

}  // namespace
}  // namespace reprise::browser
