#include "stream/idempotency.h"

#include "store/test_support.h"
#include "stream/limits.h"
#include "stream/testing.h"

namespace reprise::stream {
namespace {

constexpr TimePoint kNow{1'700'000'000'000};
const StreamId kStream = store::testing::stream_id(7);

class Ledger : public ::testing::Test {
 protected:
  std::optional<store::Record> stored(const IdempotencyClaim& claim) {
    return *engine.get(idempotency_key(kStream, claim), store::ReadMode::kBlocking);
  }
  void remember_at(const IdempotencyClaim& claim, std::string_view answer, TimePoint now) {
    store::Commit commit;
    remember(commit, kStream, claim, answer, now);
    ASSERT_TRUE(committer.commit(std::move(commit)));
  }
  // What the janitor does; how many expiry keys were due.
  std::size_t forget_what_is_due(TimePoint now) {
    const auto due = engine.scan({.begin = expiry_range_begin(), .end = expiry_range_end(now)},
                                 store::ReadMode::kBlocking);
    store::Commit commit;
    for (const auto& row : due->records)
      forget_due(commit, row.key,
                 *engine.get(*record_of_expiry(row.key), store::ReadMode::kBlocking));
    if (!commit.is_empty()) EXPECT_TRUE(committer.commit(std::move(commit)));
    return due->records.size();
  }
  std::size_t records() {
    return engine.scan({.begin = {}, .end = {}}, store::ReadMode::kBlocking)->records.size();
  }

  store::MemoryEngine engine;
  store::testing::ManualCommitter committer{engine};
};

TEST_F(Ledger, GivesTheFirstAnswerToTheSameBodyAndRefusesAnother) {
  const auto claim = *make_claim("append", "key-1", "body");
  EXPECT_EQ(*recall(stored(claim), claim, kNow), std::nullopt);
  remember_at(claim, "the answer", kNow);
  EXPECT_EQ(*recall(stored(claim), claim, kNow), "the answer");
  const auto other = *make_claim("append", "key-1", "another body");
  EXPECT_EQ(recall(stored(other), other, kNow).error().code, Code::kIdempotencyMismatch);
}

TEST_F(Ledger, KeepsKeysOfRoutesAndStreamsApart) {
  const auto claim = *make_claim("append", "key-1", "body");
  remember_at(claim, "the answer", kNow);
  EXPECT_FALSE(stored(*make_claim("status", "key-1", "body")));
  EXPECT_NE(idempotency_key(kStream, claim), idempotency_key(store::testing::stream_id(8), claim));
  // Route and key are not just put together: "ab" + "c" is not "a" + "bc".
  EXPECT_NE(make_claim("ab", "c", "")->key_hash, make_claim("a", "bc", "")->key_hash);
}

TEST_F(Ledger, RemembersForTheWholeWindowAndNoLonger) {
  const auto claim = *make_claim("append", "key-1", "body");
  remember_at(claim, "the answer", kNow);
  const TimePoint end = kNow + kIdempotencyWindow;
  EXPECT_EQ(*recall(stored(claim), claim, end - Millis{1}), "the answer");
  EXPECT_EQ(*recall(stored(claim), claim, end), std::nullopt);
  EXPECT_EQ(forget_what_is_due(end - Millis{1}), 0U);
  EXPECT_EQ(forget_what_is_due(end), 1U);
  EXPECT_EQ(records(), 0U);
}

TEST_F(Ledger, AKeyClaimedAnewOutlivesItsOldExpiry) {
  const auto claim = *make_claim("append", "key-1", "body");
  remember_at(claim, "first", kNow);
  const TimePoint again = kNow + kIdempotencyWindow;
  remember_at(claim, "second", again);
  EXPECT_EQ(forget_what_is_due(again), 1U);
  EXPECT_EQ(*recall(stored(claim), claim, again), "second");
  EXPECT_EQ(forget_what_is_due(again + kIdempotencyWindow), 1U);
  EXPECT_EQ(records(), 0U);
}

TEST_F(Ledger, ForgetsAStreamsKeysWithTheStream) {
  for (int i = 0; i < 3; ++i)
    remember_at(*make_claim("append", fmt::format("key-{}", i), "body"), "answer", kNow);
  store::Commit commit;
  const std::string prefix = idempotency_prefix(kStream);
  for (const auto& row :
       engine.scan({.begin = prefix, .end = prefix + '\xff'}, store::ReadMode::kBlocking)->records)
    forget(commit, row.key, row.value);
  ASSERT_TRUE(committer.commit(std::move(commit)));
  EXPECT_EQ(records(), 0U);
}

TEST(IdempotencyClaim, HasAKeyOfLimitedLengthWithoutControlCharacters) {
  EXPECT_TRUE(make_claim("append", std::string(kMaxIdempotencyKeyBytes, 'k'), ""));
  for (const std::string& key : {std::string(kMaxIdempotencyKeyBytes + 1, 'k'), std::string(),
                                 std::string("a\nb"), std::string("a\x7f")})
    EXPECT_EQ(make_claim("append", key, "").error().code, Code::kBadParameter) << key.size();
}

TEST(IdempotencyRecord, ThatIsDamagedIsReportedAsSuch) {
  const auto claim = *make_claim("append", "key", "body");
  EXPECT_EQ(recall(store::Record{"short", 1}, claim, kNow).error().code, Code::kCorrupt);
  EXPECT_EQ(record_of_expiry("j123").error().code, Code::kCorrupt);
}

}  // namespace
}  // namespace reprise::stream
