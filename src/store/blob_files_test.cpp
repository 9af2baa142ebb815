#include "store/blob_files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/bytes.h"
#include "store/limits.h"

namespace reprise::store {
namespace {

class BlobFilesTest : public ::testing::Test {
 protected:
  BlobFilesTest() {
    std::string name = (std::filesystem::temp_directory_path() / "reprise-blobs-XXXXXX").string();
    directory_ = ::mkdtemp(name.data());
    files_.emplace(directory_ + "/blobs");
  }
  ~BlobFilesTest() override { std::filesystem::remove_all(directory_); }

  Pin place(std::string_view content) {
    auto blob = files_->begin();
    EXPECT_TRUE(blob && (*blob)->write(content));
    auto pin = files_->place(std::move(*blob));
    EXPECT_TRUE(pin) << pin.error().detail;
    return std::move(*pin);
  }
  std::size_t count() const {
    if (!std::filesystem::exists(directory_ + "/blobs")) return 0;
    std::size_t found = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_ + "/blobs"))
      found += entry.is_regular_file() ? 1 : 0;
    return found;
  }
  Result<BlobFiles::Removal> remove(const std::string& hash, bool is_referred = false) {
    return files_->remove_unless(hash, [=]() -> Result<bool> { return is_referred; });
  }

  std::string directory_;
  std::optional<BlobFiles> files_;
};

TEST_F(BlobFilesTest, ContentIsFoundUnderItsHash) {
  Pin pin = place("hello");
  EXPECT_EQ(pin.hash(), sha256("hello"));
  const auto file = files_->open(pin.hash(), 5);
  ASSERT_TRUE(file);
  std::string bytes(3, '\0');
  EXPECT_EQ(*BlobFiles::read_at(*file, 1, bytes), 3U);
  EXPECT_EQ(bytes, "ell");
  EXPECT_EQ(*BlobFiles::read_at(*file, 4, bytes), 1U);
  EXPECT_EQ(files_->open(pin.hash(), 6).error().code, Code::kCorrupt);
  EXPECT_EQ(files_->open(sha256("other"), 5).error().code, Code::kCorrupt);
  EXPECT_EQ(*files_->list(static_cast<unsigned char>(pin.hash()[0])), std::vector{pin.hash()});
  pin.settle();
  EXPECT_TRUE(files_->take_doubtful().empty());
}

TEST_F(BlobFilesTest, EqualContentIsOneFile) {
  Pin one = place("same");
  Pin two = place("same");
  EXPECT_EQ(count(), 1U);
  one.settle();
  // The other one is about to be referred to.
  EXPECT_EQ(*remove(two.hash()), BlobFiles::Removal::kPinned);
  two.settle();
  EXPECT_EQ(*remove(sha256("same"), true), BlobFiles::Removal::kReferred);
  EXPECT_EQ(*remove(sha256("same")), BlobFiles::Removal::kRemoved);
  EXPECT_EQ(count(), 0U);
  EXPECT_EQ(*remove(sha256("same")), BlobFiles::Removal::kRemoved);
  EXPECT_EQ(files_->removed(), 1U);
}

TEST_F(BlobFilesTest, WhatIsDroppedBeforeItIsPlacedLeavesNothing) {
  {
    auto blob = files_->begin();
    ASSERT_TRUE((*blob)->write("half"));
    EXPECT_EQ(count(), 1U);
  }
  EXPECT_EQ(count(), 0U);
}

TEST_F(BlobFilesTest, APinThatIsNotSettledLeavesADoubt) {
  {
    const Pin pin = place("doubtful");
  }
  EXPECT_EQ(files_->take_doubtful(), std::vector{sha256("doubtful")});
  EXPECT_TRUE(files_->take_doubtful().empty());
}

TEST_F(BlobFilesTest, ARemovalAsksForReferencesWhileNothingCanBePlaced) {
  place("x").settle();
  const auto removal = files_->remove_unless(
      sha256("x"), [&]() -> Result<bool> { return fail(Code::kNoSpace, "the store cannot tell"); });
  EXPECT_EQ(removal.error().code, Code::kNoSpace);
  EXPECT_EQ(count(), 1U);
}

TEST_F(BlobFilesTest, WhatAnEarlierProcessWasWritingIsCleared) {
  ASSERT_TRUE(files_->clear_incoming());
  place("kept").settle();
  std::ofstream(directory_ + "/blobs/incoming/1-1") << "half";
  EXPECT_EQ(count(), 2U);
  ASSERT_TRUE(files_->clear_incoming());
  EXPECT_EQ(count(), 1U);
  EXPECT_TRUE(files_->open(sha256("kept"), 4));
}

TEST_F(BlobFilesTest, PlacingMendsADamagedFile) {
  place("whole").settle();
  const std::string hex = to_hex(sha256("whole"));
  std::ofstream(directory_ + "/blobs/" + hex.substr(0, 2) + "/" + hex) << "who";
  EXPECT_EQ(files_->open(sha256("whole"), 5).error().code, Code::kCorrupt);
  place("whole").settle();
  EXPECT_TRUE(files_->open(sha256("whole"), 5));
}

TEST_F(BlobFilesTest, RoomForCommitsIsLeft) {
  std::uint64_t room = kBlobReserveBytes + 10;
  BlobFiles files(directory_ + "/nearly-full", [&] { return room; });
  auto blob = files.begin();
  ASSERT_TRUE(blob);
  EXPECT_TRUE((*blob)->write("0123456789"));
  EXPECT_EQ((*blob)->write("0123456789x").error().code, Code::kNoSpace);
}

TEST_F(BlobFilesTest, AFileSystemThatTakesNoMoreIsAnErrorAndLeavesNothing) {
  auto blob = files_->begin();
  ASSERT_TRUE(blob);
  // The system refuses to let a file grow, as it does on a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{.rlim_cur = 4096, .rlim_max = before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const auto written = (*blob)->write(std::string(8192, 'x'));
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(written.error().code, Code::kStorage);
  blob->reset();
  EXPECT_EQ(count(), 0U);
}

TEST_F(BlobFilesTest, AScratchFileHasNoNameAndNoEnd) {
  auto scratch = files_->scratch();
  ASSERT_TRUE(scratch) << scratch.error().detail;
  EXPECT_EQ(count(), 0U) << "a process that dies leaves nothing";
  EXPECT_TRUE((*scratch)->write("hello "));
  EXPECT_TRUE((*scratch)->write("there"));
  EXPECT_EQ((*scratch)->size(), 11U);
  std::string bytes(5, '\0');
  EXPECT_EQ(*(*scratch)->read_at(6, bytes), 5U);
  EXPECT_EQ(bytes, "there");
  EXPECT_EQ(*(*scratch)->read_at(9, bytes), 2U);
  auto other = files_->scratch();
  ASSERT_TRUE(other);
  EXPECT_EQ((*other)->size(), 0U);
}

TEST_F(BlobFilesTest, AScratchFileLeavesRoomForCommits) {
  std::uint64_t room = kBlobReserveBytes + 5;
  files_.emplace(directory_ + "/blobs", [&room] { return room; });
  auto scratch = files_->scratch();
  ASSERT_TRUE(scratch);
  EXPECT_TRUE((*scratch)->write("12345"));
  room = kBlobReserveBytes + 4;
  EXPECT_EQ((*scratch)->write("12345").error().code, Code::kNoSpace);
}

TEST_F(BlobFilesTest, PinnedContentStaysThoughNobodyRefersToIt) {
  const std::string hash = place("kept").hash();
  Pin pin = files_->pin(hash);
  EXPECT_EQ(*remove(hash), BlobFiles::Removal::kPinned);
  pin.settle();
  EXPECT_EQ(*remove(hash), BlobFiles::Removal::kRemoved);
}

}  // namespace
}  // namespace reprise::store
