#include "api/devtools.h"

#include <gtest/gtest.h>

#include "api/limits.h"
#include "api/testing.h"
#include "wire/sse.h"

namespace reprise::api {
namespace {

using testing::Api;
using testing::HeaderList;
using testing::member;
using testing::text_member;
using wire::Method;

class Devtools : public ::testing::Test {
 protected:
  void listen(std::string_view query = "", const HeaderList& headers = {},
              const http::Principal& principal = Api::anybody()) {
    const auto reply = api.call(Method::kGet, std::string(kDevtoolsPath) + std::string(query), {},
                                headers, principal);
    ASSERT_EQ(reply.status, 200) << reply.body;
    api.follow(reply);
  }
  // All frames so far.
  std::vector<wire::SseEvent> frames() { return wire::SseDecoder().feed(api.socket().taken); }
  std::vector<std::string> types() {
    std::vector<std::string> types;
    for (const auto& frame : frames()) types.push_back(frame.type);
    return types;
  }
  std::size_t count(std::string_view type) {
    const auto all = types();
    return static_cast<std::size_t>(std::count(all.begin(), all.end(), type));
  }
  wire::SseEvent first(std::string_view type) {
    for (const auto& frame : frames())
      if (frame.type == type) return frame;
    ADD_FAILURE() << "no " << type << " in " << api.socket().taken;
    return {};
  }
  std::string create(const std::string& key) {
    return text_member(api.call(Method::kPut, "/v1/sessions/" + key, "{}").body, "id");
  }
  Api api;
};

TEST_F(Devtools, TellsWhatHappensToSessions) {
  listen();
  const std::string id = create("shop:one");
  const std::string path = "/v1/sessions/" + id;
  api.post(path + "/events", R"({"type":"message","data":{"text":"hello"}})");
  api.post(path + "/pause", "{}");
  api.post(path + "/resume", "{}");
  api.post(path + "/reset", "{}");
  api.post(path + "/close", "{}");
  api.call(Method::kDelete, path);
  EXPECT_EQ(member(first("session.created").data, "key"), "\"shop:one\"");
  EXPECT_EQ(text_member(first("session.created").data, "session"), id);
  EXPECT_EQ(text_member(first("message").data, "text"), "hello");
  EXPECT_EQ(text_member(first("session.closed").data, "status"), "COMPLETED");
  EXPECT_EQ(text_member(first("session.deleted").data, "session"), id);
  for (const char* type : {"session.created", "message", "session.resumed", "session.reset",
                           "session.closed", "session.deleted"})
    EXPECT_EQ(count(type), 1U) << type;
  std::uint64_t n = 0;
  for (const auto& frame : frames()) EXPECT_EQ(member(frame.data, "n"), std::to_string(++n));
}

TEST_F(Devtools, ALivingSessionThatIsDeletedIsAnEndToo) {
  listen("?types=session.closed,session.deleted");
  const std::string id = create("shop:one");
  api.call(Method::kDelete, "/v1/sessions/" + id);
  EXPECT_EQ(types(), (std::vector<std::string>{"session.closed", "session.deleted"}));
  EXPECT_EQ(text_member(first("session.closed").data, "reason"), "deleted");
}

TEST_F(Devtools, TellsRequestsByTheirRouteAndSession) {
  const std::string id = create("shop:one");
  listen("?types=request");
  api.get("/v1/sessions/shop:one");
  api.get("/v1/sessions/none:such");
  const auto all = frames();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(text_member(all[0].data, "method"), "GET");
  EXPECT_EQ(text_member(all[0].data, "route"), "/v1/sessions/{s}");
  EXPECT_EQ(member(all[0].data, "status"), "200");
  EXPECT_EQ(member(all[0].data, "durationMs"), "1");
  EXPECT_EQ(text_member(all[0].data, "session"), id);
  EXPECT_EQ(text_member(all[0].data, "app"), "shop");
  EXPECT_EQ(member(all[1].data, "status"), "404");
  EXPECT_EQ(member(all[1].data, "session"), "");
}

TEST_F(Devtools, LeavesItselfAndTheProbesOut) {
  listen("?types=request");
  for (const char* path : {"/healthz", "/readyz", "/v1/health", "/metrics"}) api.get(path);
  listen("?types=request");
  EXPECT_TRUE(frames().empty()) << api.socket().taken;
}

TEST_F(Devtools, TellsWhoWatches) {
  const std::string id = create("shop:one");
  listen("?types=client.connected,client.disconnected");
  api.follow(api.get("/v1/sessions/" + id + "/events/stream?clientId=tab-1"));
  EXPECT_EQ(text_member(first("client.connected").data, "client"), "tab-1");
  EXPECT_EQ(text_member(first("client.connected").data, "session"), id);
  EXPECT_EQ(text_member(first("client.connected").data, "address"), "test");
  api.follow(api.get("/v1/sessions", {{"Accept", "text/event-stream"}}));
  EXPECT_EQ(count("client.connected"), 2U);
}

TEST_F(Devtools, NothingIsRecordedOrCountedWhileNobodyListens) {
  const std::string id = create("shop:one");
  for (int i = 0; i < 10; ++i)
    api.post("/v1/sessions/" + id + "/events", R"({"type":"message","data":{"text":"x"}})");
  EXPECT_FALSE(api.devtools().is_recording());
  EXPECT_EQ(api.devtools().probe().told, 0U);
  EXPECT_EQ(api.devtools().probe().dropped, 0U);
  listen();
  EXPECT_TRUE(api.devtools().is_recording());
  EXPECT_EQ(api.devtools().probe().listeners, 1U);
  api.post("/v1/sessions/" + id + "/events", R"({"type":"message","data":{"text":"x"}})");
  EXPECT_EQ(api.devtools().probe().told, 2U);  // the message and the request
}

TEST_F(Devtools, RecordsForAMinuteAfterTheLastListenerWent) {
  listen();
  create("shop:one");
  const std::string cursor = frames().back().last_event_id;
  api.end_streams();
  EXPECT_EQ(api.devtools().probe().listeners, 0U);
  api.advance(kDevtoolsAfterglow - Millis{1'000});
  EXPECT_TRUE(api.devtools().is_recording());
  create("shop:two");
  api.advance(Millis{1'000});
  EXPECT_FALSE(api.devtools().is_recording());
}

TEST_F(Devtools, GoesOnWhereAListenerHadCome) {
  listen();
  create("shop:one");
  const std::string cursor = frames().front().last_event_id;
  create("shop:two");
  api.socket().taken.clear();
  listen("", {{"Last-Event-ID", cursor}});
  EXPECT_EQ(count("gap"), 0U);
  EXPECT_EQ(member(frames().front().data, "n"), "2");
}

TEST_F(Devtools, TellsOfAGapWhenTheCursorIsOfAnotherStart) {
  listen();
  create("shop:one");
  api.socket().taken.clear();
  listen("", {{"Last-Event-ID", "0123456789abcdef-3"}});
  ASSERT_GE(frames().size(), 2U);
  EXPECT_EQ(frames().front().type, "gap");
  EXPECT_EQ(member(frames()[1].data, "n"), "1");
}

TEST_F(Devtools, AHeartbeatMovesTheCursorOfAQuietFilter) {
  listen("?types=session.closed");
  create("shop:one");
  EXPECT_TRUE(frames().empty());
  api.advance(Millis{15'000});
  EXPECT_NE(api.socket().taken.find(": heartbeat\nid: "), std::string::npos);
  EXPECT_TRUE(api.socket().taken.ends_with("-2\n\n")) << api.socket().taken;
}

TEST_F(Devtools, ATokenOfAnAppSeesThatAppOnly) {
  const http::Principal limited{
      .name = "shop", .scope = http::Scope::kRead, .apps = std::vector<std::string>{"shop"}};
  listen("", {}, limited);
  const std::string id = create("shop:one");
  create("bank:one");
  api.get("/v1/sessions/bank:one");
  api.get("/v1/sessions");
  api.get("/v1/sessions/" + id);
  for (const auto& frame : frames()) EXPECT_EQ(text_member(frame.data, "app"), "shop");
  EXPECT_EQ(count("session.created"), 1U);
  EXPECT_EQ(count("request"), 2U);
  const auto refused = [&](std::string_view query) {
    return api.call(Method::kGet, std::string(kDevtoolsPath) + std::string(query), {}, {}, limited)
        .status;
  };
  EXPECT_EQ(refused("?app=bank"), 403);
  EXPECT_EQ(refused("?session=bank:one"), 403);
}

TEST_F(Devtools, FiltersByAppAndSession) {
  listen("?app=shop&session=shop:two");
  create("shop:one");
  create("shop:two");
  create("bank:two");
  for (const auto& frame : frames()) EXPECT_EQ(text_member(frame.data, "key"), "shop:two");
  EXPECT_EQ(types(), (std::vector<std::string>{"session.created", "request"}));
}

TEST_F(Devtools, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(api.get("/v1/devtools/events?types=all").status, 400);
  EXPECT_EQ(api.get("/v1/devtools/events?after=1").status, 400);
  EXPECT_EQ(api.get("/v1/devtools/events?app=").status, 400);
  EXPECT_EQ(api.get("/v1/devtools/events?session=:").status, 400);
  EXPECT_EQ(api.get("/v1/devtools/events", {{"Last-Event-ID", "7"}}).status, 400);
  EXPECT_EQ(api.call(Method::kHead, "/v1/devtools/events").status, 200);
  EXPECT_FALSE(api.devtools().is_recording());
}

TEST_F(Devtools, ASlowListenerIsCutWithAReason) {
  listen("?types=message");
  const std::string id = create("shop:one");
  // The socket takes nothing: first the backlog fills, then the ring goes on without the listener.
  api.socket().room = 0;
  const std::string text(kMaxDevtoolsTextBytes, 'x');
  std::string events;
  for (int i = 0; i < 1'000; ++i)
    events += (i > 0 ? "," : "") + fmt::format(R"({{"type":"message","data":"{}"}})", text);
  // What the backlog takes, and what is kept.
  const std::size_t rounds = (kMaxDevtoolsKept + 2'000'000 / kMaxDevtoolsTextBytes) / 1'000 + 1;
  for (std::size_t i = 0; i < rounds; ++i)
    ASSERT_EQ(api.post("/v1/sessions/" + id + "/events", "{\"events\":[" + events + "]}").status,
              201);
  EXPECT_EQ(api.devtools().probe().cut, 0U);
  api.socket().make_room(1 << 30);
  api.run();
  EXPECT_EQ(api.devtools().probe().cut, 1U);
  EXPECT_TRUE(api.socket().taken.ends_with(": cursor_too_old\n\n"));
}

// A feed with small limits.
class SmallFeed : public ::testing::Test {
 protected:
  DevtoolsFeed::Opened listen() {
    std::optional<Result<DevtoolsFeed::Opened>> opened;
    loop_.post([&] { rt::spawn(gate_, open(opened)); });
    loop_.run_ready();
    last_ = opened && !*opened ? std::optional(opened->error().code) : std::nullopt;
    return *opened ? **opened : DevtoolsFeed::Opened{};
  }
  DevtoolsRing::Read read(const DevtoolsFeed::Opened& from) {
    std::optional<Result<DevtoolsRing::Read>> outcome;
    loop_.post([&] { rt::spawn(gate_, look(from, outcome)); });
    loop_.run_ready();
    return std::move(**outcome);
  }
  void happen(int times) {
    for (int i = 0; i < times; ++i) feed_.on_created(model::SessionState{});
  }
  rt::Task<> open(std::optional<Result<DevtoolsFeed::Opened>>& opened) {
    opened = co_await feed_.listen(std::nullopt);
  }
  rt::Task<> look(const DevtoolsFeed::Opened& from,
                  std::optional<Result<DevtoolsRing::Read>>& outcome) {
    outcome = co_await feed_.read(from.listener, from.start.after, DevtoolsFilter{});
  }
  rt::ManualTime time_;
  rt::ManualLoop loop_{time_};
  SeededRandom random_{7};
  DevtoolsFeed feed_{
      loop_, time_, random_, {.max_kept = 100, .max_waiting = 3, .max_listeners = 2}};
  rt::Gate gate_;
  std::optional<Code> last_;
};

TEST_F(SmallFeed, WhatFindsNoRoomIsDroppedCountedAndTold) {
  const auto opened = listen();
  happen(5);
  loop_.run_ready();
  happen(1);
  loop_.run_ready();
  const auto shown = wire::SseDecoder().feed(read(opened).frames);
  ASSERT_EQ(shown.size(), 5U);
  EXPECT_EQ(shown[3].type, "dropped");
  EXPECT_EQ(member(shown[3].data, "count"), "2");
  EXPECT_EQ(shown[4].type, "session.created");
  for (std::size_t i = 0; i < shown.size(); ++i)
    EXPECT_EQ(member(shown[i].data, "n"), std::to_string(i + 1));
  EXPECT_EQ(feed_.probe().dropped, 2U);
}

TEST_F(SmallFeed, HasSoManyListenersAndNoMore) {
  const auto first = listen();
  const auto second = listen();
  EXPECT_FALSE(last_);
  listen();
  EXPECT_EQ(last_, Code::kTooManyRequests);
  EXPECT_EQ(feed_.probe().refused, 1U);
  feed_.leave(first.listener);
  loop_.run_ready();
  listen();
  EXPECT_FALSE(last_);
}

TEST(DevtoolsLimits, AreThoseOfTheDocumentation) {
  const DevtoolsFeed::Options options;
  EXPECT_EQ(options.max_kept, kMaxDevtoolsKept);
  EXPECT_EQ(options.max_waiting, kMaxDevtoolsMailbox);
  EXPECT_EQ(options.max_listeners, kMaxDevtoolsListeners);
  EXPECT_GT(kDevtoolsReadEntries, 0U);
}

}  // namespace
}  // namespace reprise::api
