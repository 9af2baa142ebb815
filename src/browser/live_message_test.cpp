#include "browser/live_message.h"

#include <gtest/gtest.h>

#include <string>

#include "browser/limits.h"

namespace reprise::browser {
namespace {

template <typename Action>
Action input(const std::string& text) {
  auto parsed = parse_live_message(text);
  EXPECT_TRUE(parsed.has_value()) << (parsed ? "" : parsed.error().detail);
  return std::get<Action>(std::get<LiveInput>(*parsed).action);
}

std::string pointer_of(const std::string& text) {
  const auto parsed = parse_live_message(text);
  if (parsed || parsed.error().fields.empty()) return "none";
  return parsed.error().fields.front().pointer;
}

TEST(LiveMessage, IsReadByItsType) {
  EXPECT_TRUE(std::holds_alternative<LiveAck>(*parse_live_message(R"({"type":"ack"})")));
  EXPECT_EQ(std::get<LiveClaim>(*parse_live_message(R"({"type":"claim","leaseId":"x"})")).lease,
            "x");
  const auto down = input<MouseInput>(
      R"({"type":"mouse","action":"down","x":1.5,"y":2,"button":"right","clickCount":2,)"
      R"("modifiers":["Shift","Alt"]})");
  EXPECT_EQ(down.action, MouseAction::kDown);
  EXPECT_EQ(down.at.x, 1.5);
  EXPECT_EQ(down.button, "right");
  EXPECT_EQ(down.click_count, 2U);
  EXPECT_EQ(down.modifiers, 9U);
  EXPECT_EQ(
      input<MouseInput>(R"({"type":"mouse","action":"wheel","x":1,"y":2,"deltaY":-30})").wheel.y,
      -30);
  const auto press = input<KeyInput>(R"({"type":"key","key":"Enter"})");
  EXPECT_TRUE(press.is_down && press.is_up);
  EXPECT_FALSE(input<KeyInput>(R"({"type":"key","action":"up","key":"a"})").is_down);
  EXPECT_EQ(input<TextInput>(R"({"type":"text","text":"hé"})").text, "hé");
  EXPECT_EQ(input<NavigateInput>(R"({"type":"navigate","url":"a.example"})").url, "a.example");
  EXPECT_EQ(input<HistoryInput>(R"({"type":"reload"})").move, HistoryMove::kReload);
  EXPECT_EQ(input<TabInput>(R"({"type":"tab","action":"new","url":"u"})").url, "u");
  EXPECT_TRUE(
      input<TabInput>(
          R"({"type":"tab","action":"close","tabId":"019a0000-0000-7000-8000-000000000001"})")
          .tab.has_value());
  EXPECT_EQ(input<DialogInput>(R"({"type":"dialog","accept":true,"text":"x"})").text, "x");
  EXPECT_EQ(input<SelectInput>(R"({"type":"select","values":["a","b"]})").values.size(), 2U);
  EXPECT_TRUE(input<FilesInput>(R"({"type":"files"})").paths.empty());
  EXPECT_EQ(std::get<LiveInput>(*parse_live_message(R"({"type":"back","id":7})")).id, 7U);
}

TEST(LiveMessage, WhatIsWrongIsRefusedWithItsPlace) {
  EXPECT_EQ(pointer_of(R"({"type":"fly"})"), "/type");
  EXPECT_EQ(pointer_of(R"({})"), "/type");
  EXPECT_EQ(pointer_of(R"([])"), "");
  EXPECT_EQ(pointer_of(R"({"type":"ack","more":1})"), "/more");
  EXPECT_EQ(pointer_of(R"({"type":"key"})"), "/key");
  EXPECT_EQ(pointer_of(R"({"type":"key","key":"a","modifiers":["Hyper"]})"), "/modifiers");
  EXPECT_EQ(pointer_of(R"({"type":"mouse","x":"1","y":0})"), "/x");
  EXPECT_EQ(pointer_of(R"({"type":"mouse","action":"hover","x":1,"y":0})"), "/action");
  EXPECT_EQ(pointer_of(R"({"type":"mouse","action":"move","x":1,"y":0,"button":"left"})"),
            "/button");
  EXPECT_EQ(pointer_of(R"({"type":"tab","action":"close","tabId":"x"})"), "/tabId");
  EXPECT_EQ(pointer_of(R"({"type":"dialog","accept":1})"), "/accept");
  EXPECT_EQ(pointer_of(R"({"type":"select","values":"a"})"), "/values");
  EXPECT_EQ(pointer_of(R"({"type":"back","id":-1})"), "/id");
  EXPECT_EQ(parse_live_message("{").error().code, Code::kMalformedJson);
}

TEST(LiveMessage, HoldsNoMoreThanItMay) {
  const auto text = [](std::size_t size) {
    return R"({"type":"text","text":")" + std::string(size, 'a') + R"("})";
  };
  EXPECT_EQ(pointer_of(text(kMaxLiveTextBytes)), "none");
  EXPECT_EQ(pointer_of(text(kMaxLiveTextBytes + 1)), "/text");
  const auto values = [](std::size_t count) {
    std::string list;
    for (std::size_t i = 0; i < count; ++i) list += i == 0 ? "\"a\"" : ",\"a\"";
    return R"({"type":"select","values":[)" + list + "]}";
  };
  EXPECT_EQ(pointer_of(values(kMaxLiveValues)), "none");
  EXPECT_EQ(pointer_of(values(kMaxLiveValues + 1)), "/values");
  EXPECT_LT(6 * kMaxLiveTextBytes, 2 * kMaxLiveMessageBytes) << "escapes have room in a message";
}

TEST(LiveMessage, AnswersSayWhatWentWrong) {
  EXPECT_EQ(live_answer_json({.id = 3, .error = std::nullopt}),
            R"({"type":"answer","id":3,"ok":true})");
  EXPECT_EQ(live_answer_json({.id = {}, .error = Error{Code::kToolFailed, "dialog: asks"}}),
            R"({"type":"answer","id":null,"ok":false,"error":{"code":"dialog","message":"asks"}})");
}

}  // namespace
}  // namespace reprise::browser
