// Offsets, stored appends, producers and records: what is written is read, and nothing else is.
#include <gtest/gtest.h>

#include <limits>

#include "base/bytes.h"
#include "stream/limits.h"
#include "stream/log/append_entry.h"
#include "stream/log/content.h"
#include "stream/log/offset.h"
#include "stream/log/record.h"

namespace reprise::stream {
namespace {

TEST(Offset, IsSortableTextOfFixedSize) {
  EXPECT_EQ(offset_text({0}), "0000000000000000_0000000000000000");
  EXPECT_EQ(offset_text({42}), "0000000000000042_0000000000000000");
  EXPECT_EQ(offset_text({kMaxOffset}).size(), 33U);
  EXPECT_LT(offset_text({9}), offset_text({10}));
  for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{7}, kMaxOffset})
    EXPECT_EQ(parse_offset(offset_text({number}))->value, number);
}

TEST(Offset, OnlyWhatWasGivenOutIsTaken) {
  EXPECT_EQ(parse_read_from("-1")->after, Seq{0});
  EXPECT_TRUE(parse_read_from("now")->is_tail);
  EXPECT_FALSE(parse_read_from(offset_text({3}))->is_tail);
  for (const std::string_view bad :
       {"", "0", "-2", "NOW", "0000000000000000", "0000000000000000_000000000000000",
        "000000000000000a_0000000000000000", "0000000000000000-0000000000000000",
        "0000000000000000_0000000000000000 ", "+000000000000000_0000000000000000", "a,b"})
    EXPECT_EQ(parse_read_from(bad).error().code, Code::kBadParameter) << bad;
}

TEST(Append, KeepsMessagesAndBytesApart) {
  const std::string messages = encode_messages({"1", R"({"a":2})", R"("x,y")"});
  const auto view = decode_append(messages);
  EXPECT_EQ(view->content, R"(1,{"a":2},"x,y")");
  EXPECT_EQ(view->lengths, (std::vector<std::size_t>{1, 7, 5}));
  EXPECT_EQ(*append_content(messages), view->content);
  const std::string binary("\0\xff,\n", 4);
  EXPECT_EQ(*append_content(encode_bytes(binary)), binary);
  EXPECT_TRUE(decode_append(encode_bytes(binary))->lengths.empty());
}

TEST(Append, TheFirstPartIsWholeMessagesOrBytes) {
  const std::string messages = encode_messages({"1", R"("x,y")", "3"});
  EXPECT_EQ(*append_content(*first_part(messages, 2)), R"(1,"x,y")");
  EXPECT_EQ(*first_part(messages, 3), messages);
  EXPECT_EQ(first_part(messages, 4).error().code, Code::kBadParameter);
  EXPECT_EQ(*append_content(*first_part(encode_bytes("hello"), 2)), "he");
  EXPECT_EQ(first_part(encode_bytes("hello"), 6).error().code, Code::kBadParameter);
}

TEST(Append, DamageIsFound) {
  const std::string sound = encode_messages({"12", "3"});
  EXPECT_EQ(decode_append("").error().code, Code::kCorrupt);
  for (std::size_t size = 1; size < sound.size(); ++size)
    EXPECT_FALSE(decode_append(sound.substr(0, size))) << size;
  EXPECT_FALSE(decode_append(sound + "x"));
}

TEST(Content, AnArrayIsItsElementsOneLevelDeep) {
  const auto content = [](std::string_view body) {
    return std::string(*append_content(**encode_content(true, body)));
  };
  EXPECT_EQ(content("[[1, 2], [3]]"), "[1,2],[3]");
  EXPECT_EQ(content(R"( {"a" : 1} )"), R"({"a":1})");
  EXPECT_EQ(content("null"), "null");
  EXPECT_EQ(*encode_content(true, "[]"), std::nullopt);
  EXPECT_EQ(*encode_content(true, ""), std::nullopt);
  EXPECT_EQ(*encode_content(false, ""), std::nullopt);
  EXPECT_EQ(encode_content(true, "{").error().code, Code::kMalformedJson);
  EXPECT_EQ(*append_content(**encode_content(false, "{")), "{");
}

TEST(Producer, EveryCaseOfTheProtocol) {
  using Kind = ProducerVerdict::Kind;
  const auto kind = [](std::optional<ProducerState> known, std::uint64_t epoch, std::uint64_t seq) {
    return judge(known, {.id = "p", .epoch = epoch, .seq = seq}).kind;
  };
  EXPECT_EQ(kind(std::nullopt, 5, 0), Kind::kAccept);
  EXPECT_EQ(kind(std::nullopt, 5, 1), Kind::kGap);
  const ProducerState known{.epoch = 2, .last_seq = 7};
  EXPECT_EQ(kind(known, 1, 8), Kind::kStaleEpoch);
  EXPECT_EQ(kind(known, 3, 0), Kind::kAccept);
  EXPECT_EQ(kind(known, 3, 1), Kind::kBadStart);
  EXPECT_EQ(kind(known, 2, 7), Kind::kDuplicate);
  EXPECT_EQ(kind(known, 2, 0), Kind::kDuplicate);
  EXPECT_EQ(kind(known, 2, 8), Kind::kAccept);
  EXPECT_EQ(kind(known, 2, 9), Kind::kGap);
  EXPECT_EQ(judge(known, {.id = "p", .epoch = 2, .seq = 9}).expected, 8U);
  EXPECT_EQ(*decode_producer(encode_producer(known)), known);
  EXPECT_FALSE(decode_producer("x"));
}

LogRecord full_record() {
  LogRecord record;
  record.stream = StreamId{{1, 2, 3}};
  record.content_type = "text/plain; charset=utf-8";
  record.ttl_seconds = 60;
  record.created_at = {1'000};
  record.used_at = {2'000};
  record.is_closed = true;
  record.writer_seq = "b";
  record.closed_by = ProducerClaim{"p", 1, 2};
  record.origin = ForkOrigin{"a/b", 4, 1, 2};
  record.inherited = {{StreamId{{9}}, 0, 3}, {StreamId{{8}}, 3, 4}};
  record.base = 4;
  record.forks = 2;
  record.filed_expiry = TimePoint{62'000};
  return record;
}

TEST(LogRecord, IsReadAsItWasWritten) {
  for (const LogRecord& record : {LogRecord{}, full_record()}) {
    const std::string bytes = encode_log(record);
    EXPECT_EQ(encode_log(*decode_log(bytes)), bytes);
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_FALSE(decode_log(bytes.substr(0, size))) << size;
    EXPECT_FALSE(decode_log(bytes + "x"));
  }
  const LogRecord read = *decode_log(encode_log(full_record()));
  EXPECT_EQ(read.inherited, full_record().inherited);
  EXPECT_EQ(read.origin, full_record().origin);
  EXPECT_EQ(read.writer_seq, "b");
}

TEST(LogRecord, TimesThatTheClockCannotHoldAreDamage) {
  LogRecord record;
  record.ttl_seconds = kMaxTtlSeconds;
  EXPECT_TRUE(decode_log(encode_log(record)));
  record.ttl_seconds = kMaxTtlSeconds + 1;
  EXPECT_FALSE(decode_log(encode_log(record)));
  record = {};
  record.used_at = {std::numeric_limits<std::int64_t>::max()};
  EXPECT_FALSE(decode_log(encode_log(record)));
}

TEST(LogRecord, TheEarlierClockDecides) {
  LogRecord record;
  EXPECT_FALSE(record.is_expired({1'000'000}));
  record.used_at = {1'000};
  record.ttl_seconds = 2;
  EXPECT_FALSE(record.is_expired({2'999}));
  EXPECT_TRUE(record.is_expired({3'000}));
  record.expires_at = TimePoint{2'500};
  EXPECT_TRUE(record.is_expired({2'500}));
}

TEST(LogRecord, MediaTypesAreComparedWithoutParametersAndCase) {
  EXPECT_TRUE(is_same_media_type("Text/Plain", "text/plain; charset=utf-8"));
  EXPECT_FALSE(is_same_media_type("text/plain", "text/html"));
  EXPECT_EQ(path_of_log_expiry(log_expiry_key({5}, "a/b")), "a/b");
  EXPECT_LT(log_expiry_key({5}, "z"), log_expiry_end({5}));
  EXPECT_GE(log_expiry_key({6}, ""), log_expiry_end({5}));
}

}  // namespace
}  // namespace reprise::stream
