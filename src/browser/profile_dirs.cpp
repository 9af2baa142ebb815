#include "browser/profile_dirs.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <system_error>

#include "base/bytes.h"
#include "base/ids.h"
#include "browser/process_table.h"
#include "browser/remove_tree.h"

namespace reprise::browser {
namespace {

using rt::Descriptor;

// How often a removal is tried, with a pause before each further try that grows by itself (three
// seconds in all).
constexpr int kMaxTries = 16;
constexpr std::chrono::milliseconds kPause{25};
// How long a sweep waits for a process that it has killed.
constexpr std::chrono::milliseconds kMaxKillTime{5'000};
constexpr std::size_t kMaxRecordBytes = 8 * 1024;  // twice the longest path

constexpr std::string_view kRecordEnding = ".browser";
constexpr mode_t kPassable = 0711;
constexpr mode_t kOwnerOnly = 0700;
constexpr std::array kFolders{"data", "home", "tmp", "run"};

std::unexpected<Error> cannot(std::string_view what, const std::filesystem::path& path) {
  const int number = errno;
  const Code code = number == ENOSPC || number == EDQUOT ? Code::kNoSpace : Code::kIo;
  return fail(code, fmt::format("cannot {} '{}': {}", what, path.native(),
                                std::generic_category().message(number)));
}

// A directory in another, made if it is missing. Its mode is set, whatever our umask is.
Result<Descriptor> make_folder(int parent, const char* name, mode_t mode,
                               const std::filesystem::path& path) {
  if (::mkdirat(parent, name, kOwnerOnly) != 0 && errno != EEXIST) return cannot("make", path);
  Descriptor folder(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.is_valid()) return cannot("open", path);
  struct stat status{};
  if (::fstat(folder.number(), &status) != 0) return cannot("look at", path);
  if (status.st_uid != ::geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return fail(Code::kForbidden,
                fmt::format("'{}' must belong to the server's user (it belongs to {}), and nobody "
                            "else may write to it",
                            path.native(), status.st_uid));
  if (::fchmod(folder.number(), mode) != 0) return cannot("set the mode of", path);
  return folder;
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

// The names in a directory that is ours alone.
Result<std::vector<std::string>> names_in(const std::filesystem::path& path) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, CloseFolder> folder(::opendir(path.c_str()));
  if (!folder) return cannot("list", path);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the folder's handle is this function's own
  while (const dirent* entry = ::readdir(folder.get()))
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  return names;
}

std::optional<std::string> read_record(int directory, const std::string& name) {
  const Descriptor file(::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file.is_valid()) return std::nullopt;
  std::string text(kMaxRecordBytes, '\0');
  const ssize_t count = ::read(file.number(), text.data(), text.size());
  if (count < 0) return std::nullopt;
  text.resize(static_cast<std::size_t>(count));
  return text;
}

// Kills the recorded process with its group, if it is still that one, and waits for its end.
bool kill_if_running(const BrowserRecord& record) {
  // The pidfd stays with the process it was opened for: what is checked afterwards is true of it.
  const Descriptor end(static_cast<int>(::syscall(SYS_pidfd_open, record.pid, 0)));
  if (!end.is_valid()) return false;
  const auto stat = read_process_stat(record.pid);
  if (!stat || stat->started != record.started) return false;
  if (!names_path(read_command_line(record.pid), record.profile)) return false;
  if (stat->group == record.pid) ::kill(-record.pid, SIGKILL);
  if (::syscall(SYS_pidfd_send_signal, end.number(), SIGKILL, nullptr, 0) != 0) return false;
  pollfd ended{end.number(), POLLIN, 0};
  ::poll(&ended, 1, static_cast<int>(kMaxKillTime.count()));
  return true;
}

template <typename Number>
bool take_line(std::string_view& text, std::string_view name, Number& number) {
  if (!text.starts_with(name)) return false;
  text.remove_prefix(name.size());
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end == text.data() + text.size() || *end != '\n') return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return true;
}

}  // namespace

std::string encode_record(const BrowserRecord& record) {
  return fmt::format("pid {}\nstarted {}\nprofile {}\n", record.pid, record.started,
                     record.profile.native());
}

std::optional<BrowserRecord> parse_record(std::string_view text) {
  constexpr std::string_view kProfile = "profile ";
  BrowserRecord record;
  if (!take_line(text, "pid ", record.pid) || !take_line(text, "started ", record.started))
    return std::nullopt;
  // A path may hold a line's end; the last one is the record's.
  if (!text.starts_with(kProfile) || !text.ends_with('\n')) return std::nullopt;
  record.profile = text.substr(kProfile.size(), text.size() - kProfile.size() - 1);
  // Process 1 and groups (a number below zero) are nobody's browser.
  if (record.pid <= 1 || !record.profile.is_absolute()) return std::nullopt;
  return record;
}

bool names_path(std::string_view command_line, const std::filesystem::path& path) {
  const std::string& text = path.native();
  if (text.empty()) return false;
  for (std::size_t at = command_line.find(text); at != std::string_view::npos;
       at = command_line.find(text, at + 1)) {
    const std::size_t end = at + text.size();
    if (end == command_line.size() || command_line[end] == '\0' || command_line[end] == '/')
      return true;
  }
  return false;
}

ProfileDirs::ProfileDirs(std::filesystem::path directory, Descriptor run, Descriptor lock,
                         Descriptor profiles)
    : directory_(std::move(directory)),
      run_(std::move(run)),
      lock_(std::move(lock)),
      profiles_(std::move(profiles)) {}

Result<std::unique_ptr<ProfileDirs>> ProfileDirs::open(std::filesystem::path directory) {
  std::error_code error;
  directory = std::filesystem::absolute(directory, error).lexically_normal();
  std::filesystem::create_directories(directory.parent_path(), error);  // or the next step fails
  REPRISE_TRY(Descriptor run, make_folder(AT_FDCWD, directory.c_str(), kPassable, directory));
  Descriptor lock(
      ::openat(run.number(), "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!lock.is_valid()) return cannot("make a lock in", directory);
  if (::flock(lock.number(), LOCK_EX | LOCK_NB) != 0)
    return fail(Code::kConflict,
                fmt::format("another server keeps its browsers in '{}'", directory.native()));
  REPRISE_TRY(Descriptor profiles,
              make_folder(run.number(), "profiles", kPassable, directory / "profiles"));
  return std::unique_ptr<ProfileDirs>(
      new ProfileDirs(std::move(directory), std::move(run), std::move(lock), std::move(profiles)));
}

Result<Profile> ProfileDirs::make(std::optional<rt::Identity> owner) {
  if (owner) REPRISE_CHECK(check_passable(directory_, *owner));
  REPRISE_TRY(Profile profile, make_place());
  if (auto filled = fill(profile, owner); !filled) {
    (void)remove_tree(profiles_.number(), profile.name);
    return fail(std::move(filled).error());
  }
  return profile;
}

Result<Profile> ProfileDirs::make_place() {
  constexpr std::size_t kNameBytes = 5;  // short: a socket's path has to fit 107 bytes
  std::array<unsigned char, kNameBytes> random{};
  SystemRandom().fill(random.data(), random.size());
  Profile profile;
  profile.name = to_hex({reinterpret_cast<const char*>(random.data()), random.size()});
  profile.path = directory_ / "profiles" / profile.name;
  if (::mkdirat(profiles_.number(), profile.name.c_str(), kOwnerOnly) != 0)
    return cannot("make", profile.path);
  return profile;
}

Result<> ProfileDirs::fill(const Profile& profile, std::optional<rt::Identity> owner) {
  REPRISE_TRY(const Descriptor top,
              make_folder(profiles_.number(), profile.name.c_str(), kOwnerOnly, profile.path));
  for (const char* name : kFolders) {
    REPRISE_TRY(const Descriptor folder,
                make_folder(top.number(), name, kOwnerOnly, profile.path / name));
    if (owner && ::fchown(folder.number(), owner->uid, owner->gid) != 0)
      return cannot("give away", profile.path / name);
  }
  // The owner comes in last: nothing in it was another's while we worked on it.
  if (owner && ::fchown(top.number(), owner->uid, owner->gid) != 0)
    return cannot("give away", profile.path);
  return {};
}

Result<> ProfileDirs::record(const Profile& profile, pid_t pid) {
  const auto stat = read_process_stat(pid);
  if (!stat) return fail(Code::kIo, fmt::format("there is no process {}", pid));
  const std::string name = profile.name + std::string(kRecordEnding);
  const std::string text = encode_record({pid, stat->started, profile.path});
  const Descriptor file(::openat(run_.number(), name.c_str(),
                                 O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
                                 S_IRUSR | S_IWUSR));
  // One write: a record that was cut short by a crash is none. It need not survive the system's.
  if (!file.is_valid() ||
      ::write(file.number(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return cannot("write", directory_ / name);
  return {};
}

Result<> ProfileDirs::remove(const Profile& profile) {
  REPRISE_CHECK(remove_tree(profiles_.number(), profile.name));
  ::unlinkat(run_.number(), (profile.name + std::string(kRecordEnding)).c_str(), 0);
  return {};
}

std::size_t ProfileDirs::kill_recorded(const std::vector<std::string>& names) {
  std::size_t killed = 0;
  for (const std::string& name : names) {
    const auto text = read_record(run_.number(), name);
    const auto record = text ? parse_record(*text) : std::nullopt;
    if (record && kill_if_running(*record)) ++killed;
  }
  return killed;
}

Result<ProfileDirs::Swept> ProfileDirs::sweep() {
  Swept swept;
  REPRISE_TRY(std::vector<std::string> records, names_in(directory_));
  std::erase_if(records, [](const std::string& name) { return !name.ends_with(kRecordEnding); });
  swept.killed = kill_recorded(records);
  REPRISE_TRY(const std::vector<std::string> profiles, names_in(directory_ / "profiles"));
  for (const std::string& name : profiles) {
    const bool is_removed = remove({.name = name, .path = {}}).has_value();
    ++(is_removed ? swept.removed : swept.remaining);
  }
  // Records of profiles that were gone already.
  if (swept.remaining == 0)
    for (const std::string& name : records) ::unlinkat(run_.number(), name.c_str(), 0);
  return swept;
}

rt::Task<Result<>> remove_profile(rt::Loop& loop, rt::Pool& pool, ProfileDirs& directories,
                                  Profile profile, rt::CancelScope& scope) {
  for (int tries = 1;; ++tries) {
    auto removed =
        co_await pool.run(loop, [&directories, &profile] { return directories.remove(profile); });
    if (removed || tries == kMaxTries) co_return removed;
    REPRISE_CO_CHECK(co_await rt::sleep_for(loop, tries * kPause, scope));
  }
}

rt::Task<Result<ProfileDirs::Swept>> sweep_profiles(rt::Loop& loop, rt::Pool& pool,
                                                    ProfileDirs& directories,
                                                    rt::CancelScope& scope) {
  ProfileDirs::Swept all;
  for (int tries = 1;; ++tries) {
    REPRISE_CO_TRY(const ProfileDirs::Swept swept,
                   co_await pool.run(loop, [&directories] { return directories.sweep(); }));
    all.killed += swept.killed;
    all.removed += swept.removed;
    all.remaining = swept.remaining;
    if (all.remaining == 0 || tries == kMaxTries) co_return all;
    REPRISE_CO_CHECK(co_await rt::sleep_for(loop, tries * kPause, scope));
  }
}

Result<> check_passable(const std::filesystem::path& path, const rt::Identity& identity) {
  if (identity.uid == 0) return {};
  std::filesystem::path above;
  for (const std::filesystem::path& part : path) {
    above /= part;
    struct stat status{};
    if (::stat(above.c_str(), &status) != 0) return {};
    const mode_t bit = status.st_uid == identity.uid   ? S_IXUSR
                       : status.st_gid == identity.gid ? S_IXGRP
                                                       : S_IXOTH;
    if ((status.st_mode & bit) == 0)
      return fail(
          Code::kForbidden,
          fmt::format("user {} cannot use '{}': '{}' does not let it pass (mode {:o})",
                      identity.uid, path.native(), above.native(), status.st_mode & 07777U));
  }
  return {};
}

}  // namespace reprise::browser
