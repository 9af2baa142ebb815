#include "model/checkpoint.h"

#include <gtest/gtest.h>

#include "model/limits.h"
#include "model/testing.h"

namespace reprise::model {
namespace {

std::vector<CheckpointVersion> versions_at(std::initializer_list<std::uint64_t> seqs) {
  std::vector<CheckpointVersion> versions;
  for (const std::uint64_t seq : seqs)
    versions.push_back({.version = versions.size() + 1, .seq = Seq{seq}, .at = kStart, .size = 1});
  return versions;
}

std::vector<std::uint64_t> numbers(const std::vector<CheckpointVersion>& versions) {
  std::vector<std::uint64_t> list;
  for (const CheckpointVersion& one : versions) list.push_back(one.version);
  return list;
}

using Numbers = std::vector<std::uint64_t>;

TEST(CheckpointName, IsPrintableAndOfAtMost200Bytes) {
  EXPECT_TRUE(check_checkpoint_name("state"));
  EXPECT_TRUE(check_checkpoint_name("a/b c:ü"));
  EXPECT_TRUE(check_checkpoint_name(std::string(kMaxCheckpointNameBytes, 'x')));
  for (const std::string& name :
       {std::string(), std::string(kMaxCheckpointNameBytes + 1, 'x'), std::string("a\nb"),
        std::string("a\0b", 3), std::string("\xff")}) {
    const auto checked = check_checkpoint_name(name);
    ASSERT_FALSE(checked) << name;
    EXPECT_EQ(checked.error().code, Code::kBadParameter);
  }
}

TEST(CheckpointVersions, TheNewestAreKept) {
  auto versions = versions_at({2, 3, 4, 5});
  EXPECT_TRUE(drop_old_versions(versions, 4, {}).empty());
  EXPECT_EQ(numbers(drop_old_versions(versions, 2, {})), (Numbers{1, 2}));
  EXPECT_EQ(numbers(versions), (Numbers{3, 4}));
}

TEST(CheckpointVersions, TheNewestBeforeWhatMayBeRolledBackStays) {
  auto versions = versions_at({2, 3, 10, 11, 12});
  EXPECT_EQ(numbers(drop_old_versions(versions, 2, Seq{5})), (Numbers{1, 3}));
  EXPECT_EQ(numbers(versions), (Numbers{2, 4, 5}));
  // And again, until that is over.
  versions.push_back({.version = 6, .seq = Seq{13}, .at = kStart, .size = 1});
  EXPECT_EQ(numbers(drop_old_versions(versions, 2, Seq{5})), (Numbers{4}));
  EXPECT_EQ(numbers(versions), (Numbers{2, 5, 6}));
  EXPECT_EQ(numbers(drop_old_versions(versions, 2, {})), (Numbers{2}));
}

TEST(CheckpointVersions, NothingIsKeptBeforeWhatFoundNothing) {
  auto versions = versions_at({10, 11, 12});
  EXPECT_EQ(numbers(drop_old_versions(versions, 1, Seq{5})), (Numbers{1, 2}));
}

TEST(CheckpointEvents, TellNameVersionAndSize) {
  const Event saved = checkpoint_saved("a \"b\"", 3, 17, kStart, "me");
  EXPECT_EQ(saved.type, "checkpoint");
  EXPECT_EQ(saved.data, R"({"name":"a \"b\"","version":3,"size":17})");
  EXPECT_EQ(saved.by, "me");
  const Event deleted = checkpoint_deleted("a", 2, kStart, "");
  EXPECT_EQ(deleted.type, "checkpoint_deleted");
  EXPECT_EQ(deleted.data, R"({"name":"a","versions":2})");
}

}  // namespace
}  // namespace reprise::model
