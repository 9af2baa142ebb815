#include "wire/json_rpc.h"

#include <gtest/gtest.h>

#include "wire/limits.h"

namespace reprise::wire {
namespace {

// What a text is taken for: "request id method", "notification method", "response id", or the code
// and the id of the refusal.
std::string taken_for(std::string text) {
  const auto document = parse_json(std::move(text));
  if (!document) return "not JSON";
  const auto message = parse_json_rpc(*document);
  if (!message) return std::to_string(message.error().code) + ' ' + message.error().id;
  switch (message->kind) {
    case RpcKind::kRequest: return "request " + message->id + ' ' + message->method;
    case RpcKind::kNotification: return "notification " + message->method;
    case RpcKind::kResponse: return "response " + message->id;
  }
  return "?";
}

TEST(JsonRpc, TellsRequestsNotificationsAndResponsesApart) {
  EXPECT_EQ(taken_for(R"({"jsonrpc":"2.0","id":1,"method":"ping"})"), "request 1 ping");
  EXPECT_EQ(taken_for(R"({"jsonrpc":"2.0","id":"a\u0062","method":"x","params":{"y":1}})"),
            R"(request "a\u0062" x)");
  EXPECT_EQ(taken_for(R"({"jsonrpc":"2.0","id":-7,"method":"x","more":[]})"), "request -7 x");
  EXPECT_EQ(taken_for(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"),
            "notification notifications/initialized");
  EXPECT_EQ(taken_for(R"({"jsonrpc":"2.0","id":2,"result":{}})"), "response 2");
  EXPECT_EQ(taken_for(R"({"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":""}})"),
            "response ");
}

TEST(JsonRpc, RefusesWhatIsNoMessageAndSaysToWhichRequest) {
  EXPECT_EQ(taken_for("[]"), "-32600 ");
  EXPECT_EQ(taken_for(R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])"), "-32600 ");
  EXPECT_EQ(taken_for("7"), "-32600 ");
  EXPECT_EQ(taken_for("{}"), "-32600 ");
  EXPECT_EQ(taken_for(R"({"id":1,"method":"ping"})"), "-32600 1");
  EXPECT_EQ(taken_for(R"({"jsonrpc":2.0,"id":1,"method":"ping"})"), "-32600 1");
  EXPECT_EQ(taken_for(R"({"jsonrpc":"2.0","id":1,"method":7})"), "-32600 1");
  EXPECT_EQ(taken_for(R"({"jsonrpc":"2.0","id":1,"method":""})"), "-32600 1");
  EXPECT_EQ(taken_for(R"({"jsonrpc":"2.0","id":1,"method":"x","params":[1]})"), "-32600 1");
  EXPECT_EQ(taken_for(R"({"jsonrpc":"2.0","id":1})"), "-32600 1");
  EXPECT_EQ(taken_for(R"({"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1}})"), "-32600 1");
  EXPECT_EQ(taken_for(R"({"jsonrpc":"2.0","id":1,"error":{}})"), "-32600 1");
  EXPECT_EQ(taken_for(R"({"jsonrpc":"2.0","result":{}})"), "-32600 ");
  for (const char* id : {"null", "1.5", "1e3", "true", "[]", "{}"})
    EXPECT_EQ(taken_for(R"({"jsonrpc":"2.0","method":"x","id":)" + std::string(id) + '}'),
              "-32600 ")
        << id;
}

TEST(JsonRpc, IdsAndMethodsAreOnlySoLong) {
  const auto with = [](std::size_t id_bytes, std::size_t method_bytes) {
    return R"({"jsonrpc":"2.0","id":")" + std::string(id_bytes - 2, 'i') + R"(","method":")" +
           std::string(method_bytes, 'm') + "\"}";
  };
  EXPECT_TRUE(taken_for(with(kMaxRpcIdBytes, kMaxRpcMethodBytes)).starts_with("request"));
  EXPECT_EQ(taken_for(with(kMaxRpcIdBytes + 1, 1)), "-32600 ");
  EXPECT_TRUE(taken_for(with(3, kMaxRpcMethodBytes + 1)).starts_with("-32600 \"i\""));
}

TEST(JsonRpc, WhatIsWrittenIsReadAgain) {
  std::string out;
  append_json_rpc_result(out, "\"a\"", "{}");
  EXPECT_EQ(out, R"({"jsonrpc":"2.0","id":"a","result":{}})");
  EXPECT_EQ(taken_for(out), "response \"a\"");
  out.clear();
  append_json_rpc_error(out, {.code = kRpcInvalidParams, .message = "a \"b\"", .id = "7"});
  EXPECT_EQ(out, R"({"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"a \"b\""}})");
  EXPECT_EQ(taken_for(out), "response 7");
  out.clear();
  append_json_rpc_error(out, {.code = 1, .message = "m", .data = "[1]"});
  EXPECT_EQ(out, R"({"jsonrpc":"2.0","error":{"code":1,"message":"m","data":[1]}})");
  out.clear();
  append_json_rpc_notification(out, "notifications/progress", R"({"progress":1})");
  EXPECT_EQ(taken_for(out), "notification notifications/progress");
  out.clear();
  append_json_rpc_notification(out, "n", "");
  EXPECT_EQ(out, R"({"jsonrpc":"2.0","method":"n"})");
}

}  // namespace
}  // namespace reprise::wire
