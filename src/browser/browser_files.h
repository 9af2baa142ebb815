// BrowserFiles: the files that go between us and one browser, which may run as another user.
//
//     RUN/profiles/NAME/out/CONTEXT/ID       what it downloads; the browser's own directory
//     RUN/profiles/NAME/in/CONTEXT/N/FILE    what it may read: files of ours, lent to pages
//
// It belongs to the browser's life: made when the browser starts, removed when it ends, and swept
// with the profiles after a crash (browser/profile_dirs.h). A context's part goes with the context.
//
// The browser may be hostile: it owns `out`, and can put links and pipes there. So a download is
// named by names in open directories, no link is followed, and only a plain file of the browser's
// own that has no other name is taken. What we write is in `in`, which the browser cannot change.
//
// Threads: any. Members wait for the disk: loops call them on a pool.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "browser/profile_dirs.h"
#include "rt/descriptor.h"

namespace reprise::browser {

// A file that a browser can read, open for us to write.
struct LentFile {
  rt::Descriptor file;
  std::filesystem::path path;
};

class BrowserFiles {
 public:
  // For the browser whose profile it is. The directories outlive it.
  static Result<std::unique_ptr<BrowserFiles>> make(ProfileDirs& directories,
                                                    const Profile& profile);

  // Where a context's downloads go; the browser makes the directory when it needs it.
  std::filesystem::path downloads_of(const std::string& context) const;
  // A download that is done, open for reading, and gone from the directory. kNotFound if it is not
  // there, kForbidden if it is no plain file of the browser's.
  Result<rt::Descriptor> take_download(const std::string& context, const std::string& id);
  // A new file of that name, which is one part of a path.
  Result<LentFile> lend(const std::string& context, const std::string& name);
  // The context is gone.
  Result<> forget(const std::string& context);
  // The browser is gone.
  Result<> remove();

 private:
  BrowserFiles(ProfileDirs& directories, Profile place, rt::Descriptor in, rt::Descriptor out,
               uid_t owner, gid_t group);
  ProfileDirs& directories_;
  const Profile place_;
  const rt::Descriptor in_;
  const rt::Descriptor out_;
  const uid_t owner_;
  const gid_t group_;
  std::atomic<std::uint64_t> next_{1};
};

// Whether a text can be one part of a path that we make: letters, digits, '-' and '_'.
bool is_plain_name(std::string_view text);

}  // namespace reprise::browser
