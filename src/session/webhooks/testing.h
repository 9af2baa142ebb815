// What the tests of webhooks share: sessions, their webhooks, and a receiver.
//
//     Post post;
//     post.put("audit", {.url = "https://a", .events = {"message"}});
//     post.append(session);                         // and everything that follows from it
//     EXPECT_EQ(post.receiver.seqs(), ...);
//
// Included by *_test.cpp only.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "session/testing.h"
#include "session/webhooks/service.h"
#include "wire/json.h"

namespace reprise::session::testing {

inline std::string header_of(const stream::WebhookCall& call, std::string_view name) {
  for (const auto& [key, value] : call.headers)
    if (key == name) return value;
  return {};
}

// The other side of webhooks: it writes down who was called and answers as it is told to.
class Receiver final : public stream::WebhookSender {
 public:
  explicit Receiver(rt::Loop& loop) : answered_(loop) {}
  Result<> check(std::string_view url) const override {
    if (url.starts_with("https://")) return {};
    return fail(Code::kInvalid, "only https");
  }
  rt::Task<Result<stream::WebhookReply>> call(stream::WebhookCall call,
                                              rt::CancelScope& scope) override {
    const std::string url = call.url;
    calls.push_back(std::move(call));
    ++in_flight;
    most_in_flight = std::max(most_in_flight, in_flight);
    // Status 0 is no answer yet.
    while (answer(url) == 0 && !scope.is_cancelled()) (void)co_await answered_.wait(scope);
    --in_flight;
    if (scope.is_cancelled()) co_return fail(Code::kCancelled, "given up");
    const int status = answer(url);
    if (status < 0) co_return fail(Code::kIo, "nobody is there");
    co_return stream::WebhookReply{status, {}};
  }
  // From now on, also for who waits.
  void answers(int status) {
    answer = [status](const std::string&) { return status; };
    answered_.notify();
  }
  void answers_by(std::function<int(const std::string&)> by_url) {
    answer = std::move(by_url);
    answered_.notify();
  }
  // The numbers of the events told to an address, in the order of the calls.
  std::vector<std::uint64_t> seqs(std::string_view url = "https://a") const {
    std::vector<std::uint64_t> all;
    for (const auto& call : calls) {
      if (call.url != url) continue;
      const auto body = wire::parse_json(call.body);
      all.push_back(*body->root().find("data")->find("event")->find("seq")->as_uint());
    }
    return all;
  }
  std::vector<std::string> ids() const {
    std::vector<std::string> all;
    for (const auto& call : calls) all.push_back(header_of(call, "webhook-id"));
    return all;
  }

  std::deque<stream::WebhookCall> calls;
  std::size_t in_flight = 0;
  std::size_t most_in_flight = 0;

 private:
  std::function<int(const std::string&)> answer = [](const std::string&) { return 200; };
  rt::Signal answered_;
};

// A second one over a copy of the first one's engine is a restart after kill -9.
class Post {
 public:
  explicit Post(WebhookOptions options = {},
                std::unique_ptr<store::MemoryEngine> contents = nullptr,
                TimePoint start = rt::ManualTime().now(), std::uint64_t seed = 1)
      : sessions({}, std::move(contents), start, seed),
        receiver(sessions.world.loop(0)),
        async(sessions.world.store, sessions.world.loop(0), sessions.world.pool) {
    service =
        std::make_unique<WebhookService>(sessions.world.loop(0), *sessions.service, async,
                                         sessions.world.time, sessions.random, receiver, options);
    EXPECT_TRUE(sessions.run(service->load()));
  }
  ~Post() {
    sessions.world.is_holding_commits = false;
    sessions.world.settle();
    sessions.run(closed());
  }
  std::unique_ptr<Post> restarted(WebhookOptions options = {}) {
    return std::make_unique<Post>(options, sessions.contents(), sessions.world.time.now(), 2);
  }

  template <typename T>
  T run(rt::Task<T> task, std::size_t loop = 1) {
    return sessions.world.run(sessions.world.loop(loop), std::move(task));
  }
  void make_app(std::string app = "app") {
    ASSERT_TRUE(run(sessions.service->put_app(std::move(app), {})));
  }
  Result<WebhookView> put(std::string name, WebhookConfig config, std::string app = "app") {
    return run(service->put(std::move(app), std::move(name), std::move(config)));
  }
  WebhookView get(std::string name, std::string app = "app") {
    return *run(service->get(std::move(app), std::move(name)));
  }
  void append(SessionId id, std::size_t count = 1) { ASSERT_TRUE(sessions.append(id, count)); }
  void tick() { ASSERT_TRUE(run(service->tick(), 0)); }
  // Time passes, and what is due is looked after, second by second.
  void pass(Millis time) {
    for (Millis done{0}; done < time; done += Millis{1'000}) {
      sessions.world.advance(std::min(time - done, Millis{1'000}));
      tick();
    }
  }
  // A long time, with a look at its end only.
  void pass_at_once(Millis time) {
    sessions.world.time.advance(time);
    tick();
  }
  std::vector<store::ScannedRecord> records(const std::string& prefix = "h") {
    return sessions.world.store
        .scan({.begin = prefix, .end = prefix_end(prefix), .limit = 100'000},
              store::ReadMode::kBlocking)
        ->records;
  }
  StreamId outbox(const std::string& app = "app") {
    return *StreamId::from_bytes(
        (*sessions.world.store.get(outbox_key(app), store::ReadMode::kBlocking))->value);
  }
  Seq first(StreamId stream) {
    return *sessions.world.store.first(stream, store::ReadMode::kBlocking);
  }
  Seq head(StreamId stream) {
    return *sessions.world.store.head(stream, store::ReadMode::kBlocking);
  }

  Sessions sessions;
  Receiver receiver;
  store::AsyncStore async;
  std::unique_ptr<WebhookService> service;

 private:
  rt::Task<bool> closed() {
    co_await service->close();
    co_return true;
  }
};

inline WebhookConfig messages_to(std::string url = "https://a") {
  return {.url = std::move(url), .events = {"message"}};
}

}  // namespace reprise::session::testing
