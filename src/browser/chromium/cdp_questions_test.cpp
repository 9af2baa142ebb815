// The rules that ask the server first: files, downloads, new contexts.
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
using ::testing::Not;
using ::testing::SizeIs;
using testing::TestClient;

class CdpQuestionsTest : public ::testing::Test, protected Conversation {
 protected:
  static std::string command(std::string_view method, std::string_view params,
                             std::string_view session = "") {
    return fmt::format(R"({{"id":7,"method":"{}","params":{}{}}})", method, params,
                       session.empty() ? "" : fmt::format(R"(,"sessionId":"{}")", session));
  }
};

TEST_F(CdpQuestionsTest, FilesOfAnInputAreMapped) {
  const auto sent =
      say(command("DOM.setFileInputFiles", R"({"nodeId":3,"files":["a.txt","b\u002etxt"]})", "S"));
  EXPECT_THAT(sent,
              ElementsAre(HasSubstr(R"({"nodeId":3,"files":["/mapped/a.txt","/mapped/b.txt"]})")));
  EXPECT_THAT(say(command("DOM.setFileInputFiles", R"({"files":["/etc/passwd"]})", "S")),
              IsEmpty());
  EXPECT_THAT(answer(), ElementsAre(HasSubstr("no such artifact")));
  EXPECT_THAT(say(command("DOM.setFileInputFiles", R"({"files":["a",5]})", "S")), IsEmpty());
  EXPECT_THAT(answer(), ElementsAre(HasSubstr("Invalid parameters")));
  EXPECT_THAT(say(command("DOM.setFileInputFiles", R"({"files":"a"})", "S")), IsEmpty());
  EXPECT_THAT(say(command("DOM.setFileInputFiles", "{}", "S")), IsEmpty());
  EXPECT_THAT(answer(), SizeIs(2));
  // No files: nothing to ask.
  EXPECT_THAT(say(command("DOM.setFileInputFiles", R"({"files":[]})", "S")), SizeIs(1));
}

TEST_F(CdpQuestionsTest, SoManyFilesAndNoMore) {
  std::string files;
  for (std::size_t i = 0; i < kMaxCdpFiles; ++i)
    files += (i == 0 ? "" : ",") + std::string("\"a\"");
  EXPECT_THAT(say(command("DOM.setFileInputFiles", "{\"files\":[" + files + "]}", "S")), SizeIs(1));
  EXPECT_THAT(say(command("DOM.setFileInputFiles", "{\"files\":[\"a\"," + files + "]}", "S")),
              IsEmpty());
}

TEST_F(CdpQuestionsTest, FilesOfADragAreMapped) {
  const auto sent = say(command("Input.dispatchDragEvent",
                                R"({"type":"drop","data":{"items":[],"files":["a"]}})", "S"));
  EXPECT_THAT(sent, ElementsAre(command("Input.dispatchDragEvent",
                                        R"({"type":"drop","data":{"items":[],)"
                                        R"("files":["/mapped/a"]}})",
                                        "S")));
  const std::string plain = command("Input.dispatchDragEvent", R"({"data":{"items":[]}})", "S");
  EXPECT_THAT(say(plain), ElementsAre(plain));
}

TEST_F(CdpQuestionsTest, DownloadsGoWhereTheServerSays) {
  EXPECT_THAT(say(command("Browser.setDownloadBehavior",
                          R"({"behavior":"allow","downloadPath":"/etc","eventsEnabled":true})")),
              ElementsAre(command("Browser.setDownloadBehavior",
                                  R"({"browserContextId":"OWN","behavior":"allow",)"
                                  R"("downloadPath":"/mapped/downloads","eventsEnabled":true})")));
  EXPECT_THAT(say(command("Browser.setDownloadBehavior", R"({"behavior":"default"})")),
              ElementsAre(HasSubstr(R"("downloadPath":"/mapped/downloads")")));
  EXPECT_THAT(say(command("Browser.setDownloadBehavior", R"({"behavior":"deny"})", "S")),
              ElementsAre(HasSubstr(R"({"browserContextId":"OWN","behavior":"deny"})")));
  EXPECT_THAT(say(command("Page.setDownloadBehavior",
                          R"({"behavior":"allow","downloadPath":"/etc"})", "S")),
              ElementsAre(HasSubstr(R"({"behavior":"allow","downloadPath":"/mapped/downloads"})")));
  EXPECT_THAT(say(command("Browser.setDownloadBehavior",
                          R"({"behavior":"deny","browserContextId":"FOREIGN"})")),
              IsEmpty());
  EXPECT_THAT(answer(), ElementsAre(HasSubstr("Failed to find browser context for id FOREIGN")));
}

TEST_F(CdpQuestionsTest, TheServerMayChooseAnotherBehavior) {
  client.is_thoughtful = true;
  say(command("Browser.setDownloadBehavior", R"({"behavior":"allow","downloadPath":"x"})"));
  ASSERT_THAT(client.questions, SizeIs(1));
  const auto& [question, answered] = client.questions.front();
  EXPECT_EQ(question.kind, CdpQuestion::Kind::kDownloads);
  EXPECT_EQ(question.context_id, "OWN");
  EXPECT_EQ(question.behavior, "allow");
  EXPECT_THAT(question.paths, ElementsAre("x"));
  answered(CdpAnswer{.paths = {"/d"}, .behavior = "allowAndName"});
  EXPECT_THAT(client.to_browser(),
              ElementsAre(HasSubstr(R"("behavior":"allowAndName","downloadPath":"/d")")));
}

TEST_F(CdpQuestionsTest, ANewContextGetsTheServersProxy) {
  const auto sent =
      say(command("Target.createBrowserContext",
                  R"({"proxyServer":"evil:1","disposeOnDetach":true,"proxyBypassList":"*"})"));
  EXPECT_THAT(sent, ElementsAre(HasSubstr(R"("params":{"disposeOnDetach":true,)"
                                          R"("proxyServer":"127.0.0.1:1",)"
                                          R"("proxyBypassList":"<-loopback>"}})")));
  EXPECT_FALSE(scope->owns("SUB"));
  EXPECT_THAT(reply(sent.front(), R"({"browserContextId":"SUB"})"),
              ElementsAre(R"({"id":7,"result":{"browserContextId":"SUB"}})"));
  EXPECT_TRUE(scope->owns("SUB"));
  EXPECT_THAT(client.contexts(), ElementsAre("+SUB"));
  // It was to vanish with the connection.
  client->closed();
  EXPECT_FALSE(scope->owns("SUB"));
  EXPECT_THAT(client.contexts(), ElementsAre("-SUB"));
}

TEST_F(CdpQuestionsTest, AContextThatIsToStayStays) {
  const auto sent = say(R"({"id":7,"method":"Target.createBrowserContext"})");
  EXPECT_THAT(sent, ElementsAre(HasSubstr(R"("proxyServer":"127.0.0.1:1")")));
  reply(sent.front(), R"({"browserContextId":"SUB"})");
  client->closed();
  EXPECT_TRUE(scope->owns("SUB"));
}

TEST_F(CdpQuestionsTest, ContextsCanBeRefused) {
  client.is_thoughtful = true;
  say(R"({"id":7,"method":"Target.createBrowserContext"})");
  client.questions.front().second(fail(Code::kForbidden));
  EXPECT_THAT(answer(), ElementsAre(HasSubstr("The token does not allow this.")));
  EXPECT_THAT(client.to_browser(), IsEmpty());
}

TEST_F(CdpQuestionsTest, WhatFollowsAQuestionWaitsForItsAnswer) {
  client.is_thoughtful = true;
  say(command("DOM.setFileInputFiles", R"({"files":["a"]})", "S"));
  EXPECT_TRUE(client->is_waiting());
  for (std::size_t i = 0; i < kMaxWaitingCdpMessages; ++i)
    EXPECT_THAT(say(R"({"id":8,"method":"Page.enable","sessionId":"S"})"), IsEmpty());
  EXPECT_THAT(say(R"({"id":9,"method":"Page.enable","sessionId":"S"})"), IsEmpty());
  EXPECT_THAT(answer(), ElementsAre(HasSubstr("Too many commands wait")));
  // Events do not.
  EXPECT_THAT(hear(R"({"method":"Page.x","params":{},"sessionId":"S"})"), SizeIs(1));
  const CdpAnswered answered = client.questions.front().second;
  answered(TestClient::answer_to(client.questions.front().first));
  const auto sent = client.to_browser();
  ASSERT_THAT(sent, SizeIs(1 + kMaxWaitingCdpMessages));
  EXPECT_THAT(sent.front(), HasSubstr("/mapped/a"));
  EXPECT_EQ(client.readables, 1);
  // A second answer is none.
  answered(CdpAnswer{.paths = {"/etc/passwd"}});
  EXPECT_THAT(client.to_browser(), IsEmpty());
}

TEST_F(CdpQuestionsTest, QuestionsBehindQuestionsAreAskedInTheirOrder) {
  client.is_thoughtful = true;
  for (const std::string_view name : {"a", "b", "c"})
    say(command("DOM.setFileInputFiles", fmt::format(R"({{"files":["{}"]}})", name), "S"));
  std::vector<std::string> asked;
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(client.questions.size(), i + 1);
    const auto [question, answered] = client.questions[i];
    asked.push_back(question.paths.front());
    if (i == 1) client.is_thoughtful = false;  // the third is answered at once
    answered(TestClient::answer_to(question));
    if (i == 1) break;
  }
  EXPECT_THAT(asked, ElementsAre("a", "b"));
  EXPECT_THAT(client.to_browser(), SizeIs(3));
  EXPECT_FALSE(client->is_waiting());
}

TEST_F(CdpQuestionsTest, AnAnswerThatIsShortOrLateChangesNothing) {
  client.is_thoughtful = true;
  say(command("DOM.setFileInputFiles", R"({"files":["a","b"]})", "S"));
  client.questions.front().second(CdpAnswer{.paths = {"/one"}});
  EXPECT_THAT(client.to_browser(), IsEmpty());
  EXPECT_THAT(answer(), ElementsAre(HasSubstr("Not all files were found")));
  say(command("DOM.setFileInputFiles", R"({"files":["a"]})", "S"));
  const CdpAnswered answered = client.questions.back().second;
  client->closed();
  answered(CdpAnswer{.paths = {"/one"}});
  EXPECT_THAT(client.to_browser(), IsEmpty());
  EXPECT_THAT(answer(), IsEmpty());
}

}  // namespace
}  // namespace reprise::browser
