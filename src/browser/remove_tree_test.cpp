#include "browser/remove_tree.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "browser/testing.h"
#include "rt/descriptor.h"

namespace reprise::browser {
namespace {

namespace fs = std::filesystem;

struct Place {
  testing::TemporaryDirectory directory;
  rt::Descriptor open{::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  fs::path tree = directory.path() / "tree";

  Result<> remove() const { return remove_tree(open.number(), "tree"); }
};

void write_file(const fs::path& path) { std::ofstream(path) << "content"; }

TEST(RemoveTree, RemovesWhatIsInItAndNothingElse) {
  const Place place;
  fs::create_directories(place.tree / "a/b/c");
  fs::create_directories(place.tree / "a/moved-0");  // a name that is used on the way
  fs::create_directories(place.tree / "moved-0/x");
  fs::create_directories(place.directory.path() / "beside");
  for (const char* file : {"tree/f", "tree/a/f", "tree/a/b/c/.f", "tree/moved-0/x/f", "beside/f"})
    write_file(place.directory.path() / file);
  fs::permissions(place.tree / "a/b", fs::perms(0500));
  fs::permissions(place.tree / "a", fs::perms(0000));
  ASSERT_TRUE(place.remove().has_value());
  EXPECT_FALSE(fs::exists(place.tree));
  EXPECT_TRUE(fs::exists(place.directory.path() / "beside/f"));
  EXPECT_TRUE(place.remove().has_value()) << "what is not there is removed";
}

TEST(RemoveTree, NeverFollowsALink) {
  const Place place;
  const fs::path outside = place.directory.path() / "outside";
  fs::create_directories(outside / "deep");
  write_file(outside / "deep/f");
  fs::create_directories(place.tree / "inner");
  fs::create_directory_symlink(outside, place.tree / "link");
  fs::create_directory_symlink("../../outside/deep", place.tree / "inner/link");
  fs::create_symlink(outside / "deep/f", place.tree / "file");
  ASSERT_TRUE(place.remove().has_value());
  fs::create_directory_symlink(outside, place.tree);  // the tree itself
  ASSERT_TRUE(place.remove().has_value());
  EXPECT_FALSE(fs::exists(fs::symlink_status(place.tree)));
  EXPECT_TRUE(fs::exists(outside / "deep/f"));
}

TEST(RemoveTree, NeedsNeitherStackNorDescriptorsForDepth) {
  const Place place;
  constexpr int kDepth = 3'000;  // no path is this long: each is made in the one before
  ASSERT_EQ(::mkdir(place.tree.c_str(), 0700), 0);
  rt::Descriptor at(::open(place.tree.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int depth = 0; depth < kDepth; ++depth) {
    ASSERT_EQ(::mkdirat(at.number(), "d", 0700), 0);
    at = rt::Descriptor(::openat(at.number(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(at.is_valid());
  }
  ASSERT_TRUE(place.remove().has_value());
  EXPECT_FALSE(fs::exists(place.tree));
}

TEST(RemoveTree, ManyFilesAreRemoved) {
  const Place place;
  fs::create_directories(place.tree / "inner");
  for (int number = 0; number < 5'000; ++number)
    write_file(place.tree / "inner" / fmt::format("{}", number));
  ASSERT_TRUE(place.remove().has_value());
  EXPECT_FALSE(fs::exists(place.tree));
}

// A writer that does not stop can win every race for the last rmdir, but only there.
TEST(RemoveTree, SomebodyWhoStillWritesDoesNoHarm) {
  const Place place;
  fs::create_directories(place.tree / "inner");
  std::atomic<bool> is_writing = true;
  std::thread writer([&] {
    for (int number = 0; is_writing; ++number) {
      std::error_code ignored;
      fs::create_directories(place.tree / "inner" / "deep", ignored);
      write_file(place.tree / "inner" / fmt::format("{}", number % 100));
    }
  });
  (void)place.remove();
  is_writing = false;
  writer.join();
  ASSERT_TRUE(place.remove().has_value());
  EXPECT_FALSE(fs::exists(place.tree));
}

}  // namespace
}  // namespace reprise::browser
