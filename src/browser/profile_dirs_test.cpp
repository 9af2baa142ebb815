#include "browser/profile_dirs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>

#include "browser/process_table.h"
#include "browser/testing.h"
#include "rt/test_loop.h"

namespace reprise::browser {
namespace {

namespace fs = std::filesystem;
using rt::Command;
using rt::ExitStatus;
using rt::Process;
using rt::RealLoop;
using rt::run_on_a_loop;
using rt::Task;

std::unique_ptr<ProfileDirs> open_directories(const fs::path& path) {
  auto directories = ProfileDirs::open(path);
  EXPECT_TRUE(directories.has_value()) << (directories ? "" : directories.error().detail);
  REPRISE_ASSERT(directories.has_value());
  return std::move(*directories);
}

Profile make_profile(ProfileDirs& directories, std::optional<rt::Identity> owner = {}) {
  auto profile = directories.make(owner);
  EXPECT_TRUE(profile.has_value()) << (profile ? "" : profile.error().detail);
  REPRISE_ASSERT(profile.has_value());
  return *profile;
}

struct stat status_of(const fs::path& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status;
}

TEST(BrowserRecord, IsReadAsItWasWritten) {
  const auto record = parse_record(encode_record({4711, 987'654'321, "/run/x y\nz/profiles/a"}));
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->pid, 4711);
  EXPECT_EQ(record->started, 987'654'321U);
  EXPECT_EQ(record->profile, "/run/x y\nz/profiles/a");
}

TEST(BrowserRecord, WhatIsCutShortOrNobodysIsNone) {
  const std::string whole = encode_record({4711, 12, "/run/profiles/a"});
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(parse_record(whole.substr(0, size)).has_value()) << size;
  for (const char* text : {"pid 1\nstarted 1\nprofile /a\n", "pid -5\nstarted 1\nprofile /a\n",
                           "pid 5\nstarted 1\nprofile a\n", "pid 5\nstarted 1\nprofile \n",
                           "pid 5 \nstarted 1\nprofile /a\n", "pid 5\nstarted -1\nprofile /a\n"})
    EXPECT_FALSE(parse_record(text).has_value()) << text;
}

TEST(CommandLine, NamesAPathOrOneBelowIt) {
  using namespace std::string_literals;
  EXPECT_TRUE(names_path("/usr/bin/x\0--user-data-dir=/run/p/ab/data\0"s, "/run/p/ab"));
  EXPECT_TRUE(names_path("x\0/run/p/ab\0"s, "/run/p/ab"));
  EXPECT_TRUE(names_path("x\0/run/p/abc\0/run/p/ab"s, "/run/p/ab"));
  EXPECT_FALSE(names_path("x\0--user-data-dir=/run/p/abc\0"s, "/run/p/ab"));
  EXPECT_FALSE(names_path("x\0/run/p\0"s, "/run/p/ab"));
  EXPECT_FALSE(names_path("", "/run/p/ab"));
  EXPECT_FALSE(names_path("x", ""));
}

TEST(ProfileDirs, OneServerAtATimeUsesADirectory) {
  const testing::TemporaryDirectory place;
  auto first = open_directories(place.path() / "above/run");
  const auto second = ProfileDirs::open(place.path() / "above/../above/run");
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, Code::kConflict);
  first.reset();
  EXPECT_TRUE(ProfileDirs::open(place.path() / "above/run").has_value());
}

TEST(ProfileDirs, ADirectoryThatOthersMayWriteToIsRefused) {
  const testing::TemporaryDirectory place;
  ASSERT_EQ(::mkdir((place.path() / "run").c_str(), 0700), 0);
  fs::permissions(place.path() / "run", fs::perms(0777));
  const auto open = ProfileDirs::open(place.path() / "run");
  ASSERT_FALSE(open.has_value());
  EXPECT_EQ(open.error().code, Code::kForbidden);
  fs::create_directory_symlink(place.path(), place.path() / "link");
  EXPECT_FALSE(ProfileDirs::open(place.path() / "link").has_value());
}

TEST(ProfileDirs, AProfileIsItsOwnersAlone) {
  const testing::TemporaryDirectory place;
  const auto directories = open_directories(place.path() / "run");
  const bool is_root = ::geteuid() == 0;
  const rt::Identity owner =
      is_root ? rt::Identity{54321, 54322} : rt::Identity{::geteuid(), ::getegid()};
  const Profile profile = make_profile(*directories, owner);
  for (const fs::path& path :
       {profile.path, profile.data(), profile.home(), profile.temporary(), profile.runtime()}) {
    const struct stat status = status_of(path);
    EXPECT_EQ(status.st_uid, owner.uid) << path;
    EXPECT_EQ(status.st_gid, owner.gid) << path;
    EXPECT_EQ(status.st_mode & 07777U, 0700U) << path;
  }
  EXPECT_EQ(status_of(directories->directory()).st_mode & 07777U, 0711U);
  EXPECT_TRUE(directories->remove(profile).has_value());
  EXPECT_TRUE(fs::is_empty(directories->directory() / "profiles"));
}

TEST(ProfileDirs, AnOwnerWhoCannotReachTheDirectoryIsAnError) {
  const testing::TemporaryDirectory place;
  const auto directories = open_directories(place.path() / "closed/run");
  fs::permissions(place.path() / "closed", fs::perms(0700));
  const auto profile = directories->make(rt::Identity{54321, 54322});
  ASSERT_FALSE(profile.has_value());
  EXPECT_EQ(profile.error().code, Code::kForbidden);
  EXPECT_NE(profile.error().detail.find("closed'"), std::string::npos) << profile.error().detail;
  EXPECT_TRUE(fs::is_empty(directories->directory() / "profiles"));
}

// A process with a path in its command line, as a browser has its profile.
Result<std::unique_ptr<Process>> start_naming(RealLoop& loop, const fs::path& path) {
  return Process::start(loop, {.program = "/bin/sh",
                               .arguments = {"-c", "exec 0<&3; read never", path.native()},
                               .channel = true});
}

Task<> sweep_after_a_crash(RealLoop& loop) {
  const testing::TemporaryDirectory place;
  rt::InlinePool pool;
  rt::CancelScope scope;
  auto directories = open_directories(place.path() / "run");
  const Profile running = make_profile(*directories);
  const Profile renumbered = make_profile(*directories);  // its pid is another's by now
  const Profile unrecorded = make_profile(*directories);
  std::ofstream(running.data() / "file") << "content";
  auto browser = start_naming(loop, running.data());
  auto other = start_naming(loop, "/elsewhere");
  auto later = start_naming(loop, renumbered.data());
  EXPECT_TRUE(browser && other && later);
  if (!browser || !other || !later) co_return;
  EXPECT_TRUE(directories->record(running, (*browser)->pid()).has_value());
  EXPECT_TRUE(directories->record(renumbered, (*other)->pid()).has_value());
  std::ofstream(directories->directory() / "gone.browser")
      << encode_record({(*later)->pid(), 1, renumbered.path});
  std::ofstream(directories->directory() / "cut.browser") << "pid 4";
  directories.reset();  // the crash
  directories = open_directories(place.path() / "run");
  const auto swept = co_await sweep_profiles(loop, pool, *directories, scope);
  EXPECT_TRUE(swept.has_value());
  if (!swept) co_return;
  EXPECT_EQ(swept->killed, 1U);
  EXPECT_EQ(swept->removed, 3U);
  EXPECT_EQ(swept->remaining, 0U);
  EXPECT_EQ(co_await (*browser)->exited(scope), ExitStatus{.signal = SIGKILL});
  EXPECT_EQ((*other)->exit_status(), std::nullopt) << "its command line names something else";
  EXPECT_EQ((*later)->exit_status(), std::nullopt) << "it started at another time";
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(directories->directory()))
    left.push_back(entry.path().filename());
  std::ranges::sort(left);
  EXPECT_EQ(left, (std::vector<std::string>{"lock", "profiles"}));
  EXPECT_FALSE(fs::exists(unrecorded.path));
}

TEST(ProfileDirs, ASweepKillsWhatIsRecordedAndNobodyElse) { run_on_a_loop(sweep_after_a_crash); }

// As a browser's last processes do: it writes until it is killed, which happens between two tries.
Task<> remove_while_written_to(RealLoop& loop) {
  const testing::TemporaryDirectory place;
  rt::ThreadPool pool(1);
  rt::CancelScope scope;
  const auto directories = open_directories(place.path() / "run");
  const Profile profile = make_profile(*directories);
  EXPECT_TRUE(directories->remove(make_profile(*directories)).has_value());
  auto writer = Process::start(
      loop, {.program = "/bin/sh",
             .arguments = {"-c", fmt::format("while :; do mkdir -p {0}/a/b; : > {0}/a/b/f; done",
                                             profile.data().native())},
             .environment = {"PATH=/usr/bin:/bin"}});
  EXPECT_TRUE(writer.has_value());
  if (!writer) co_return;
  loop.post([&writer] { (*writer)->kill(SIGKILL); });
  const auto removed = co_await remove_profile(loop, pool, *directories, profile, scope);
  EXPECT_TRUE(removed.has_value());
  (void)co_await (*writer)->exited(scope);
  EXPECT_TRUE(directories->remove(profile).has_value());  // what it wrote after the removal
  EXPECT_FALSE(fs::exists(profile.path));
}

TEST(ProfileDirs, AProfileIsRemovedWhileTheLastOfItsProcessesWrite) {
  run_on_a_loop(remove_while_written_to);
}

}  // namespace
}  // namespace reprise::browser
