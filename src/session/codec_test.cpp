// What is stored and what is handed out as a position, there and back.
#include <filesystem>
#include <fstream>

#include "base/bytes.h"
#include "model/testing.h"
#include "session/feed.h"
#include "session/keys.h"
#include "session/monitor_id.h"
#include "session/testing.h"

namespace reprise::session {
namespace {

using testing::code_of;

StoredSession sample(SeededRandom& random) {
  StoredSession stored;
  stored.state = model::created();
  stored.state.metadata = "{\"a\":[1,2]}";
  stored.state.ttl_seconds = random.next_u64() % 1'000 + 1;
  stored.state.owner_agent = "agent";
  stored.stream = StreamId::make(model::kStart, random);
  if (random.next_u64() % 2 == 0) stored.filed_expiry = TimePoint{1'700'000'000'123};
  if (random.next_u64() % 2 == 0) stored.slid_at = TimePoint{1'700'000'000'456};
  stored.revision = random.next_u64() % 1'000;
  stored.version = 7;
  return stored;
}

TEST(StoredSessionCodec, GivesBackWhatWasStored) {
  SeededRandom random(stream::testing::test_seed());
  for (int i = 0; i < 100; ++i) {
    const StoredSession stored = sample(random);
    const std::string bytes = encode_stored(stored);
    const auto decoded = decode_stored(bytes, 7);
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->state, stored.state);
    EXPECT_EQ(decoded->stream, stored.stream);
    EXPECT_EQ(decoded->filed_expiry, stored.filed_expiry);
    EXPECT_EQ(decoded->slid_at, stored.slid_at);
    EXPECT_EQ(decoded->revision, stored.revision);
    EXPECT_EQ(decoded->version, 7U);
    for (std::size_t cut = 0; cut < bytes.size(); ++cut)
      EXPECT_EQ(code_of(decode_stored(bytes.substr(0, cut), 1)), Code::kCorrupt);
  }
}

TEST(StoredSessionCodec, ASnapshotIsBroughtUpToItsNewestEntry) {
  SeededRandom random(1);
  StoredSession stored = sample(random);
  stored.slid_at.reset();
  const model::Event event{.type = "message", .at = model::kStart + Millis{5}};
  const store::StoredEntry newest{Seq{9}, model::encode_entry(event, {.message_count = 4})};
  ASSERT_TRUE(bring_up_to(stored, newest));
  EXPECT_EQ(stored.state.head, Seq{9});
  EXPECT_EQ(stored.state.message_count, 4U);
  EXPECT_EQ(stored.state.last_activity_at, event.at);
  EXPECT_EQ(code_of(bring_up_to(stored, store::StoredEntry{Seq{10}, "rubbish"})), Code::kCorrupt);
  // Activity that may not have been written: up to a tenth of the window, but not after now.
  stored.slid_at = event.at + Millis{100};
  stored.state.ttl_seconds = 100;
  ASSERT_TRUE(bring_up_to(stored, newest));
  EXPECT_EQ(stored.state.last_activity_at, *stored.slid_at);
  grant_unwritten_activity(stored, *stored.slid_at + Millis{1});
  EXPECT_EQ(stored.state.last_activity_at, *stored.slid_at + Millis{1});
  grant_unwritten_activity(stored, *stored.slid_at + std::chrono::hours{1});
  EXPECT_EQ(stored.state.last_activity_at, *stored.slid_at + std::chrono::seconds{10});
}

TEST(FeedCodec, GivesBackWhatWasStored) {
  SeededRandom random(stream::testing::test_seed());
  for (int i = 0; i < 100; ++i) {
    const StoredSession stored = sample(random);
    FeedEntry entry{.id = stored.state.id, .before = {}, .after = {}};
    if (i % 2 == 0) entry.before = filterable(stored.state);
    if (i % 4 == 0) entry.before->pools = {"default", "safe"};
    if (i % 3 != 0) entry.after = stored;
    const std::string bytes = encode_feed_entry(entry);
    const auto decoded = decode_feed_entry(bytes);
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->id, entry.id);
    ASSERT_EQ(decoded->before.has_value(), entry.before.has_value());
    ASSERT_EQ(decoded->after.has_value(), entry.after.has_value());
    if (entry.before) {
      EXPECT_EQ(decoded->before->app, entry.before->app);
      EXPECT_EQ(decoded->before->status, entry.before->status);
      EXPECT_EQ(decoded->before->created_at, entry.before->created_at);
      EXPECT_EQ(decoded->before->pools, entry.before->pools);
    }
    if (entry.after) EXPECT_EQ(decoded->after->state, stored.state);
    EXPECT_EQ(encode_feed_entry(*decoded), bytes);
    for (std::size_t cut = 0; cut < bytes.size(); ++cut)
      EXPECT_EQ(code_of(decode_feed_entry(bytes.substr(0, cut))), Code::kCorrupt);
    EXPECT_EQ(code_of(decode_feed_entry(bytes + "x")), Code::kCorrupt);
  }
}

TEST(FeedCodec, RefusesBytesThatWereNeverWritten) {
  SeededRandom random(1);
  const StoredSession stored = sample(random);
  std::string bytes = encode_feed_entry(
      {.id = stored.state.id, .before = filterable(stored.state), .after = std::nullopt});
  // The byte that says whether the session waits is 0 or 1; it stands before the creation time.
  std::string created;
  put_varint(created, static_cast<std::uint64_t>(stored.state.created_at.ms));
  bytes[bytes.size() - created.size() - 1] = '\2';
  EXPECT_EQ(code_of(decode_feed_entry(bytes)), Code::kCorrupt);
}

TEST(MonitorIdCodec, GivesBackThePosition) {
  SeededRandom random(stream::testing::test_seed());
  for (int i = 0; i < 100; ++i) {
    MonitorId id;
    for (Seq& head : id.heads) head = Seq{random.next_u64() >> (random.next_u64() % 64)};
    const std::string text = encode_monitor_id(id);
    EXPECT_EQ(*decode_monitor_id(text), id);
    EXPECT_EQ(code_of(decode_monitor_id(text + "AA")), Code::kBadCursor);
    EXPECT_EQ(code_of(decode_monitor_id(text.substr(0, text.size() - 2))), Code::kBadCursor);
  }
  for (const char* text : {"", "A", "!", "AAAA", "not an id"})
    EXPECT_EQ(code_of(decode_monitor_id(text)), Code::kBadCursor) << text;
}

TEST(Keys, OfAnIndexEndInTheIdAndSortByTime) {
  const SessionId id = model::test_id();
  model::SessionState state = model::created();
  state.owner_agent = "agent";
  state.pause_reasons.insert(model::PauseReason::kInput);
  state.ended_at = model::kStart;
  for (const std::string& key : index_keys(state)) EXPECT_EQ(id_of_index_key(key), id);
  EXPECT_LT(expiry_key(TimePoint{1}, id), expiry_key(TimePoint{256}, id));
  EXPECT_LT(expiry_key(TimePoint{5}, id), expiry_range_end(TimePoint{5}));
  EXPECT_GE(expiry_key(TimePoint{6}, SessionId{}), expiry_range_end(TimePoint{5}));
  EXPECT_EQ(id_of_index_key("short"), std::nullopt);
  const StreamId stream = feed_stream(3);
  EXPECT_EQ(stream_of_deleted_key(deleted_key(stream)), stream);
  EXPECT_EQ(stream_of_deleted_key("d"), std::nullopt);
}

}  // namespace
}  // namespace reprise::session
