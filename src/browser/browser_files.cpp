#include "browser/browser_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "browser/remove_tree.h"

namespace reprise::browser {
namespace {

using rt::Descriptor;

constexpr mode_t kPassable = 0711;
constexpr mode_t kReadableToGroup = 0750;
constexpr mode_t kFileMode = 0640;
constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

std::unexpected<Error> cannot(std::string_view what, const std::filesystem::path& path) {
  const int number = errno;
  const Code code = number == ENOSPC || number == EDQUOT ? Code::kNoSpace
                    : number == ENOENT                   ? Code::kNotFound
                                                         : Code::kIo;
  return fail(code, fmt::format("cannot {} '{}': {}", what, path.native(),
                                std::generic_category().message(number)));
}

// A directory in one of ours, made if it is missing, for this group.
Result<Descriptor> folder_in(int parent, const std::string& name, gid_t group, mode_t mode,
                             const std::filesystem::path& path) {
  if (::mkdirat(parent, name.c_str(), 0700) != 0 && errno != EEXIST) return cannot("make", path);
  Descriptor folder(::openat(parent, name.c_str(), kFolderFlags));
  if (!folder.is_valid()) return cannot("open", path);
  if (::geteuid() == 0 && ::fchown(folder.number(), 0, group) != 0)
    return cannot("give away", path);
  if (::fchmod(folder.number(), mode) != 0) return cannot("set the mode of", path);
  return folder;
}

}  // namespace

bool is_plain_name(std::string_view text) {
  return !text.empty() && text.size() <= 128 && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_';
  });
}

BrowserFiles::BrowserFiles(ProfileDirs& directories, Profile place, Descriptor in, Descriptor out,
                           uid_t owner, gid_t group)
    : directories_(directories),
      place_(std::move(place)),
      in_(std::move(in)),
      out_(std::move(out)),
      owner_(owner),
      group_(group) {}

Result<std::unique_ptr<BrowserFiles>> BrowserFiles::make(ProfileDirs& directories,
                                                         const Profile& profile) {
  struct stat browser{};
  if (::stat(profile.path.c_str(), &browser) != 0) return cannot("look at", profile.path);
  REPRISE_TRY(Profile place, directories.make_place());
  const Descriptor top(::open(place.path.c_str(), kFolderFlags));
  if (!top.is_valid()) return cannot("open", place.path);
  if (::fchmod(top.number(), kPassable) != 0) return cannot("set the mode of", place.path);
  REPRISE_TRY(Descriptor in,
              folder_in(top.number(), "in", browser.st_gid, kReadableToGroup, place.path / "in"));
  REPRISE_TRY(Descriptor out,
              folder_in(top.number(), "out", browser.st_gid, 0700, place.path / "out"));
  if (::geteuid() == 0 && ::fchown(out.number(), browser.st_uid, browser.st_gid) != 0)
    return cannot("give away", place.path / "out");
  return std::unique_ptr<BrowserFiles>(new BrowserFiles(directories, std::move(place),
                                                        std::move(in), std::move(out),
                                                        browser.st_uid, browser.st_gid));
}

std::filesystem::path BrowserFiles::downloads_of(const std::string& context) const {
  return place_.path / "out" / context;
}

Result<Descriptor> BrowserFiles::take_download(const std::string& context, const std::string& id) {
  if (!is_plain_name(context) || !is_plain_name(id))
    return fail(Code::kForbidden, "a download has another name than downloads have");
  const auto path = downloads_of(context) / id;
  const Descriptor folder(::openat(out_.number(), context.c_str(), kFolderFlags));
  if (!folder.is_valid()) return cannot("open", path);
  // A pipe that nobody writes to must not stop us.
  Descriptor file(
      ::openat(folder.number(), id.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.is_valid()) return cannot("open", path);
  struct stat status{};
  if (::fstat(file.number(), &status) != 0) return cannot("look at", path);
  if (!S_ISREG(status.st_mode) || status.st_uid != owner_ || status.st_nlink != 1)
    return fail(Code::kForbidden, "a download is no plain file of the browser's");
  if (::unlinkat(folder.number(), id.c_str(), 0) != 0) return cannot("remove", path);
  return file;
}

Result<LentFile> BrowserFiles::lend(const std::string& context, const std::string& name) {
  if (!is_plain_name(context) || name.empty() || name == "." || name == ".." ||
      name.find('/') != std::string::npos || name.find('\0') != std::string::npos)
    return fail(Code::kForbidden, "a file's name is one part of a path");
  const auto above = place_.path / "in" / context;
  REPRISE_TRY(const Descriptor whole,
              folder_in(in_.number(), context, group_, kReadableToGroup, above));
  const std::string number = fmt::to_string(next_.fetch_add(1, std::memory_order_relaxed));
  const auto path = above / number / name;
  REPRISE_TRY(const Descriptor folder,
              folder_in(whole.number(), number, group_, kReadableToGroup, above / number));
  Descriptor file(::openat(folder.number(), name.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.is_valid()) return cannot("make", path);
  if ((::geteuid() == 0 && ::fchown(file.number(), 0, group_) != 0) ||
      ::fchmod(file.number(), kFileMode) != 0)
    return cannot("give away", path);
  return LentFile{.file = std::move(file), .path = path};
}

Result<> BrowserFiles::forget(const std::string& context) {
  if (!is_plain_name(context)) return {};
  REPRISE_CHECK(remove_tree(in_.number(), context));
  return remove_tree(out_.number(), context);
}

Result<> BrowserFiles::remove() { return directories_.remove(place_); }

}  // namespace reprise::browser
