#include "browser/remove_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>
#include <system_error>
#include <vector>

#include "rt/descriptor.h"

namespace reprise::browser {
namespace {

using rt::Descriptor;

// One try, however much there is.
constexpr std::chrono::milliseconds kMaxTime{2'000};
// Names taken from a directory at a time: it may hold millions.
constexpr std::size_t kNamesAtATime = 4'096;

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

// Some of the names in an open directory; none if it is empty or cannot be read.
std::vector<std::string> some_names(const Descriptor& directory) {
  std::vector<std::string> names;
  // Opened once more, because reading moves a position, and from the start.
  Descriptor again(::openat(directory.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!again.is_valid()) return names;
  const std::unique_ptr<DIR, CloseFolder> folder(::fdopendir(again.number()));
  if (!folder) return names;
  again.release();
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the folder's handle is this function's own
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    names.emplace_back(name);
    if (names.size() == kNamesAtATime) break;
  }
  return names;
}

// Opens a directory in another, never through a link, and as ours to write: we may not be root, and
// it may be read-only or worse.
Descriptor open_folder(int parent, const std::string& name) {
  const Descriptor place(
      ::openat(parent, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!place.is_valid()) return {};
  ::chmod(fmt::format("/proc/self/fd/{}", place.number()).c_str(), S_IRWXU);
  return Descriptor(::openat(place.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

class Removal {
 public:
  explicit Removal(Descriptor top) : top_(std::move(top)) {}

  // Whether anything was removed or moved.
  bool round() {
    done_ = 0;
    for (const std::string& name : some_names(top_)) remove(name);
    return done_ > 0;
  }
  int error() const { return error_; }

 private:
  bool has_done(int outcome) {
    if (outcome == 0)
      ++done_;
    else
      error_ = errno;
    return outcome == 0;
  }

  void remove(const std::string& name) {
    if (has_done(::unlinkat(top_.number(), name.c_str(), 0)) || error_ != EISDIR) return;
    dissolve(name);
    has_done(::unlinkat(top_.number(), name.c_str(), AT_REMOVEDIR));
  }

  // Removes the files of a directory in the top one, and moves its directories to the top.
  void dissolve(const std::string& name) {
    const Descriptor inner = open_folder(top_.number(), name);
    if (!inner.is_valid()) return;
    for (const std::string& file : some_names(inner))
      if (!has_done(::unlinkat(inner.number(), file.c_str(), 0)) && error_ == EISDIR)
        move_up(inner, file);
  }

  void move_up(const Descriptor& from, const std::string& name) {
    open_folder(from.number(), name);  // who moves a directory must be able to write to it
    for (;;) {
      const std::string moved = fmt::format("moved-{}", next_name_++);
      if (has_done(::renameat2(from.number(), name.c_str(), top_.number(), moved.c_str(),
                               RENAME_NOREPLACE)))
        return;
      if (error_ != EEXIST) return;
    }
  }

  Descriptor top_;
  std::size_t done_ = 0;
  std::size_t next_name_ = 0;
  int error_ = 0;
};

}  // namespace

Result<> remove_tree(int parent, const std::string& name) {
  const auto give_up = [&](int number) {
    return fail(Code::kIo, fmt::format("cannot remove '{}': {}", name,
                                       std::generic_category().message(number)));
  };
  Descriptor top = open_folder(parent, name);
  if (!top.is_valid()) {
    // A link or a file: that itself goes.
    const bool is_other = errno == ELOOP || errno == ENOTDIR;
    if (errno == ENOENT || (is_other && ::unlinkat(parent, name.c_str(), 0) == 0)) return {};
    return give_up(errno);
  }
  Removal removal(std::move(top));
  const auto until = std::chrono::steady_clock::now() + kMaxTime;
  for (;;) {
    if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
    const int number = errno;
    if (number != ENOTEMPTY && number != EEXIST) return give_up(number);
    if (!removal.round()) return give_up(removal.error() != 0 ? removal.error() : number);
    if (std::chrono::steady_clock::now() >= until) return give_up(EBUSY);
  }
}

}  // namespace reprise::browser
