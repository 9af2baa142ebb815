// The client against a real socket whose other end says exactly what a test tells it to.
#include "server/cli/client.h"

#include <gtest/gtest.h>

#include "base/time.h"
#include "rt/gate.h"
#include "server/cli/call.h"

namespace reprise::server::cli {
namespace {

using rt::Task;

// What the server does with one connection: for each text, waits for a whole request and sends it.
// After the last one it closes.
using Script = std::vector<std::string>;

// A server on the same loop as the client.
class ScriptedServer {
 public:
  ScriptedServer(rt::RealLoop& loop, std::vector<Script> scripts) : scripts_(std::move(scripts)) {
    auto listener = rt::Listener::bind(loop, {"127.0.0.1", 0});
    EXPECT_TRUE(listener);
    listener_ = std::move(*listener);
    listener_->start({&loop}, [this](rt::RealLoop&, std::unique_ptr<rt::Socket> socket) {
      EXPECT_LT(connections_, scripts_.size());
      if (connections_ >= scripts_.size()) return;
      rt::spawn(gate_, serve(std::move(socket), scripts_[connections_++]));
    });
  }
  Url url() const { return {.host = "127.0.0.1", .port = listener_->local().port}; }
  const std::vector<std::string>& requests() const { return requests_; }
  std::size_t connections() const { return connections_; }
  Task<> stop() {
    listener_->stop();
    gate_.close();
    co_await gate_.empty();
  }

 private:
  Task<> serve(std::unique_ptr<rt::Socket> socket, Script script) {
    std::array<char, 4096> buffer{};
    for (const std::string& answer : script) {
      std::string request;
      while (request.find("\r\n\r\n") == std::string::npos) {
        const auto count = co_await socket->read_some(buffer);
        if (!count || *count == 0) co_return;
        request.append(buffer.data(), *count);
      }
      requests_.push_back(request);
      EXPECT_TRUE(co_await socket->write(answer));
    }
    socket->close();
  }

  std::vector<Script> scripts_;
  rt::Gate gate_;
  std::unique_ptr<rt::Listener> listener_;
  std::vector<std::string> requests_;
  std::size_t connections_ = 0;
};

std::string ok(std::string_view body) {
  return fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
}

struct Conversation {
  std::vector<Result<wire::Response>> responses;
  std::vector<std::string> requests;
  std::size_t connections = 0;
};

Task<bool> hold(Client& client, ScriptedServer& server, std::vector<ClientRequest> requests,
                Conversation& conversation) {
  for (ClientRequest& request : requests)
    conversation.responses.push_back(co_await client.send(std::move(request)));
  conversation.requests = server.requests();
  conversation.connections = server.connections();
  co_return true;
}

Task<bool> drive(ScriptedServer& server, rt::RealLoop& loop, std::vector<ClientRequest> requests,
                 std::string token, Conversation& conversation, std::optional<Client>& client) {
  client.emplace(loop, server.url(), std::move(token), nullptr,
                 ClientTimeouts{.response = Millis{5'000}});
  co_await hold(*client, server, std::move(requests), conversation);
  client.reset();
  co_await server.stop();
  co_return true;
}

Conversation converse(std::vector<Script> scripts, std::vector<ClientRequest> requests,
                      std::string token = "") {
  Conversation conversation;
  rt::RealLoop loop;
  std::optional<Client> client;
  ScriptedServer server(loop, std::move(scripts));
  run_to_end(loop,
             drive(server, loop, std::move(requests), std::move(token), conversation, client));
  return conversation;
}

TEST(Client, SendsTheTokenAndReadsTheAnswer) {
  const auto held = converse({{ok("{}")}}, {{.target = "/v1/sessions?limit=1"}}, "rp_secret");
  ASSERT_TRUE(held.responses[0]);
  EXPECT_EQ(held.responses[0]->status, 200);
  EXPECT_EQ(held.responses[0]->body, "{}");
  EXPECT_TRUE(
      held.requests[0].starts_with("GET /v1/sessions?limit=1 HTTP/1.1\r\nHost: 127.0.0.1:"));
  EXPECT_NE(held.requests[0].find("\r\nAuthorization: Bearer rp_secret\r\n"), std::string::npos);
}

TEST(Client, KeepsTheConnectionForTheNextRequest) {
  const auto held = converse({{ok("1"), ok("2")}}, {{.target = "/a"}, {.target = "/b"}});
  ASSERT_TRUE(held.responses[1]);
  EXPECT_EQ(held.responses[1]->body, "2");
  EXPECT_EQ(held.connections, 1U);
}

TEST(Client, SendsARepeatableRequestAgainWhenTheKeptConnectionIsDead) {
  const auto held = converse({{ok("1")}, {ok("2")}}, {{.target = "/a"}, {.target = "/b"}});
  ASSERT_TRUE(held.responses[1]) << held.responses[1].error().detail;
  EXPECT_EQ(held.responses[1]->body, "2");
  EXPECT_EQ(held.connections, 2U);
}

TEST(Client, DoesNotRepeatWhatMustHappenOnce) {
  const auto held = converse(
      {{ok("1")}}, {{.target = "/a"}, {.method = "POST", .target = "/b", .is_repeatable = false}});
  EXPECT_TRUE(held.responses[0]);
  EXPECT_FALSE(held.responses[1]);
  EXPECT_EQ(held.connections, 1U);
}

TEST(Client, OpensAnewWhenTheServerCloses) {
  const auto held =
      converse({{"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\n1"}, {ok("2")}},
               {{.target = "/a"}, {.target = "/b", .is_repeatable = false}});
  ASSERT_TRUE(held.responses[1]);
  EXPECT_EQ(held.connections, 2U);
}

TEST(Client, ATruncatedOrMalformedAnswerIsAnError) {
  EXPECT_FALSE(converse({{"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n1"}}, {{.target = "/"}})
                   .responses[0]);
  EXPECT_FALSE(converse({{"SSH-2.0-OpenSSH\r\n\r\n"}}, {{.target = "/"}}).responses[0]);
}

TEST(Client, AHeaderThatWouldBreakTheRequestIsNeverSent) {
  const auto held = converse({}, {{.target = "/", .headers = {{"Idempotency-Key", "a\r\nX: y"}}}});
  ASSERT_FALSE(held.responses[0]);
  EXPECT_EQ(held.responses[0].error().code, Code::kBadParameter);
  const auto token = converse({}, {{.target = "/"}}, "rp_\nsecret");
  ASSERT_FALSE(token.responses[0]);
  EXPECT_EQ(token.responses[0].error().detail.find("secret"), std::string::npos);
}

TEST(Client, ARefusedConnectionNamesTheServerAndNotTheToken) {
  rt::RealLoop loop;
  std::uint16_t free_port = 0;
  {
    rt::RealLoop other;
    free_port = (*rt::Listener::bind(other, {"127.0.0.1", 0}))->local().port;
  }
  Client client(loop, {.host = "127.0.0.1", .port = free_port}, "rp_secret");
  const auto response = run_to_end(loop, client.send({.target = "/"}));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, Code::kIo);
  EXPECT_NE(response.error().detail.find(std::to_string(free_port)), std::string::npos);
  EXPECT_EQ(response.error().detail.find("rp_secret"), std::string::npos);
}

class Collector final : public StreamReader {
 public:
  void on_open() override { is_open = true; }
  bool on_bytes(std::string_view bytes) override {
    text += bytes;
    return text.find(stop) == std::string::npos;
  }
  bool is_open = false;
  std::string text;
  std::string stop = "STOP";
};

Task<bool> drive_stream(ScriptedServer& server, rt::RealLoop& loop, StreamReader& reader,
                        Result<wire::Response>& response) {
  {
    Client client(loop, server.url(), "");
    response = co_await client.stream({.target = "/stream"}, reader);
  }
  co_await server.stop();
  co_return true;
}

Result<wire::Response> read_stream(std::string answer, StreamReader& reader) {
  Result<wire::Response> response = fail(Code::kInternal);
  rt::RealLoop loop;
  ScriptedServer server(loop, {{std::move(answer)}});
  run_to_end(loop, drive_stream(server, loop, reader, response));
  return response;
}

TEST(ClientStream, GivesBytesAsTheyComeAndStopsWhenTheReaderHasEnough) {
  Collector collector;
  const auto response = read_stream(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n4\r\nSTOP\r\n",
      collector);
  ASSERT_TRUE(response) << response.error().detail;
  EXPECT_TRUE(collector.is_open);
  EXPECT_EQ(collector.text, "helloSTOP");
}

TEST(ClientStream, AStreamThatTheServerEndsIsALoss) {
  Collector whole;
  const auto ended = read_stream(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", whole);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, Code::kClosed);
  EXPECT_EQ(whole.text, "hi");
  Collector cut;
  EXPECT_FALSE(
      read_stream("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n", cut));
  EXPECT_EQ(cut.text, "hi");
}

TEST(ClientStream, ARefusalComesBackWhole) {
  Collector collector;
  const auto response =
      read_stream("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}", collector);
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 404);
  EXPECT_EQ(response->body, "{}");
  EXPECT_FALSE(collector.is_open);
}

TEST(ClientStream, AFileMayEnd) {
  class File final : public StreamReader {
   public:
    void on_open() override {}
    bool on_bytes(std::string_view bytes) override {
      text += bytes;
      return true;
    }
    bool may_end() const override { return true; }
    std::string text;
  };
  File whole;
  EXPECT_TRUE(read_stream("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", whole));
  EXPECT_EQ(whole.text, "hi");
  File cut;
  EXPECT_FALSE(read_stream("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhi", cut));
}

class Text final : public UploadSource {
 public:
  Text(std::string text, std::optional<std::uint64_t> size) : rest_(std::move(text)), size_(size) {}
  Result<std::size_t> read(std::span<char> buffer) override {
    const std::size_t count = std::min(buffer.size(), rest_.size());
    std::copy_n(rest_.begin(), count, buffer.begin());
    rest_.erase(0, count);
    return count;
  }
  std::optional<std::uint64_t> size() const override { return size_; }

 private:
  std::string rest_;
  std::optional<std::uint64_t> size_;
};

Task<bool> drive_upload(ScriptedServer& server, rt::RealLoop& loop, UploadSource& source,
                        Result<wire::Response>& response) {
  {
    Client client(loop, server.url(), "");
    response = co_await client.upload({.method = "PUT", .target = "/file"}, source);
  }
  co_await server.stop();
  co_return true;
}

struct Uploaded {
  Result<wire::Response> response = fail(Code::kInternal);
  std::vector<std::string> requests;
};

// The second answer comes when the body has, which ends in an empty line for these tests.
Uploaded upload(Script script, Text source) {
  Uploaded uploaded;
  rt::RealLoop loop;
  ScriptedServer server(loop, {std::move(script)});
  run_to_end(loop, drive_upload(server, loop, source, uploaded.response));
  uploaded.requests = server.requests();
  return uploaded;
}

TEST(ClientUpload, SendsTheBodyWhenTheServerWantsIt) {
  const std::string go_on = "HTTP/1.1 100 Continue\r\n\r\n";
  const auto sized = upload({go_on, ok("{}")}, Text("body\r\n\r\n", 8));
  ASSERT_TRUE(sized.response);
  EXPECT_NE(sized.requests[0].find("Content-Length: 8\r\n"), std::string::npos);
  EXPECT_NE(sized.requests[0].find("Expect: 100-continue\r\n"), std::string::npos);
  EXPECT_EQ(sized.requests[1], "body\r\n\r\n");
  const auto chunked = upload({go_on, ok("{}")}, Text("body", std::nullopt));
  ASSERT_TRUE(chunked.response);
  EXPECT_NE(chunked.requests[0].find("Transfer-Encoding: chunked\r\n"), std::string::npos);
  EXPECT_EQ(chunked.requests[1], "4\r\nbody\r\n0\r\n\r\n");
}

TEST(ClientUpload, SpareTheBodyOfWhatIsRefused) {
  const auto refused =
      upload({"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\n{}"}, Text("body", 4));
  ASSERT_TRUE(refused.response);
  EXPECT_EQ(refused.response->status, 413);
  EXPECT_EQ(refused.requests.size(), 1U);
}

TEST(ClientUpload, OfNothingExpectsNothing) {
  const auto empty = upload({ok("{}")}, Text("", 0));
  ASSERT_TRUE(empty.response);
  EXPECT_EQ(empty.requests[0].find("Expect"), std::string::npos);
}

TEST(ClientUpload, OfAFileThatShrinksFails) {
  const auto cut = upload({"HTTP/1.1 100 Continue\r\n\r\n", ok("{}")}, Text("bo", 4));
  ASSERT_FALSE(cut.response);
  EXPECT_EQ(cut.response.error().code, Code::kBadRequest);
}

TEST(Call, TargetsAndQueriesAreEncoded) {
  EXPECT_EQ(session_target("slack:C01/x", "/events"), "/v1/sessions/slack%3AC01%2Fx/events");
  EXPECT_EQ(query({{"app", "a b"}, {"q", ""}, {"limit", "5"}}), "?app=a%20b&limit=5");
  EXPECT_EQ(query({}), "");
}

}  // namespace
}  // namespace reprise::server::cli
