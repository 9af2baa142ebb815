#include "api/tool_calls.h"

#include <gtest/gtest.h>

#include "api/limits.h"
#include "api/testing.h"
#include "base/json_text.h"
#include "model/audit_export.h"
#include "model/limits.h"
#include "session/keys.h"
#include "session/stored_session.h"

namespace reprise::api {
namespace {

using testing::Api;
using testing::member;
using testing::text_member;
using enum wire::Method;

std::string code(const http::Reply& reply) { return text_member(reply.body, "code"); }
std::string pointer(const http::Reply& reply) {
  const auto document = wire::parse_json(reply.body);
  const auto errors = document->root().find("errors");
  return errors ? *errors->elements().front().find("pointer")->as_string() : "none";
}

class ToolCallsTest : public ::testing::Test {
 protected:
  ToolCallsTest() {
    const auto made = api_.post("/v1/sessions", R"({"app":"a","name":"s","status":"ACTIVE"})");
    path_ = "/v1/sessions/" + text_member(made.body, "id");
  }
  http::Reply start(std::string body, const testing::HeaderList& headers = {}) {
    return api_.post(path_ + "/tool-calls", std::move(body), headers);
  }
  http::Reply finish(const std::string& id, std::string body,
                     const testing::HeaderList& headers = {}) {
    return api_.post(path_ + "/tool-calls/" + id + "/finish", std::move(body), headers);
  }
  // The only call there is.
  std::string shown(std::string_view name) {
    const auto page = wire::parse_json(api_.get(path_ + "/tool-calls").body);
    const auto value = page->root().find("toolCalls")->elements().back().find(name);
    return value->as_string().value_or(value->minified());
  }
  // Everything the store holds, decoded: all records, and the entries of the session's stream and
  // of the monitor's feeds.
  std::string stored_bytes() {
    std::string all;
    std::vector<StreamId> streams;
    for (std::size_t feed = 0; feed < session::kFeeds; ++feed)
      streams.push_back(session::feed_stream(feed));
    const auto records =
        api_.engine().scan({.begin = {}, .end = {}, .limit = 100'000}, store::ReadMode::kBlocking);
    for (const auto& record : records->records) {
      all += record.key + record.value;
      if (record.key.starts_with('s'))
        streams.push_back(session::decode_stored(record.value, record.version)->stream);
    }
    struct Collector final : store::EntryVisitor {
      std::string& out;
      explicit Collector(std::string& to) : out(to) {}
      bool visit(Seq, std::string_view bytes) override {
        out += bytes;
        return true;
      }
    } collector(all);
    for (const StreamId stream : streams)
      EXPECT_TRUE(api_.engine().read(
          {.stream = stream, .after = {}, .limit = 100'000, .max_bytes = 1 << 30},
          store::ReadMode::kBlocking, collector));
    return all;
  }
  std::string export_lines() {
    api_.socket().taken.clear();
    api_.follow(api_.get(path_ + "/audit/export"));
    return api_.socket().taken;
  }

  Api api_;
  std::string path_;
};

TEST_F(ToolCallsTest, AreStartedFinishedListedAndVerified) {
  const auto started = start(R"({"toolName":"browser.click","input":{"selector":"#buy"}})");
  EXPECT_EQ(started.status, 201);
  EXPECT_EQ(member(started.body, "seq"), "2");
  const std::string id = text_member(started.body, "id");
  EXPECT_EQ(shown("status"), "open");
  EXPECT_EQ(shown("inputSummary"), R"({"selector":"#buy"})");
  EXPECT_EQ(shown("durationMs"), "null");
  api_.advance(Millis{30});
  const auto finished = finish(id, R"({"status":"success","output":"clicked"})");
  EXPECT_EQ(finished.status, 200);
  EXPECT_EQ(finished.body, fmt::format(R"({{"id":"{}","seq":3}})", id));
  EXPECT_EQ(shown("status"), "success");
  EXPECT_EQ(shown("outputSummary"), "clicked");
  EXPECT_EQ(shown("durationMs"), "30");
  EXPECT_EQ(shown("finishedSeq"), "3");
  const auto verified = api_.get(path_ + "/audit/verify");
  EXPECT_EQ(member(verified.body, "valid"), "true");
  EXPECT_EQ(member(verified.body, "entries"), "2");
  EXPECT_EQ(text_member(verified.body, "head").size(), 64U);
  const auto metrics = api_.get("/metrics").body;
  EXPECT_TRUE(metrics.contains("reprise_tool_calls_started_total 1\n"));
  EXPECT_TRUE(metrics.contains("reprise_tool_calls_finished_total 1\n"));
  EXPECT_TRUE(metrics.contains("reprise_audits_verified_total 1\n"));
}

TEST_F(ToolCallsTest, NamesOfToolsThatDealWithSecretsAreNames) {
  for (const char* name : {"secrets:get", "auth:login", "token:refresh", "cookie:set"})
    EXPECT_EQ(start(std::string(R"({"toolName":")") + name + R"("})").status, 201) << name;
}

TEST_F(ToolCallsTest, WhatIsWrongIsToldWithItsPlaceAndNothingIsStored) {
  EXPECT_EQ(pointer(start("{}")), "/toolName");
  EXPECT_EQ(pointer(start(R"({"toolName":"a b"})")), "/toolName");
  EXPECT_EQ(pointer(start(R"({"toolName":"sk-abcdEFGH1234abcdEFGH"})")), "/toolName");
  EXPECT_EQ(pointer(start(R"({"toolName":"a","status":"success"})")), "/status");
  EXPECT_EQ(pointer(start(R"({"toolName":"a","inputSummary":{}})")), "/inputSummary");
  EXPECT_EQ(code(start("[")), "malformed_json");
  EXPECT_EQ(code(api_.post(path_ + "/tool-calls?x=1", "{}")), "unknown_parameter");
  const std::string id = text_member(start(R"({"toolName":"a"})").body, "id");
  EXPECT_EQ(pointer(finish(id, "{}")), "/status");
  EXPECT_EQ(pointer(finish(id, R"({"status":"open"})")), "/status");
  EXPECT_EQ(pointer(finish(id, R"({"status":"success","toolName":"a"})")), "/toolName");
  EXPECT_EQ(pointer(finish(id, R"({"status":"success","error":7})")), "/error");
  EXPECT_EQ(code(finish("x", R"({"status":"success"})")), "tool_call_not_found");
  EXPECT_EQ(code(finish("019a8b3c-1111-7222-8333-444455556666", R"({"status":"success"})")),
            "tool_call_not_found");
  EXPECT_EQ(member(api_.get(path_).body, "lastSeq"), "2");
  EXPECT_EQ(finish(id, R"({"status":"cancelled"})").status, 200);
  EXPECT_EQ(code(finish(id, R"({"status":"cancelled"})")), "tool_call_finished");
  for (const std::string_view query : {"?toolName=a%20b", "?status=done", "?limit=0", "?limit=501"})
    EXPECT_EQ(code(api_.get(path_ + "/tool-calls" + std::string(query))), "bad_parameter") << query;
  EXPECT_EQ(code(api_.get(path_ + "/tool-calls?cursor=x")), "bad_cursor");
  EXPECT_EQ(code(api_.get(path_ + "/tool-calls?q=x")), "unknown_parameter");
  EXPECT_EQ(code(api_.get(path_ + "/audit/verify?x=1")), "unknown_parameter");
}

TEST_F(ToolCallsTest, SecretsAreReplacedBeforeAnythingIsStored) {
  const std::vector<std::string> secrets = {"hunter2-planted", "ghp_0123456789abcdefghijABCDEFGHIJ",
                                            "4111 1111 1111 1111", "plantedcookie1", "MIIEplanted"};
  const std::string id = text_member(
      start(
          R"({"toolName":"fetch","input":{"password":"hunter2-planted","body":)"
          R"("key ghp_0123456789abcdefghijABCDEFGHIJ","headers":{"Cookie":"sid=plantedcookie1"}}})",
          {{"Idempotency-Key", "one"}})
          .body,
      "id");
  finish(id,
         R"({"status":"failure","outputSummary":"card 4111 1111 1111 1111",)"
         R"("error":"-----BEGIN RSA PRIVATE KEY-----\nMIIEplanted\n"})",
         {{"Idempotency-Key", "two"}});
  EXPECT_EQ(
      shown("inputSummary"),
      R"({"password":"[redacted]","body":"key [redacted]","headers":{"Cookie":"[redacted]"}})");
  EXPECT_EQ(shown("outputSummary"), "card [redacted]");
  EXPECT_EQ(shown("error"), "[redacted]");
  std::string all = stored_bytes();
  EXPECT_TRUE(all.contains("tool_finished"));
  EXPECT_TRUE(all.contains("key [redacted]"));
  all += export_lines() + api_.get(path_ + "/tool-calls").body;
  for (const std::string& secret : secrets) EXPECT_FALSE(all.contains(secret)) << secret;
}

TEST_F(ToolCallsTest, SummariesAreCutAndInputsAreLimited) {
  const auto input = [](std::size_t size) {
    return R"({"toolName":"a","input":")" + std::string(size - 2, 'x') + "\"}";
  };
  EXPECT_EQ(start(input(kMaxToolPayloadBytes)).status, 201);
  EXPECT_EQ(shown("inputSummary").size(), model::kMaxSummaryBytes);
  EXPECT_EQ(code(start(input(kMaxToolPayloadBytes + 1))), "body_too_large");
  // On both sides of what a loop redacts itself.
  for (const std::size_t size : {kMaxRedactedInLoopBytes, kMaxRedactedInLoopBytes + 1})
    EXPECT_EQ(start(input(size)).status, 201);
  const auto summary = [](std::size_t size) {
    return R"({"toolName":"a","inputSummary":")" + std::string(size, 'x') + "\"}";
  };
  EXPECT_EQ(start(summary(model::kMaxSummaryBytes)).status, 201);
  EXPECT_EQ(shown("inputSummary"), std::string(model::kMaxSummaryBytes, 'x'));
  EXPECT_EQ(start(summary(kMaxToolTextBytes)).status, 201);
  EXPECT_EQ(pointer(start(summary(kMaxToolTextBytes + 1))), "/inputSummary");
}

TEST_F(ToolCallsTest, ASummaryOfTheClientsIsUsedInsteadOfTheInput) {
  start(R"({"toolName":"a","input":{"x":1},"inputSummary":"one x"})");
  EXPECT_EQ(shown("inputSummary"), "one x");
  start(R"({"toolName":"a","input":null})");
  EXPECT_EQ(shown("inputSummary"), "null");
}

TEST_F(ToolCallsTest, ARepetitionIsComparedWithoutItsSecrets) {
  const testing::HeaderList key = {{"Idempotency-Key", "k"}};
  const auto first = start(R"({"toolName":"a","input":{"token":"one","x":1}})", key);
  // A secret that was renewed meanwhile makes no other call of it.
  EXPECT_EQ(start(R"({"toolName":"a", "input":{"token":"two","x":1}})", key).body, first.body);
  EXPECT_EQ(code(start(R"({"toolName":"a","input":{"token":"one","x":2}})", key)),
            "idempotency_mismatch");
  EXPECT_EQ(code(start(R"({"toolName":"b","input":{"token":"one","x":1}})", key)),
            "idempotency_mismatch");
  const std::string id = text_member(first.body, "id");
  const auto end = finish(id, R"({"status":"success"})", key);
  EXPECT_EQ(end.status, 200);
  EXPECT_EQ(finish(id, R"({"status":"success"})", key).body, end.body);
  EXPECT_EQ(code(finish(id, R"({"status":"failure"})", key)), "idempotency_mismatch");
  // Also after the lease has gone.
  auto stale = key;
  stale.emplace_back("Reprise-Lease", "3");
  EXPECT_EQ(finish(id, R"({"status":"success"})", stale).body, end.body);
  EXPECT_EQ(code(start(R"({"toolName":"a"})", {{"Reprise-Lease", "3"}})), "fenced");
}

TEST_F(ToolCallsTest, TokensOfOtherAppsFindNothing) {
  const http::Principal stranger{
      .name = "other", .scope = http::Scope::kAdmin, .apps = std::vector<std::string>{"b"}};
  for (const std::string_view target : {"/tool-calls", "/audit/verify", "/audit/export"})
    EXPECT_EQ(code(api_.call(kGet, path_ + std::string(target), {}, {}, stranger)),
              "session_not_found");
  EXPECT_EQ(code(api_.call(kPost, path_ + "/tool-calls", R"({"toolName":"a"})", {}, stranger)),
            "session_not_found");
  const http::Principal named{.name = "ci", .scope = http::Scope::kWrite, .apps = {}};
  ASSERT_EQ(api_.call(kPost, path_ + "/tool-calls", R"({"toolName":"a"})", {}, named).status, 201);
  EXPECT_EQ(shown("by"), "ci");
}

TEST_F(ToolCallsTest, AnExportVerifiesElsewhere) {
  for (int i = 0; i < 3; ++i) {
    const auto started = start(fmt::format(R"({{"toolName":"a","input":{{"n":{}.50}}}})", i));
    api_.post(path_ + "/events", R"({"type":"message"})");
    finish(text_member(started.body, "id"), R"({"status":"success","output":"\u00e9 \u2603"})");
  }
  api_.post(path_ + "/reset", "{}");
  const std::string text = export_lines();
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  ASSERT_EQ(lines.size(), 7U);
  const auto verify = [](const std::vector<std::string>& given) {
    model::ExportVerifier verifier;
    for (const std::string& line : given)
      if (const auto taken = verifier.line(line); !taken) return false;
    const auto report = verifier.finish();
    return report.has_value() && report->is_valid;
  };
  EXPECT_TRUE(verify(lines));
  EXPECT_EQ(text_member(lines[0], "head"),
            text_member(api_.get(path_ + "/audit/verify").body, "head"));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    auto dropped = lines;
    dropped.erase(dropped.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_FALSE(verify(dropped));
    auto cut = lines;
    cut.resize(i);
    EXPECT_FALSE(verify(cut));
    auto swapped = lines;
    if (i > 0) std::swap(swapped[i], swapped[i - 1]);
    EXPECT_EQ(verify(swapped), i == 0);
  }
  // A chain that was made anew does not pass through a hash that was written down before.
  for (const std::size_t known : {3U, 6U}) {
    for (const bool is_genuine : {true, false}) {
      model::ExportVerifier verifier;
      auto hash = *model::parse_audit_hash(text_member(lines[known], "hash"));
      if (!is_genuine) hash[0] ^= 1U;
      verifier.expect(hash);
      for (const std::string& line : lines) ASSERT_TRUE(verifier.line(line));
      EXPECT_EQ(verifier.finish()->is_valid, is_genuine);
    }
  }
  // Every byte of an entry's line counts, but for the spelling of its envelope.
  for (std::size_t byte = 0; byte < lines[1].size(); ++byte) {
    auto flipped = lines;
    flipped[1][byte] = static_cast<char>(flipped[1][byte] ^ 1);
    EXPECT_FALSE(verify(flipped)) << flipped[1];
  }
}

TEST_F(ToolCallsTest, KeepsPayloadsWholeOnlyIfTheAppSaysSo) {
  const auto call_once = [this] {
    const auto started = start(R"({"toolName":"t","input":{"password": "in-secret", "n": 1}})");
    EXPECT_EQ(started.status, 201);
    EXPECT_EQ(finish(text_member(started.body, "id"),
                     R"({"status":"success","output":{"password":"out-secret"}})")
                  .status,
              200);
  };
  const auto holds = [this](std::string_view text) {
    return stored_bytes().find(text) != std::string::npos;
  };
  call_once();
  EXPECT_FALSE(holds("in-secret"));
  EXPECT_FALSE(holds("out-secret"));
  ASSERT_EQ(api_.call(kPut, "/v1/apps/a", R"({"keepRawToolPayloads":true})").status, 200);
  EXPECT_EQ(member(api_.get("/v1/apps/a").body, "keepRawToolPayloads"), "true");
  call_once();
  EXPECT_TRUE(holds(R"("input":{"password":"in-secret","n":1})"));
  EXPECT_TRUE(holds(R"("output":{"password":"out-secret"})"));
  EXPECT_EQ(shown("inputSummary").find("in-secret"), std::string::npos) << "summaries never do";
  EXPECT_EQ(member(api_.get(path_ + "/audit/verify").body, "valid"), "true");
  ASSERT_EQ(api_.call(kPut, "/v1/apps/a", "{}").status, 200);
  EXPECT_EQ(member(api_.get("/v1/apps/a").body, "keepRawToolPayloads"), "false");
}

}  // namespace
}  // namespace reprise::api
