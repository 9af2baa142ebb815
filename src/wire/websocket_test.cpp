#include "wire/websocket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "wire/limits.h"

namespace reprise::wire {
namespace {

using ::testing::ElementsAre;
using enum WebSocketOpcode;

constexpr WebSocketMask kMask{0x37, static_cast<char>(0xfa), 0x21, 0x3d};
constexpr std::size_t kWhole = std::string::npos;

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text.push_back(static_cast<char>(value));
  return text;
}

std::string frame(WebSocketOpcode opcode, std::string_view payload, bool is_final = true,
                  const std::optional<WebSocketMask>& mask = {}) {
  std::string out;
  append_frame(out, opcode, payload, mask, is_final);
  return out;
}

std::string described(const WebSocketEvent& event) {
  switch (event.opcode) {
    case kText: return "text " + event.payload;
    case kBinary: return "binary " + event.payload;
    case kPing: return "ping " + event.payload;
    case kPong: return "pong " + event.payload;
    case kClose: return "close " + std::to_string(event.close_code) + " " + event.payload;
    case kContinuation: break;
  }
  return "impossible";
}

// Every event in words, and last the close code of a refusal. Fed in pieces; payloads of which at
// least `room` bytes are missing are read to their place.
std::vector<std::string> decoded(std::string_view input, WebSocketDecoderOptions options,
                                 std::size_t piece = kWhole, std::size_t room = kWhole) {
  WebSocketDecoder decoder(options);
  std::vector<std::string> seen;
  const auto refused = [&](const Error& error) {
    seen.push_back(std::to_string(close_code_for(error)));
    return seen;
  };
  while (!input.empty()) {
    if (const std::span<char> place = decoder.payload_room(room); !place.empty()) {
      const std::size_t count = input.copy(place.data(), std::min(place.size(), piece));
      input.remove_prefix(count);
      if (auto filled = decoder.payload_filled(count); !filled) return refused(filled.error());
    } else {
      const auto used = decoder.feed(input.substr(0, piece));
      if (!used) return refused(used.error());
      input.remove_prefix(*used);
    }
    if (const auto event = decoder.take()) seen.push_back(described(*event));
  }
  return seen;
}

std::vector<std::string> by_client(std::string_view input, std::size_t piece = kWhole) {
  return decoded(input, {.role = WebSocketRole::kClient}, piece);
}

TEST(WebSocket, DecodesWhatTheRfcShows) {
  EXPECT_THAT(by_client(bytes({0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f})),
              ElementsAre("text Hello"));
  EXPECT_THAT(decoded(bytes({0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58}),
                      {.role = WebSocketRole::kServer}),
              ElementsAre("text Hello"));
  EXPECT_THAT(by_client(bytes({0x01, 0x03, 0x48, 0x65, 0x6c, 0x80, 0x02, 0x6c, 0x6f})),
              ElementsAre("text Hello"));
  EXPECT_THAT(by_client(bytes({0x89, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f})),
              ElementsAre("ping Hello"));
  EXPECT_THAT(decoded(bytes({0x8a, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58}),
                      {.role = WebSocketRole::kServer}),
              ElementsAre("pong Hello"));
  const std::string data256(256, 'b');
  EXPECT_THAT(by_client(bytes({0x82, 0x7e, 0x01, 0x00}) + data256),
              ElementsAre("binary " + data256));
  const std::string data64k(65'536, 'b');
  EXPECT_THAT(by_client(bytes({0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0}) + data64k),
              ElementsAre("binary " + data64k));
}

TEST(WebSocket, EncodesWhatTheRfcShows) {
  EXPECT_EQ(frame(kText, "Hello"), bytes({0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f}));
  EXPECT_EQ(frame(kText, "Hello", true, kMask),
            bytes({0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58}));
  EXPECT_EQ(frame(kText, "Hel", false) + frame(kContinuation, "lo"),
            bytes({0x01, 0x03, 0x48, 0x65, 0x6c, 0x80, 0x02, 0x6c, 0x6f}));
  std::string header;
  append_frame_header(header, kBinary, 256);
  EXPECT_EQ(header, bytes({0x82, 0x7e, 0x01, 0x00}));
  header.clear();
  append_frame_header(header, kBinary, 65'536);
  EXPECT_EQ(header, bytes({0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0}));
}

TEST(WebSocket, LengthsAtTheEdgesOfTheirForms) {
  for (const std::size_t size : {0U, 1U, 125U, 126U, 127U, 65'535U, 65'536U}) {
    const std::string payload(size, 'x');
    for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, kWhole})
      EXPECT_THAT(by_client(frame(kBinary, payload), piece), ElementsAre("binary " + payload))
          << size;
  }
}

TEST(WebSocket, ControlFramesComeBetweenTheFramesOfAMessage) {
  const std::string input = frame(kText, "one ", false) + frame(kPing, "p") +
                            frame(kContinuation, "two ", false) + frame(kPong, "q") +
                            frame(kContinuation, "", false) + frame(kContinuation, "three") +
                            frame(kBinary, "") + frame(kClose, close_payload(1000, "bye"));
  for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, std::size_t{7}, kWhole})
    EXPECT_THAT(by_client(input, piece),
                ElementsAre("ping p", "pong q", "text one two three", "binary ", "close 1000 bye"));
}

TEST(WebSocket, StopsBehindEachEvent) {
  WebSocketDecoder decoder({.role = WebSocketRole::kClient});
  const std::string first = frame(kText, "one");
  const std::string both = first + frame(kText, "two");
  EXPECT_EQ(decoder.feed(both), first.size());
  EXPECT_EQ(decoder.feed(std::string_view(both).substr(first.size())), 0U);
  EXPECT_EQ(decoder.take()->payload, "one");
  EXPECT_TRUE(decoder.is_between_messages());
  EXPECT_EQ(decoder.feed(std::string_view(both).substr(first.size(), 3)), 3U);
  EXPECT_FALSE(decoder.is_between_messages());
  EXPECT_FALSE(decoder.take());
}

struct BadInput {
  const char* what;
  std::string input;
  std::string close_code;
};

TEST(WebSocket, AClientRefusesWhatAServerMayNotSend) {
  const std::vector<BadInput> all = {
      {"reserved bit 1", bytes({0xc1, 0x00}), "1002"},
      {"reserved bit 2", bytes({0xa1, 0x00}), "1002"},
      {"reserved bit 3", bytes({0x91, 0x00}), "1002"},
      {"opcode 3", bytes({0x83, 0x00}), "1002"},
      {"opcode 7", bytes({0x87, 0x00}), "1002"},
      {"opcode 11", bytes({0x8b, 0x00}), "1002"},
      {"opcode 15", bytes({0x8f, 0x00}), "1002"},
      {"masked", frame(kText, "x", true, kMask), "1002"},
      {"fragmented ping", bytes({0x09, 0x00}), "1002"},
      {"long ping", frame(kPing, std::string(kMaxControlBytes + 1, 'x')), "1002"},
      {"continuation of nothing", frame(kContinuation, "x"), "1002"},
      {"a message inside a message", frame(kText, "x", false) + frame(kText, "y"), "1002"},
      {"125 in two bytes", bytes({0x82, 0x7e, 0x00, 125}), "1002"},
      {"65535 in eight bytes", bytes({0x82, 0x7f, 0, 0, 0, 0, 0, 0, 0xff, 0xff}), "1002"},
      {"negative length", bytes({0x82, 0x7f, 0x80, 0, 0, 0, 0, 0, 0, 0}), "1002"},
      {"half a close code", frame(kClose, "\x03"), "1002"},
      {"close code 999", frame(kClose, bytes({0x03, 0xe7})), "1002"},
      {"close code 1004", frame(kClose, bytes({0x03, 0xec})), "1002"},
      {"close code 1005", frame(kClose, bytes({0x03, 0xed})), "1002"},
      {"close code 1006", frame(kClose, bytes({0x03, 0xee})), "1002"},
      {"close code 1015", frame(kClose, bytes({0x03, 0xf7})), "1002"},
      {"close code 2999", frame(kClose, bytes({0x0b, 0xb7})), "1002"},
      {"close code 5000", frame(kClose, bytes({0x13, 0x88})), "1002"},
      {"reason not UTF-8", frame(kClose, bytes({0x03, 0xe8, 0xff})), "1007"},
      {"text not UTF-8", frame(kText, "\xc3("), "1007"},
      {"text with half a character", frame(kText, "\xe2\x82"), "1007"},
      {"surrogate", frame(kText, "\xed\xa0\x80"), "1007"},
  };
  for (const BadInput& bad : all)
    for (const std::size_t piece : {std::size_t{1}, kWhole})
      EXPECT_THAT(by_client(bad.input, piece), ElementsAre(bad.close_code)) << bad.what;
}

TEST(WebSocket, AServerRefusesFramesWithoutAMask) {
  EXPECT_THAT(decoded(frame(kText, "x"), {.role = WebSocketRole::kServer}), ElementsAre("1002"));
}

TEST(WebSocket, AVerdictNeedsNoMoreBytesThanItDependsOn) {
  WebSocketDecoder decoder({.role = WebSocketRole::kClient, .max_message_bytes = 100});
  EXPECT_FALSE(decoder.feed(bytes({0x82, 0x7e, 0x00, 101})));
  // And it stays.
  EXPECT_EQ(decoder.feed(frame(kText, "x")).error().code, Code::kMalformedFrame);
}

TEST(WebSocket, ACharacterMayBeCutByFragments) {
  EXPECT_THAT(by_client(frame(kText, "\xe2\x82", false) + frame(kContinuation, "\xac")),
              ElementsAre("text \xe2\x82\xac"));
  EXPECT_THAT(by_client(frame(kBinary, "\xff\xfe")), ElementsAre("binary \xff\xfe"));
}

TEST(WebSocket, CloseCodesThatMayBeSent) {
  EXPECT_THAT(by_client(frame(kClose, "")), ElementsAre("close 1005 "));
  for (const int code : {1000, 1001, 1003, 1007, 1011, 1014, 3000, 4999})
    EXPECT_THAT(by_client(frame(kClose, close_payload(static_cast<std::uint16_t>(code), "r"))),
                ElementsAre("close " + std::to_string(code) + " r"));
  // What follows a close is nobody's.
  EXPECT_THAT(by_client(frame(kClose, "") + "anything"), ElementsAre("close 1005 "));
}

TEST(WebSocket, AReasonIsCutBetweenCharacters) {
  EXPECT_EQ(close_payload(kCloseNoCode, "dropped"), "");
  const std::string longest(kMaxCloseReasonBytes, 'r');
  EXPECT_EQ(close_payload(4000, longest), bytes({0x0f, 0xa0}) + longest);
  EXPECT_EQ(close_payload(4000, longest + "r").size(), kMaxControlBytes);
  std::string euros;
  for (int i = 0; i < 100; ++i) euros += "\xe2\x82\xac";
  EXPECT_EQ(close_payload(4000, "r" + euros), bytes({0x0f, 0xa0}) + "r" + euros.substr(0, 120));
}

TEST(WebSocketDeathTest, ACloseCodeNobodyMaySendIsOurBug) {
  EXPECT_DEATH(close_payload(1006, ""), "assertion failed");
}

TEST(WebSocket, LimitsOfFramesAndMessages) {
  const WebSocketDecoderOptions options{
      .role = WebSocketRole::kClient, .max_frame_bytes = 10, .max_message_bytes = 15};
  const std::string ten(10, 'x');
  EXPECT_THAT(decoded(frame(kText, ten), options), ElementsAre("text " + ten));
  EXPECT_THAT(decoded(frame(kText, ten + "x"), options), ElementsAre("1009"));
  const std::string begun = frame(kText, ten, false);
  EXPECT_THAT(decoded(begun + frame(kContinuation, "fifth"), options),
              ElementsAre("text " + ten + "fifth"));
  EXPECT_THAT(decoded(begun + frame(kContinuation, "sixth!"), options), ElementsAre("1009"));
  // Frames before it do not count, nor do control frames.
  EXPECT_THAT(decoded(frame(kText, ten) + frame(kPing, ten + ten) + frame(kText, ten), options),
              ElementsAre("text " + ten, "ping " + ten + ten, "text " + ten));
}

TEST(WebSocket, AnAnnouncedLengthIsNotMemory) {
  WebSocketDecoder decoder({.role = WebSocketRole::kClient});
  std::string header;
  append_frame_header(header, kBinary, std::uint64_t{1} << 40);
  ASSERT_TRUE(decoder.feed(header + "x"));
  EXPECT_EQ(decoder.payload_room(1).size(), kMaxFrameReserve - 1);
  ASSERT_TRUE(decoder.payload_filled(kMaxFrameReserve - 1));
  EXPECT_EQ(decoder.payload_room(1).size(), kMaxFrameReserve * 3);
}

TEST(WebSocket, ALongFrameIsReadToItsPlace) {
  const std::string payload(1'000'000, 'p');
  const WebSocketDecoderOptions server{.role = WebSocketRole::kServer};
  const std::string input = frame(kText, "before", true, kMask) +
                            frame(kText, payload, false, kMask) + frame(kPing, "", true, kMask) +
                            frame(kContinuation, payload, true, kMask) +
                            frame(kText, "behind", true, kMask);
  for (const std::size_t piece : {std::size_t{1'001}, std::size_t{70'000}, kWhole})
    for (const std::size_t room : {std::size_t{1}, std::size_t{5'000}})
      EXPECT_THAT(decoded(input, server, piece, room),
                  ElementsAre("text before", "ping ", "text " + payload + payload, "text behind"));
  EXPECT_THAT(decoded(frame(kText, payload + "\xff", true, kMask), server, 999, 1),
              ElementsAre("1007"));
}

TEST(WebSocket, MasksAtEveryOffset) {
  std::mt19937 random(7);
  std::string text(100, '\0');
  for (char& c : text) c = static_cast<char>(random());
  for (std::size_t offset = 0; offset < 9; ++offset)
    for (std::size_t size = 0; size < 70; ++size) {
      std::string masked = text.substr(0, size);
      apply_mask(masked, kMask, offset);
      for (std::size_t i = 0; i < size; ++i)
        ASSERT_EQ(masked[i], static_cast<char>(text[i] ^ kMask[(offset + i) % 4]))
            << offset << ' ' << size;
    }
}

}  // namespace
}  // namespace reprise::wire
