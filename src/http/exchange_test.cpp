#include "http/exchange.h"

#include <gtest/gtest.h>

#include "http/limits.h"
#include "http/request_id.h"
#include "wire/json.h"

namespace reprise::http {
namespace {

Exchange accepting(std::vector<std::string> accept) {
  Exchange exchange;
  for (std::string& value : accept) exchange.request.headers.add("Accept", std::move(value));
  return exchange;
}

Exchange asking(std::string_view target) {
  Exchange exchange;
  exchange.target = *wire::parse_target(target);
  return exchange;
}

constexpr std::string_view kSse = "text/event-stream";
constexpr std::string_view kJson = "application/json";

TEST(Exchange, AcceptsWhatTheMostSpecificRangeAllows) {
  EXPECT_TRUE(accepting({}).accepts(kJson));
  EXPECT_TRUE(accepting({""}).accepts(kJson));
  EXPECT_TRUE(accepting({"*/*"}).accepts(kJson));
  EXPECT_TRUE(accepting({"application/*"}).accepts(kJson));
  EXPECT_TRUE(accepting({"APPLICATION/JSON; charset=utf-8"}).accepts(kJson));
  EXPECT_TRUE(accepting({"text/html, application/json;q=0.1"}).accepts(kJson));
  EXPECT_TRUE(accepting({"text/html", "application/json"}).accepts(kJson));
  EXPECT_TRUE(accepting({"*/*;q=0, application/json"}).accepts(kJson));
  EXPECT_FALSE(accepting({"text/html"}).accepts(kJson));
  EXPECT_FALSE(accepting({"text/*"}).accepts(kJson));
  EXPECT_FALSE(accepting({"application/jsonx"}).accepts(kJson));
}

TEST(Exchange, AWeightOfZeroRefusesHoweverItIsWritten) {
  for (const char* zero :
       {"q=0", "q=0.0", "q=0.000", "Q=0", " q = 0 ", "q=0.", "q=0;ext=1", "charset=x;q=0"})
    EXPECT_FALSE(accepting({std::string("application/json;") + zero}).accepts(kJson)) << zero;
  for (const char* other : {"q=0.001", "q=1", "q=1.000", "seq=0", "q=", "q=no", "q=0.0000", "q=00"})
    EXPECT_TRUE(accepting({std::string("application/json;") + other}).accepts(kJson)) << other;
}

TEST(Exchange, PrefersATypeOnlyWhereItIsNamedAndLikedNoLess) {
  EXPECT_TRUE(accepting({"text/event-stream"}).prefers(kSse, kJson));
  EXPECT_TRUE(accepting({"text/event-stream, */*"}).prefers(kSse, kJson));
  EXPECT_TRUE(accepting({"application/json;q=0.5, text/event-stream"}).prefers(kSse, kJson));
  EXPECT_FALSE(accepting({"application/json, text/event-stream;q=0.5"}).prefers(kSse, kJson));
  EXPECT_FALSE(accepting({"text/event-stream;q=0"}).prefers(kSse, kJson));
  for (const char* wildcard : {"*/*", "text/*", ""})
    EXPECT_FALSE(accepting({wildcard}).prefers(kSse, kJson)) << wildcard;
  EXPECT_FALSE(accepting({}).prefers(kSse, kJson));
}

TEST(Exchange, AParameterIsReadOnceAndUnknownOnesAreNamed) {
  const Exchange exchange = asking("/x?a=1&b=&c&a=2");
  EXPECT_EQ(**exchange.query("b"), "");
  EXPECT_EQ(**exchange.query("c"), "");
  EXPECT_FALSE(*exchange.query("d"));
  EXPECT_EQ(exchange.query("a").error().code, Code::kBadParameter);
  EXPECT_TRUE(exchange.check_query({"a", "b", "c"}));
  EXPECT_EQ(exchange.check_query({"a", "b"}).error().code, Code::kUnknownParameter);
  EXPECT_EQ(exchange.check_query({}).error().code, Code::kUnknownParameter);
  EXPECT_TRUE(asking("/x").check_query({}));
}

TEST(Problem, EveryRowOfTheTableBecomesADocumentWithEveryMember) {
  for (const ErrorRow& row : error_rows()) {
    const Reply reply = problem(Error{row.code, "detail \"quoted\"\n\xff"}, "/v1/a%20b");
    EXPECT_EQ(reply.status, row.http_status);
    EXPECT_EQ(reply.headers.get("content-type"), "application/problem+json");
    const auto document = wire::parse_json(reply.body);
    ASSERT_TRUE(document) << reply.body;
    const auto text = [&](std::string_view name) {
      const auto member = document->root().find(name);
      return member ? member->as_string().value_or("not a text") : std::string("missing");
    };
    EXPECT_EQ(text("type"), "urn:reprise:error:" + std::string(row.name));
    EXPECT_EQ(text("title"), row.title);
    EXPECT_EQ(text("code"), row.name);
    EXPECT_EQ(text("detail"), "detail \"quoted\"\n\xef\xbf\xbd");
    EXPECT_EQ(text("instance"), "/v1/a%20b");
    EXPECT_EQ(document->root().find("status")->as_int(), row.http_status);
    EXPECT_EQ(document->root().find("retryable")->as_bool(), is_retryable(row.code));
    EXPECT_FALSE(document->root().find("errors"));
    const bool is_temporary = row.http_status == 429 || row.http_status == 503;
    EXPECT_EQ(reply.headers.get("retry-after").has_value(), is_temporary) << row.name;
    EXPECT_EQ(reply.headers.get("www-authenticate").has_value(), row.http_status == 401);
  }
}

TEST(Problem, CarriesFieldErrorsAndFurtherMembers) {
  Error error{Code::kInvalid, "two are wrong"};
  error.fields = {{"/a~1b", "a"}, {"/c", "\"c\""}};
  error.members = "\"head\":9";
  const auto document = wire::parse_json(problem(error, "/x").body);
  ASSERT_TRUE(document);
  const auto errors = document->root().find("errors")->elements();
  ASSERT_EQ(errors.size(), 2U);
  EXPECT_EQ(errors[0].find("pointer")->as_string(), "/a~1b");
  EXPECT_EQ(errors[1].find("detail")->as_string(), "\"c\"");
  EXPECT_EQ(document->root().find("head")->as_int(), 9);
  EXPECT_EQ(
      wire::parse_json(problem(Error{Code::kGone}, "").body)->root().find("detail")->as_string(),
      error_row(Code::kGone).title);
}

TEST(Problem, ARetryIsNeverAskedForSoonerThanInASecond) {
  Error error{Code::kOverloaded};
  EXPECT_EQ(problem(error, "").headers.get("retry-after"), "1");
  error.retry_after_seconds = 30;
  EXPECT_EQ(problem(error, "").headers.get("retry-after"), "30");
}

TEST(RequestId, IsTheClientsOwnIfItIsSoundAndElseANewOne) {
  const std::string longest(kMaxRequestIdBytes, 'a');
  EXPECT_EQ(request_id(longest), longest);
  EXPECT_EQ(request_id("Az09-_."), "Az09-_.");
  for (const std::string& unsound :
       {longest + "a", std::string(), std::string("a b"), std::string("a\"b"),
        std::string("a\r\nb"), std::string("\xc3\xa4")})
    EXPECT_NE(request_id(unsound), unsound);
  EXPECT_NE(request_id(std::nullopt), request_id(std::nullopt));
}

}  // namespace
}  // namespace reprise::http
