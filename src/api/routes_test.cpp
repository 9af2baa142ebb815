// The routes are those of the API's description, and the answers have the members it requires.
#include <gtest/gtest.h>

#include <set>

#include "api/browser_testing.h"
#include "api/session_json.h"
#include "api/system.h"
#include "api/testing.h"

namespace reprise::api {
namespace {

using testing::Api;

const wire::JsonDocument& document() {
  static const wire::JsonDocument parsed = *wire::parse_json(std::string(openapi_document()));
  return parsed;
}

std::vector<std::string> required(std::string_view schema) {
  std::vector<std::string> names;
  const auto found =
      document().root().find("components")->find("schemas")->find(schema)->find("required");
  for (const auto& name : found->elements()) names.push_back(*name.as_string());
  return names;
}

void expect_members(const std::string& json, const std::vector<std::string>& names) {
  const auto parsed = wire::parse_json(json);
  ASSERT_TRUE(parsed) << json;
  for (const std::string& name : names)
    EXPECT_TRUE(parsed->root().find(name)) << name << " is missing in " << json;
}

TEST(Routes, AreThoseOfTheDescriptionInBothDirections) {
  std::set<std::string> described;
  for (const auto& path : document().root().find("paths")->members())
    for (const auto& operation : path.value.members()) {
      if (operation.name == "parameters") continue;
      std::string method = operation.name;
      for (char& c : method) c = static_cast<char>(c - ('a' - 'A'));
      described.insert(method + ' ' + path.name);
    }
  std::set<std::string> served;
  Api api;
  const testing::Browsers browsers(api);
  for (const auto& route : api.router().routes()) {
    std::string pattern = route->pattern;  // {path...} is {path} there
    if (pattern.ends_with("...}")) pattern.replace(pattern.size() - 4, 4, "}");
    if (pattern.ends_with("*}")) pattern.replace(pattern.size() - 2, 2, "}");
    // The same with a slash at the end, for clients that write it so, is not described twice.
    if (pattern.size() > 1 && pattern.ends_with('/')) continue;
    EXPECT_TRUE(served.insert(std::string(wire::word(route->method)) + ' ' + pattern).second)
        << route->pattern << " is there twice";
  }
  EXPECT_EQ(served, described);
}

TEST(Routes, OnlyProbesTheDescriptionAndThePageAreOpenAndOnlyReadsNeedLessThanWrite) {
  Api api;
  const testing::Browsers browsers(api);
  for (const auto& route : api.router().routes()) {
    const bool is_open = route->pattern == "/healthz" || route->pattern == "/readyz" ||
                         route->pattern == "/openapi.json" ||
                         // The page, which shows nothing by itself, and its login.
                         route->pattern == "/" || route->pattern == "/assets/{file}" ||
                         (route->pattern == "/v1/login" && route->method == wire::Method::kPost) ||
                         route->pattern == "/v1/logout" ||
                         // Keys are public; whoever was woken shows the wake's own token.
                         route->pattern == "/v1/stream/__ds/jwks.json" ||
                         route->pattern.ends_with("/callback") ||
                         route->pattern.ends_with("/ack") || route->pattern.ends_with("/release");
    // What cookies hold, and what drives a browser, is more than a look.
    const bool is_read = route->method == wire::Method::kGet &&
                         !route->pattern.ends_with("/storage-state") &&
                         !route->pattern.ends_with("/cdp");
    // Agents must not widen what their own pages may reach.
    const bool is_rule =
        route->pattern.ends_with("/url-policy") && route->method != wire::Method::kGet;
    EXPECT_EQ(route->scope, is_open   ? http::Scope::kNone
                            : is_rule ? http::Scope::kAdmin
                            : is_read ? http::Scope::kRead
                                      : http::Scope::kWrite)
        << route->pattern;
  }
}

TEST(SessionJson, HasEveryMemberOfTheContractWhateverTheSessionHas) {
  session::SessionView view;
  view.state.app = "a\"pp";
  view.state.graph_id = "g";
  std::vector<std::string> names = required("Session");
  // The contract's own list, should the description ever forget one.
  for (const char* name : {"id",
                           "key",
                           "app",
                           "name",
                           "graphId",
                           "ownerAgent",
                           "status",
                           "pauseReason",
                           "createdAt",
                           "updatedAt",
                           "lastActivityAt",
                           "expiresAt",
                           "ttlSeconds",
                           "messageCount",
                           "isActive",
                           "subscriberCount",
                           "lastSeq",
                           "lastError",
                           "activeTabId",
                           "pendingInteractions",
                           "metadata",
                           "etag"})
    names.emplace_back(name);
  expect_members(session_json(view), names);
  EXPECT_EQ(testing::member(session_json(view), "key"), "null");
  EXPECT_EQ(testing::member(session_json(view), "expiresAt"), "null");

  view.state.name = "n\n:x";
  view.state.owner_agent = "o";
  view.state.ttl_seconds = 60;
  view.state.created_at = view.state.last_activity_at = TimePoint{1'000};
  view.state.status = model::Status::kPaused;
  view.state.pause_reasons.insert(model::PauseReason::kInput);
  view.state.pause_reasons.insert(model::PauseReason::kOperator);
  view.state.metadata = R"({"a":[1]})";
  view.state.steps = "[1]";
  view.state.head = Seq{9};
  view.revision = 17;
  const std::string json = session_json(view, model::Vocabulary::kGraph);
  expect_members(json, names);
  EXPECT_EQ(testing::text_member(json, "key"), "a\"pp:n\n:x");
  EXPECT_EQ(testing::text_member(json, "status"), "suspended");
  EXPECT_EQ(testing::text_member(json, "pauseReason"), "input");
  EXPECT_EQ(testing::member(json, "pauseReasons"), R"(["input","operator"])");
  EXPECT_EQ(testing::text_member(json, "expiresAt"), "1970-01-01T00:01:01.000Z");
  EXPECT_EQ(testing::text_member(json, "etag"), etag_of(17));
  EXPECT_EQ(testing::member(json, "isActive"), "true");
  EXPECT_EQ(testing::member(json, "metadata"), R"({"a":[1]})");
}

TEST(System, HealthMetricsAndTheDescriptionAreServed) {
  Api api;
  EXPECT_EQ(api.get("/healthz").status, 200);
  EXPECT_EQ(api.get("/readyz").status, 200);
  expect_members(api.get("/v1/health").body, required("Health"));
  EXPECT_EQ(testing::text_member(api.get("/v1/health").body, "status"), "ok");
  EXPECT_EQ(api.get("/openapi.json").body, openapi_document());
  const std::string page = api.get("/metrics").body;
  EXPECT_NE(page.find("reprise_http_request_seconds_bucket{le=\"+Inf\"} 0\n"), std::string::npos);
  // One value to a line, each with its help.
  std::set<std::string> helped;
  for (std::size_t at = 0; at < page.size();) {
    const std::string line = page.substr(at, page.find('\n', at) - at);
    at += line.size() + 1;
    if (line.starts_with("# HELP ")) helped.insert(line.substr(7, line.find(' ', 7) - 7));
    if (line.starts_with('#')) continue;
    std::string name = line.substr(0, line.find_first_of("{ "));
    for (const char* suffix : {"_bucket", "_sum", "_count"})
      if (name.starts_with("reprise_http_request_seconds") && name.ends_with(suffix))
        name.erase(name.rfind(suffix));
    EXPECT_TRUE(helped.contains(name)) << line;
  }
}

TEST(System, AServerThatStopsOrCannotWriteIsNotReadyButSaysSo) {
  Api api;
  api.is_draining = true;
  EXPECT_EQ(testing::text_member(api.get("/readyz").body, "code"), "shutting_down");
  EXPECT_EQ(api.get("/healthz").status, 200);
  EXPECT_EQ(testing::text_member(api.get("/v1/health").body, "status"), "degraded");
  api.is_draining = false;
  api.engine().set_full(true);
  EXPECT_EQ(testing::text_member(api.post("/v1/sessions", "{}").body, "code"), "no_space");
  EXPECT_EQ(testing::text_member(api.get("/readyz").body, "code"), "no_space");
  EXPECT_EQ(testing::text_member(testing::member(api.get("/v1/health").body, "store"), "state"),
            "no_space");
}

}  // namespace
}  // namespace reprise::api
