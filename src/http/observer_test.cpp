// Who observes requests is told of each, and only while it watches.
#include "http/observer.h"

#include <gtest/gtest.h>

#include <atomic>

#include "http/testing.h"

namespace reprise::http {
namespace {

using testing::RawClient;
using testing::request_text;
using testing::TestServer;

class Counting final : public RequestObserver {
 public:
  void watch(bool is_watching) { set_watching(is_watching); }
  void on_request(const Exchange& exchange, int status, std::uint64_t) override {
    ++calls;
    last_status = status;
    has_route = exchange.route != nullptr;
    has_subject = exchange.subject != nullptr;
  }
  std::atomic<int> calls{0};
  std::atomic<int> last_status{0};
  std::atomic<bool> has_route{false};
  std::atomic<bool> has_subject{false};
};

ServerOptions observed_by(Counting& observer) {
  ServerOptions options;
  options.observer = &observer;
  return options;
}

TEST(RequestObserver, IsToldNothingWhileItDoesNotWatch) {
  Counting observer;
  TestServer server(observed_by(observer));
  RawClient client(server.port());
  const auto ask = [&](const char* path) {
    EXPECT_TRUE(client.send(request_text("POST", path, "", "x")));
    return client.response().status;
  };
  for (int i = 0; i < 10; ++i) EXPECT_EQ(ask("/echo"), 200);
  EXPECT_EQ(observer.calls, 0);
  observer.watch(true);
  EXPECT_EQ(ask("/echo"), 200);
  EXPECT_EQ(observer.calls, 1);
  EXPECT_TRUE(observer.has_subject);
  observer.watch(false);
  EXPECT_EQ(ask("/echo"), 200);
  EXPECT_EQ(observer.calls, 1);
}

TEST(RequestObserver, IsToldOfWhatWasRefusedToo) {
  Counting observer;
  observer.watch(true);
  TestServer server(observed_by(observer));
  RawClient client(server.port());
  ASSERT_TRUE(client.send(request_text("GET", "/nowhere", "", "")));
  EXPECT_EQ(client.response().status, 404);
  EXPECT_EQ(observer.calls, 1);
  EXPECT_EQ(observer.last_status, 404);
  EXPECT_FALSE(observer.has_route);
}

}  // namespace
}  // namespace reprise::http
