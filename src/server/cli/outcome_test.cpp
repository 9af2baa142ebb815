#include "server/cli/outcome.h"

#include <gtest/gtest.h>

#include "server/cli/diagnosis.h"
#include "server/cli/help_text.h"
#include "wire/json.h"

namespace reprise::server::cli {
namespace {

wire::Response response(int status, std::string body) {
  wire::Response made;
  made.status = status;
  made.body = std::move(body);
  return made;
}

TEST(Outcome, AProblemBecomesOneLineAndStaysADocument) {
  const Failure failure(response(409, R"({ "code": "wrong_sequence", "title": "t", "status": 409,
      "detail": "expectedSeq is 7 but the head is 9", "head": 9 })"));
  EXPECT_EQ(failure.line, "wrong_sequence: expectedSeq is 7 but the head is 9");
  EXPECT_EQ(failure.exit_status, kExitFailed);
  const auto problem = wire::parse_json(failure.problem);
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->root().find("head")->as_int(), 9);
  EXPECT_EQ(failure.problem.find('\n'), std::string::npos);
}

TEST(Outcome, FieldsThatAreWrongAreNamed) {
  const Failure failure(response(422, R"({"code":"invalid","detail":"bad",
      "errors":[{"pointer":"/type","detail":"is missing"}]})"));
  EXPECT_EQ(failure.line, "invalid: bad [/type is missing]");
}

TEST(Outcome, ExitStatusesTellNotFoundAndWrongUsageApart) {
  EXPECT_EQ(Failure(response(404, R"({"code":"session_not_found"})")).exit_status, kExitNotFound);
  EXPECT_EQ(Failure(response(500, "")).exit_status, kExitFailed);
  EXPECT_EQ(Failure(Error{Code::kIo, "x"}).exit_status, kExitFailed);
  EXPECT_EQ(Failure(Error{Code::kBadParameter, "x"}).exit_status, kExitUsage);
}

TEST(Outcome, AnAnswerThatIsNotOursIsStillAFailureWithADocument) {
  const Failure failure(response(502, "<html>\x1b[2J</html>"));
  EXPECT_EQ(failure.line.find('\x1b'), std::string::npos);
  EXPECT_TRUE(wire::parse_json(failure.problem));
}

TEST(Outcome, OurOwnErrorsAreDocumentsToo) {
  const Failure failure(Error{Code::kDeadline, "said \"nothing\""});
  const auto problem = wire::parse_json(failure.problem);
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->root().find("code")->as_string(), "deadline");
  EXPECT_EQ(problem->root().find("detail")->as_string(), "said \"nothing\"");
}

TEST(Diagnosis, IsOneDocumentAndFailsOnlyOnErrors) {
  Diagnosis diagnosis;
  diagnosis.ok("lock", "free");
  diagnosis.warning("space", "little", "make \"room\"");
  EXPECT_FALSE(diagnosis.has_errors());
  diagnosis.error("data", "not a directory", "name another");
  EXPECT_TRUE(diagnosis.has_errors());
  const auto document = wire::parse_json(diagnosis.to_json());
  ASSERT_TRUE(document);
  EXPECT_EQ(document->root().find("ok")->as_bool(), false);
  const auto checks = document->root().find("checks")->elements();
  ASSERT_EQ(checks.size(), 3U);
  EXPECT_EQ(checks[1].find("status")->as_string(), "warning");
  EXPECT_EQ(checks[1].find("advice")->as_string(), "make \"room\"");
  EXPECT_FALSE(checks[0].find("advice"));
}

TEST(HelpText, LinesFitAndEverySettingShowsItsDefaultAndVariable) {
  for (const Setting& setting : settings()) {
    const std::string text = wrapped(setting_help(setting));
    EXPECT_NE(text.find(setting.variable), std::string::npos);
    EXPECT_NE(text.find(setting.show(Config{})), std::string::npos);
    std::size_t start = 0;
    for (std::size_t end = 0; end != std::string::npos; start = end + 1) {
      end = text.find('\n', start);
      EXPECT_LE(text.substr(start, end - start).size(), 70U) << text;
    }
  }
}

}  // namespace
}  // namespace reprise::server::cli
