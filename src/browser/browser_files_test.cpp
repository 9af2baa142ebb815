#include "browser/browser_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "browser/testing.h"

namespace reprise::browser {
namespace {

namespace fs = std::filesystem;

class BrowserFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directories_ = ProfileDirs::open(directory_.path() / "run").value();
    profile_ = directories_->make(std::nullopt).value();
    files_ = BrowserFiles::make(*directories_, profile_).value();
    fs::create_directories(files_->downloads_of("C1"));
  }
  void download(const std::string& id, const std::string& bytes) {
    std::ofstream(files_->downloads_of("C1") / id) << bytes;
  }

  testing::TemporaryDirectory directory_;
  std::unique_ptr<ProfileDirs> directories_;
  Profile profile_;
  std::unique_ptr<BrowserFiles> files_;
};

TEST_F(BrowserFilesTest, ADownloadIsTakenOnceAndGone) {
  download("a-1", "hello");
  const auto file = files_->take_download("C1", "a-1");
  ASSERT_TRUE(file) << file.error().detail;
  std::string bytes(16, '\0');
  EXPECT_EQ(::read(file->number(), bytes.data(), bytes.size()), 5);
  EXPECT_FALSE(fs::exists(files_->downloads_of("C1") / "a-1"));
  EXPECT_EQ(files_->take_download("C1", "a-1").error().code, Code::kNotFound);
}

TEST_F(BrowserFilesTest, LinksPipesAndOddNamesAreNoDownloads) {
  const auto out = files_->downloads_of("C1");
  std::ofstream(directory_.path() / "secret") << "secret";
  fs::create_symlink(directory_.path() / "secret", out / "link");
  EXPECT_FALSE(files_->take_download("C1", "link"));
  fs::create_hard_link(directory_.path() / "secret", out / "hard");
  EXPECT_EQ(files_->take_download("C1", "hard").error().code, Code::kForbidden);
  ASSERT_EQ(::mkfifo((out / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(files_->take_download("C1", "pipe").error().code, Code::kForbidden);
  fs::create_directory(out / "folder");
  EXPECT_EQ(files_->take_download("C1", "folder").error().code, Code::kForbidden);
  for (const char* name : {"", ".", "..", "../C1/x", "/etc/passwd", "a/b", "a.b"})
    EXPECT_EQ(files_->take_download("C1", name).error().code, Code::kForbidden) << name;
  EXPECT_EQ(files_->take_download("../C1", "x").error().code, Code::kForbidden);
  // A context's directory that has become a link leads nowhere.
  fs::create_directory_symlink(directory_.path(), out.parent_path() / "C2");
  EXPECT_FALSE(files_->take_download("C2", "secret"));
  EXPECT_TRUE(fs::exists(directory_.path() / "secret"));
}

TEST_F(BrowserFilesTest, FilesOfOneNameAreLentSideBySide) {
  const auto first = files_->lend("C1", "a file.txt");
  const auto second = files_->lend("C1", "a file.txt");
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->path, second->path);
  EXPECT_EQ(first->path.filename(), "a file.txt");
  for (const char* name : {"", ".", "..", "a/b", "/etc/passwd"})
    EXPECT_FALSE(files_->lend("C1", name)) << name;
  EXPECT_FALSE(files_->lend("..", "x"));
}

TEST_F(BrowserFilesTest, AContextsFilesGoWithIt) {
  download("a", "x");
  const auto lent = files_->lend("C1", "b").value();
  const auto other = files_->lend("C2", "c").value();
  ASSERT_TRUE(files_->forget("C1"));
  EXPECT_FALSE(fs::exists(lent.path));
  EXPECT_FALSE(fs::exists(files_->downloads_of("C1")));
  EXPECT_TRUE(fs::exists(other.path));
  ASSERT_TRUE(files_->remove());
  EXPECT_FALSE(fs::exists(other.path));
}

TEST_F(BrowserFilesTest, WhatACrashLeftIsSwept) {
  const auto lent = files_->lend("C1", "b").value();
  ASSERT_TRUE(directories_->sweep());
  EXPECT_FALSE(fs::exists(lent.path));
}

}  // namespace
}  // namespace reprise::browser
