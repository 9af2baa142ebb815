#include "base/ids.h"

#include <gtest/gtest.h>

#include <thread>
#include <unordered_set>

namespace reprise {
namespace {

constexpr std::uint64_t kSeed = 7450;
constexpr TimePoint kNow{1'794'766'382'117};  // 2026-11-15T18:13:02.117Z

TEST(Ids, AUuidSaysItsVersionVariantAndMillisecond) {
  SeededRandom random(kSeed);
  const Uuid uuid = make_uuid_v7(kNow, random);
  EXPECT_EQ(uuid[6] >> 4, 7);
  EXPECT_EQ(uuid[8] >> 6, 2);
  std::int64_t ms = 0;
  for (std::size_t i = 0; i < 6; ++i) ms = ms * 256 + uuid[i];
  // Other tests of this thread may have borrowed from the next milliseconds.
  EXPECT_GE(ms, kNow.ms);
  EXPECT_LE(ms, kNow.ms + 1000);
}

TEST(Ids, IdsOfOneThreadAscendWithinAMillisecond) {
  SeededRandom random(kSeed);
  Uuid before = make_uuid_v7(kNow, random);
  for (int i = 0; i < 10'000; ++i) {
    const Uuid next = make_uuid_v7(kNow, random);
    ASSERT_LT(before, next) << "id " << i << ", seed " << kSeed;
    before = next;
  }
}

TEST(Ids, IdsAscendOverASmallStepBackOfTheClockAndFollowALargeOne) {
  SeededRandom random(kSeed);
  const TimePoint later = kNow + Millis{60'000};
  const Uuid first = make_uuid_v7(later, random);
  const Uuid second = make_uuid_v7(later - Millis{500}, random);
  EXPECT_LT(first, second);
  const Uuid long_before = make_uuid_v7(later - Millis{30'000}, random);
  EXPECT_LT(long_before, first);
}

TEST(Ids, IdsOfSeveralThreadsDiffer) {
  SystemRandom random;
  std::vector<std::vector<SessionId>> made(4);
  {
    std::vector<std::jthread> threads;
    for (auto& ids : made)
      threads.emplace_back([&ids, &random] {
        for (int i = 0; i < 1000; ++i) ids.push_back(SessionId::make(kNow, random));
      });
  }
  std::unordered_set<SessionId> all;
  for (const auto& ids : made) all.insert(ids.begin(), ids.end());
  EXPECT_EQ(all.size(), 4000U);
}

TEST(Ids, AUuidIsReadBackInEitherCase) {
  SeededRandom random(kSeed);
  const SessionId id = SessionId::make(kNow, random);
  std::string text = id.to_string();
  EXPECT_EQ(text.size(), 36U);
  EXPECT_EQ(SessionId::parse(text), id);
  for (char& c : text) c = static_cast<char>(std::toupper(c));
  EXPECT_EQ(SessionId::parse(text), id);
  EXPECT_EQ(SessionId::from_bytes(id.view()), id);
}

TEST(Ids, TextThatIsNoUuidIsRefused) {
  const std::string good = "019a8b3c-1111-7222-8333-444455556666";
  ASSERT_TRUE(parse_uuid(good));
  EXPECT_FALSE(parse_uuid(""));
  EXPECT_FALSE(parse_uuid(good + "0"));
  EXPECT_FALSE(parse_uuid(good.substr(1)));
  EXPECT_FALSE(parse_uuid("{" + good.substr(1)));
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string damaged = good;
    damaged[i] = damaged[i] == '-' ? '0' : 'g';
    EXPECT_FALSE(parse_uuid(damaged)) << damaged;
  }
  EXPECT_FALSE(SessionId::from_bytes("too short"));
}

TEST(Ids, ASeedGivesTheSameBytesHoweverTheyAreAskedFor) {
  SeededRandom at_once(kSeed);
  SeededRandom in_parts(kSeed);
  unsigned char whole[64];
  unsigned char parts[64];
  at_once.fill(whole, 64);
  in_parts.fill(parts, 10);
  in_parts.fill(parts + 10, 54);
  EXPECT_TRUE(std::equal(std::begin(whole), std::end(whole), std::begin(parts)));
  SeededRandom other(kSeed + 1);
  EXPECT_NE(SeededRandom(kSeed).next_u64(), other.next_u64());
}

TEST(Ids, SystemRandomFillsMoreThanItsBlock) {
  SystemRandom random;
  std::string bytes(2000, '\0');
  random.fill(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size());
  // 2,000 random bytes hold nearly every value; a block served twice or left empty would not.
  EXPECT_GT(std::unordered_set<char>(bytes.begin(), bytes.end()).size(), 200U);
  EXPECT_NE(bytes.substr(0, 512), bytes.substr(512, 512));
}

TEST(Ids, SequenceNumbersCountFromBeforeTheFirst) {
  EXPECT_EQ(Seq{}.value, 0U);
  EXPECT_EQ(Seq{}.next(), Seq{1});
  EXPECT_LT(Seq{1}, Seq{2});
}

}  // namespace
}  // namespace reprise
