// What a client sends: malformed messages, ids, sessions, and what passes unchanged.
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

class CdpClientTest : public ::testing::Test, protected Conversation {
 protected:
  std::string refusal(std::string message) {
    EXPECT_THAT(say(std::move(message)), IsEmpty());
    const auto answers = answer();
    return answers.size() == 1 ? answers.front() : "";
  }
};

TEST_F(CdpClientTest, ACommandAndItsReplyPassAsTheyAre) {
  const std::string command =
      R"({"id":7, "method":"Runtime.evaluate","params":{"expression":"1"},"sessionId":"S"})";
  EXPECT_THAT(say(command), ElementsAre(command));
  const std::string reply = R"({"id":7,"result":{"value" :1},"sessionId":"S"})";
  EXPECT_THAT(hear(reply), ElementsAre(reply));
  const std::string event = R"({"method":"Page.loadEventFired","params":{},"sessionId":"S"})";
  EXPECT_THAT(hear(event), ElementsAre(event));
}

TEST_F(CdpClientTest, ALongReplyPassesAsItIs) {
  const std::string reply = R"({"id":7,"result":{"data":")" + std::string(100'000, 'A') +
                            R"("},"sessionId":"0123456789ABCDEF0123456789ABCDEF"})";
  EXPECT_THAT(hear(reply), ElementsAre(reply));
}

TEST_F(CdpClientTest, MalformedMessagesAreAnsweredInChromiumsWords) {
  const auto message = [&](std::string text) { return refusal(std::move(text)); };
  EXPECT_THAT(message("x"), HasSubstr("Message must be an object"));
  EXPECT_THAT(message("[]"), HasSubstr("Message must be an object"));
  EXPECT_THAT(message(R"({"id":7,"method":"M"} x)"), HasSubstr("-32700"));
  EXPECT_THAT(message(R"({"id":7,/*c*/"method":"M"})"), HasSubstr("-32700"));
  EXPECT_THAT(message("{\"id\":7,\"method\":\"Browser.getVersion\xff\"}"), HasSubstr("-32700"));
  EXPECT_THAT(message("{}"), HasSubstr("Message must have integer 'id' property"));
  EXPECT_THAT(message(R"({"id":1e3,"method":"Browser.getVersion"})"),
              HasSubstr("Message must have integer 'id' property"));
  EXPECT_EQ(
      message(R"({"id":7})"),
      R"({"id":7,"error":{"code":-32600,"message":"Message must have string 'method' property"}})");
  EXPECT_THAT(message(R"({"id":7,"method":5})"), HasSubstr("string 'method'"));
  EXPECT_THAT(message(R"({"id":7,"method":"Browser.getVersion","sessionId":5})"),
              HasSubstr("string 'sessionId'"));
  EXPECT_THAT(message(R"({"id":7,"method":"Browser.getVersion","foo":1})"),
              HasSubstr("property other than"));
  EXPECT_THAT(message(R"({"id":7,"method":"Browser.getVersion","result":{}})"),
              HasSubstr("property other than"));
  EXPECT_THAT(message(R"({"id":7,"method":"Browser.getVersion","params":5})"),
              HasSubstr("object 'params'"));
  EXPECT_THAT(message(R"({"id":7,"method":"Browser.getVersion","id":8})"), HasSubstr("duplicate"));
}

TEST_F(CdpClientTest, EscapesLeadNowhere) {
  EXPECT_THAT(refusal(R"({"id":7,"method":"\u0042rowser.close"})"), HasSubstr("escape"));
  EXPECT_THAT(refusal(R"({"id":7,"m\u0065thod":"Browser.getVersion"})"), HasSubstr("escape"));
  EXPECT_THAT(refusal(R"({"id":7,"method":"Page.enable","sessionId":"\u0053"})"),
              HasSubstr("-32001"));
}

TEST_F(CdpClientTest, OurIdsAreNotForClients) {
  EXPECT_THAT(refusal(R"({"id":1073741824,"method":"Browser.getVersion"})"), HasSubstr("reserved"));
  EXPECT_THAT(refusal(R"({"id":2147483647,"method":"Browser.getVersion"})"), HasSubstr("reserved"));
  EXPECT_THAT(say(R"({"id":1073741823,"method":"Browser.getVersion"})"), SizeIs(1));
  EXPECT_THAT(say(R"({"id":-2147483648,"method":"Browser.getVersion"})"), SizeIs(1));
}

TEST_F(CdpClientTest, ASessionThatIsNotTheClientsIsNotFound) {
  EXPECT_EQ(refusal(R"({"id":7,"method":"Page.enable","sessionId":"OTHER"})"),
            R"({"id":7,"error":{"code":-32001,"message":"Session with given id not found."}})");
  // Attached to somebody else's page, and about to be detached.
  hear(attached("HIDDEN", "THEIRS", "page", "FOREIGN"));
  client.to_browser();
  EXPECT_THAT(refusal(R"({"id":7,"method":"Page.enable","sessionId":"HIDDEN"})"),
              HasSubstr("-32001"));
  hear(detached("S"));
  EXPECT_THAT(refusal(R"({"id":7,"method":"Page.enable","sessionId":"S"})"), HasSubstr("-32001"));
}

TEST_F(CdpClientTest, TheEmptySessionIsTheRoot) {
  EXPECT_THAT(say(R"({"id":7,"method":"Browser.getVersion","sessionId":""})"), SizeIs(1));
  EXPECT_THAT(refusal(R"({"id":7,"method":"Page.enable","sessionId":""})"), HasSubstr("-32601"));
}

TEST_F(CdpClientTest, WhatIsDeniedIsUnknown) {
  EXPECT_EQ(refusal(R"({"id":7,"method":"Browser.crash"})"),
            R"({"id":7,"error":{"code":-32601,"message":"'Browser.crash' wasn't found"}})");
  EXPECT_EQ(refusal(R"({"id":7,"method":"Tracing.start","sessionId":"S"})"),
            R"({"id":7,"error":{"code":-32601,"message":"'Tracing.start' wasn't found"},)"
            R"("sessionId":"S"})");
  EXPECT_EQ(refusal(R"({"id":7,"method":"Target.getBrowserContexts","sessionId":"S"})"),
            R"({"id":7,"error":{"code":-32000,"message":"Not allowed"},"sessionId":"S"})");
}

TEST_F(CdpClientTest, ClosingTheBrowserClosesOnlyTheView) {
  EXPECT_EQ(refusal(R"({"id":7,"method":"Browser.close"})"), R"({"id":7,"result":{}})");
  EXPECT_EQ(client.closes, 1);
  EXPECT_THAT(say(R"({"id":8,"method":"Browser.getVersion"})"), IsEmpty());
}

TEST_F(CdpClientTest, NobodyIsLedPastUsByUsingAnIdTwice) {
  // The reply to the first must not be taken for the second's.
  say(R"({"id":7,"method":"Browser.getVersion"})");
  const auto tracked = say(R"({"id":7,"method":"Target.getTargets"})");
  ASSERT_THAT(tracked, SizeIs(1));
  hear(R"({"id":7,"result":{"product":"x"}})");
  EXPECT_THAT(
      reply(tracked.front(), R"({"targetInfos":[)" + info("T", "page", "FOREIGN") + "," +
                                 info("PAGE", "page", "OWN") + "]}"),
      ElementsAre(R"({"id":7,"result":{"targetInfos":[)" + info("PAGE", "page", "OWN") + "]}}"));
  // And nobody else's reply is his.
  EXPECT_THAT(hear(R"({"id":1073741900,"result":{"secret":1}})"), IsEmpty());
}

TEST_F(CdpClientTest, TooManyRepliesAreNotWaitedFor) {
  for (std::size_t i = 0; i < kMaxTrackedCdpCommands; ++i)
    ASSERT_THAT(say(R"({"id":7,"method":"Target.getTargets"})"), SizeIs(1));
  EXPECT_EQ(client->holdings().tracked_commands, kMaxTrackedCdpCommands);
  EXPECT_THAT(refusal(R"({"id":7,"method":"Target.getTargets"})"), HasSubstr("Too many"));
}

TEST_F(CdpClientTest, WhatActsIsNotedWithItsOutcome) {
  const auto sent =
      say(R"({"id":7,"method":"Page.navigate","params":{"url":"http://a/"},"sessionId":"S"})");
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_THAT(client.audit(), ElementsAre(R"(1 Page.navigate PAGE {"url":"http://a/"})"));
  EXPECT_THAT(hear(R"({"id":)" + id_of(sent.front()) + R"(,"result":{"f":1},"sessionId":"S"})"),
              ElementsAre(R"({"id":7,"result":{"f":1},"sessionId":"S"})"));
  EXPECT_THAT(client.audit(), ElementsAre(R"(1 ok {"f":1})"));
  // In a frame of the page it is noted for the page.
  hear(attached("F", "FRAME", "iframe", "OWN", {.in = "S"}));
  say(R"({"id":8,"method":"Input.insertText","params":{"text":"x"},"sessionId":"F"})");
  EXPECT_THAT(client.audit(), ElementsAre(R"(2 Input.insertText PAGE {"text":"x"})"));
  const auto closing = say(R"({"id":9,"method":"Page.close","sessionId":"S"})");
  hear(detached("S"));
  EXPECT_THAT(client.audit(), ElementsAre("3 Page.close PAGE ", "3 failed Session closed"));
}

TEST_F(CdpClientTest, InputIsRefusedWhileAPersonHasTakenOver) {
  const std::string key =
      R"({"id":7,"method":"Input.dispatchKeyEvent","params":{},"sessionId":"S"})";
  EXPECT_THAT(say(key), ElementsAre(key));
  scope->set_taken_over(true);
  EXPECT_THAT(refusal(key), HasSubstr("taken over"));
  EXPECT_THAT(refusal(R"({"id":7,"method":"Input.dispatchDragEvent","params":{},"sessionId":"S"})"),
              HasSubstr("taken over"));
  scope->set_taken_over(false);
  EXPECT_THAT(say(key), ElementsAre(key));
}

TEST_F(CdpClientTest, AfterTheEndNothingIsSaid) {
  say(R"({"id":7,"method":"Page.reload","sessionId":"S"})");
  client.audit();
  client->closed();
  EXPECT_THAT(client.audit(), ElementsAre("1 failed Connection closed"));
  EXPECT_THAT(say(R"({"id":8,"method":"Browser.getVersion"})"), IsEmpty());
  EXPECT_THAT(hear(R"({"id":7,"result":{}})"), IsEmpty());
}

}  // namespace
}  // namespace reprise::browser
