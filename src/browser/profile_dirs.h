// ProfileDirs: where running browsers keep their files, and how what a crash left is found again.
//
//     RUN/lock              locked by the server that uses the directory
//     RUN/NAME.browser      a running browser: its pid, when it started, its profile
//     RUN/profiles/NAME/    its files, with data/ home/ tmp/ ... inside; 0700, owned by its user
//
// A browser dies with the server (rt/process.h), its files do not. So a server sweeps the directory
// when it starts: it kills what is recorded and still runs, and removes all profiles. Killed is
// only a process whose pid and start time are the recorded ones and whose command line names the
// profile: anybody else's process may have the same number by now. The lock keeps a second server
// from sweeping away the browsers of the first.
//
// A browser may run as another user than we do: RUN is open for passing through (0711), and so must
// be the directories above it.
//
// Threads: any. Members wait for the disk: loops call them on a pool, as the functions below do.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "rt/cancel.h"
#include "rt/descriptor.h"
#include "rt/pool.h"
#include "rt/process.h"
#include "rt/task.h"

namespace reprise::browser {

struct Profile {
  std::string name;
  std::filesystem::path path;

  // What is in it from the start.
  std::filesystem::path data() const { return path / "data"; }
  std::filesystem::path home() const { return path / "home"; }
  std::filesystem::path temporary() const { return path / "tmp"; }
  std::filesystem::path runtime() const { return path / "run"; }
};

// What RUN/NAME.browser says.
struct BrowserRecord {
  pid_t pid = 0;
  std::uint64_t started = 0;  // browser/process_table.h
  std::filesystem::path profile;
};
std::string encode_record(const BrowserRecord& record);
std::optional<BrowserRecord> parse_record(std::string_view text);

// Whether a command line (arguments, each with a NUL) has the path, or a path below it, in it.
bool names_path(std::string_view command_line, const std::filesystem::path& path);

class ProfileDirs {
 public:
  // Makes the directory if it is missing. kConflict if a server has it already; kForbidden if it is
  // not ours, or others may write to it.
  static Result<std::unique_ptr<ProfileDirs>> open(std::filesystem::path directory);
  const std::filesystem::path& directory() const { return directory_; }

  // A new, empty profile that `owner` (none: we) can use. kForbidden if a directory above cannot be
  // passed through by the owner.
  Result<Profile> make(std::optional<rt::Identity> owner);
  // A new, empty directory of ours beside the profiles, removed and swept as they are.
  Result<Profile> make_place();
  // The profile's browser runs.
  Result<> record(const Profile& profile, pid_t pid);
  // One try; kIo while something is still writing to it.
  Result<> remove(const Profile& profile);

  struct Swept {
    std::size_t killed = 0;
    std::size_t removed = 0;    // profiles
    std::size_t remaining = 0;  // profiles that could not be removed
  };
  // Before the first make().
  Result<Swept> sweep();

 private:
  ProfileDirs(std::filesystem::path directory, rt::Descriptor run, rt::Descriptor lock,
              rt::Descriptor profiles);
  Result<> fill(const Profile& profile, std::optional<rt::Identity> owner);
  std::size_t kill_recorded(const std::vector<std::string>& names);

  const std::filesystem::path directory_;
  const rt::Descriptor run_;
  const rt::Descriptor lock_;
  const rt::Descriptor profiles_;
};

// Removes the profile of a browser that has ended, or was killed, on the pool: a few tries, because
// the last of its processes may still be writing.
rt::Task<Result<>> remove_profile(rt::Loop& loop, rt::Pool& pool, ProfileDirs& directories,
                                  Profile profile, rt::CancelScope& scope);
// The same for sweep(): what cannot be removed at last is told, and no error.
rt::Task<Result<ProfileDirs::Swept>> sweep_profiles(rt::Loop& loop, rt::Pool& pool,
                                                    ProfileDirs& directories,
                                                    rt::CancelScope& scope);

// Whether a user may pass through all directories of a path; the missing ones at its end do not
// count.
Result<> check_passable(const std::filesystem::path& path, const rt::Identity& identity);

}  // namespace reprise::browser
