#include "server/cli/command_line.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "server/cli/outcome.h"

namespace reprise::server::cli {
namespace {

// Runs a command as a shell would; keeps what it printed and what it left in its arguments.
struct Invocation {
  explicit Invocation(std::vector<std::string> words) {
    words.insert(words.begin(), "reprise");
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    status = run(static_cast<int>(pointers.size()), pointers.data());
    output = testing::internal::GetCapturedStdout();
    errors = testing::internal::GetCapturedStderr();
    arguments = std::move(words);
  }
  int status = 0;
  std::string output;
  std::string errors;
  std::vector<std::string> arguments;
};

// A variable that is as before at the end of the test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

// Nothing listens on port 1, and ftp is refused before anything is tried.
constexpr const char* kNobody = "http://127.0.0.1:1";
constexpr const char* kWrongUrl = "ftp://127.0.0.1";

TEST(CommandLine, WrongUsageIsExitStatusTwo) {
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {"frobnicate"},
      {"sessions"},
      {"sessions", "frobnicate"},
      {"version", "--frob"},
      {"tail"},
      {"attach"},
      {"sessions", "list", "--limit", "0"},
      {"sessions", "list", "extra"},
      {"events", "append", "s", "--type", "log"},
      {"events", "append", "s", "--type", "log", "--lines", "--data", "1"},
      {"events", "append", "s", "--type", "log", "--data", "{"},
      {"sessions", "create", "--metadata", "{"},
      {"serve", "--threads", "many"},
      {"serve", "--listen", "0.0.0.0:0"},
      {"token", "new", "--name", "a", "--scopes", "fly"},
  };
  for (const auto& words : wrong) {
    const Invocation result(words);
    EXPECT_EQ(result.status, kExitUsage) << testing::PrintToString(words);
    EXPECT_FALSE(result.errors.empty());
    EXPECT_TRUE(result.output.empty());
  }
}

TEST(CommandLine, HelpIsOnStandardOutput) {
  const std::vector<std::vector<std::string>> commands = {
      {},       {"serve"},  {"sessions", "list"}, {"events", "append"},
      {"tail"}, {"attach"}, {"doctor"},           {"token", "new"}};
  for (auto words : commands) {
    words.emplace_back("--help");
    const Invocation result(words);
    EXPECT_EQ(result.status, kExitOk);
    EXPECT_NE(result.output.find("Usage: reprise"), std::string::npos);
  }
}

TEST(CommandLine, AServerThatDoesNotAnswerIsAFailure) {
  EXPECT_EQ(Invocation({"sessions", "list", "--server", kNobody}).status, kExitFailed);
  EXPECT_EQ(Invocation({"tail", "s", "--server", kNobody}).status, kExitFailed);
}

TEST(CommandLine, AFlagWinsOverItsVariable) {
  const Variable server("REPRISE_SERVER", kNobody);
  EXPECT_EQ(Invocation({"sessions", "list"}).status, kExitFailed);
  EXPECT_EQ(Invocation({"sessions", "list", "--server", kWrongUrl}).status, kExitUsage);
}

TEST(CommandLine, ATokenIsNeverShown) {
  const std::string secret = "rp_very-secret";
  const std::vector<std::vector<std::string>> commands = {
      {"sessions", "list", "--server", kNobody, "--token", secret},
      {"sessions", "list", "--server", kNobody, "--json", "--token=" + secret},
      {"sessions", "list", "--tokn", secret},
      {"sessions", "list", "--tokn=" + secret},
      {"sessions", "list", "--server", kWrongUrl, "--token", secret},
      {"sessions", "list", "--server", "http://user:" + secret + "@host"},
      {"doctor", "--data", "/nonexistent", "--server", kNobody, "--token", secret},
  };
  for (const auto& words : commands) {
    const Invocation result(words);
    EXPECT_EQ((result.output + result.errors).find(secret), std::string::npos)
        << result.output << result.errors;
  }
  const Invocation result(commands[0]);
  for (const std::string& argument : result.arguments) EXPECT_NE(argument, secret);
}

TEST(CommandLine, AFailureWithJsonIsAProblemDocument) {
  const Invocation result({"sessions", "list", "--json", "--server", kNobody});
  EXPECT_TRUE(result.output.empty());
  EXPECT_TRUE(result.errors.starts_with("{\"type\":")) << result.errors;
}

}  // namespace
}  // namespace reprise::server::cli
