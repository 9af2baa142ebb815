#include "model/event.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/bytes.h"
#include "wire/json.h"

namespace reprise::model {
namespace {

constexpr TimePoint kAt{1'794'766'382'117};

TEST(Event, TheTypesOfTheServerAreReserved) {
  for (const std::string_view type :
       {"session_created", "status_change",   "input_required",   "input_received",
        "tool_started",    "tool_finished",   "artifact_created", "artifact_deleted",
        "module_linked",   "module_unlinked", "context_opened",   "context_closed",
        "tab_opened",      "tab_updated",     "tab_closed",       "command",
        "session_reset",   "session_updated", "input_queued",     "input_started",
        "input_finished"}) {
    EXPECT_TRUE(is_reserved_type(type)) << type;
    EXPECT_TRUE(is_well_formed_type(type)) << type;
  }
  for (const std::string_view type : {"log", "plan_update", "diff", "message", "checkpoint",
                                      "agent_event", "commands", "tab", ""})
    EXPECT_FALSE(is_reserved_type(type)) << type;
}

TEST(Event, ATypeIsALowerCaseWordOfAtMost64Bytes) {
  for (const std::string& type :
       {std::string("a"), std::string("log"), std::string("my.app_v2"), std::string(64, 'x')})
    EXPECT_TRUE(is_well_formed_type(type)) << type;
  for (const std::string& type :
       {std::string(), std::string("A"), std::string("1a"), std::string("_a"), std::string(".a"),
        std::string("a-b"), std::string("a b"), std::string("aB"), std::string("a\n"),
        std::string("\xc3\xa4"), std::string("a\0", 2), std::string(65, 'x')})
    EXPECT_FALSE(is_well_formed_type(type)) << type;
}

TEST(Event, AnEntryIsReadBack) {
  const Event event{.type = "message", .at = kAt, .data = R"({"text":"hi"})", .by = "agent-7"};
  const std::string bytes = encode_entry(event, {.message_count = 41});
  const auto entry = decode_entry(bytes);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->type, "message");
  EXPECT_EQ(entry->at, kAt);
  EXPECT_EQ(entry->data, R"({"text":"hi"})");
  EXPECT_EQ(entry->by, "agent-7");
  EXPECT_EQ(entry->counters.message_count, 41U);
}

TEST(Event, ExtremeTimesAndCountersAreReadBack) {
  for (const std::int64_t ms :
       {std::int64_t{0}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min(),
        std::numeric_limits<std::int64_t>::max()}) {
    const EntryCounters counters{std::numeric_limits<std::uint64_t>::max()};
    const std::string bytes =
        encode_entry({.type = "log", .at = {ms}, .data = "1", .by = {}}, counters);
    const auto entry = decode_entry(bytes);
    ASSERT_TRUE(entry);
    EXPECT_EQ(entry->at.ms, ms);
    EXPECT_EQ(entry->counters.message_count, counters.message_count);
  }
}

TEST(Event, TheStoredFormIsTheDocumentedOne) {
  const Event event{.type = "log", .at = {300}, .data = "null", .by = "me"};
  EXPECT_EQ(to_hex(encode_entry(event, {.message_count = 5})),
            "01"        // version
            "ac02"      // at
            "05"        // message_count
            "036c6f67"  // type
            "026d65"    // by
            "00"        // extra
            "6e756c6c");
}

TEST(Event, WhatALaterVersionPutsInExtraIsIgnored) {
  const auto bytes = from_hex("01ac0205036c6f67026d6503ffffff6e756c6c");
  const auto entry = decode_entry(*bytes);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->data, "null");
  EXPECT_EQ(entry->by, "me");
}

TEST(Event, AnEntryCutOffAnywhereBeforeItsDataIsCorrupt) {
  const std::string bytes = encode_entry({.type = "log", .at = kAt, .data = "7", .by = "me"}, {});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto entry = decode_entry(std::string_view(bytes).substr(0, size));
    ASSERT_FALSE(entry) << size;
    EXPECT_EQ(entry.error().code, Code::kCorrupt);
  }
}

TEST(Event, DamagedEntriesAreCorrupt) {
  for (const std::string_view hex : {
           "02ac0205036c6f67026d65006e756c6c",  // another version
           "00ac0205036c6f67026d65006e756c6c",  // another version
           "01ac8200"
           "05036c6f67026d65006e756c6c",        // a number spelt too long
           "01ac0205034c6f67026d65006e756c6c",  // type "Log"
           "01ac020500026d65006e756c6c",        // no type
           "01ac0205ff6c6f67026d65006e756c6c",  // a length beyond the end
       }) {
    const auto bytes = from_hex(hex);
    ASSERT_TRUE(bytes) << hex;
    const auto entry = decode_entry(*bytes);
    ASSERT_FALSE(entry) << hex;
    EXPECT_EQ(entry.error().code, Code::kCorrupt) << hex;
  }
}

TEST(EventDeathTest, AnEntryThatCouldNotBeReadAgainIsNeverWritten) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(encode_entry({.type = "Not a type", .at = kAt, .data = "1", .by = {}}, {}),
               "Not a type");
  EXPECT_DEATH(encode_entry({.type = "log", .at = kAt, .data = "", .by = {}}, {}), "log");
}

TEST(Event, ClientsSeeTheEventAsTheContractSays) {
  std::string out = "before ";
  append_event_json(out, Seq{7},
                    {.type = "log", .at = kAt, .data = R"({"a":1.0})", .by = {}, .counters = {}});
  EXPECT_EQ(out,
            R"(before {"seq":7,"type":"log","at":"2026-11-15T18:13:02.117Z","data":{"a":1.0}})");
  out.clear();
  append_event_json(out, Seq{18'446'744'073'709'551'615ULL},
                    {.type = "log", .at = kAt, .data = "null", .by = "a \"b\"", .counters = {}});
  EXPECT_EQ(
      out,
      R"({"seq":18446744073709551615,"type":"log","at":"2026-11-15T18:13:02.117Z","data":null,)"
      R"("by":"a \"b\""})");
  EXPECT_TRUE(wire::parse_json(out));
}

}  // namespace
}  // namespace reprise::model
