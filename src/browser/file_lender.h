// FileLender: artifacts of a session as files that its browser can read, for file inputs and drops.
//
//     REPRISE_CO_TRY(const auto paths, co_await lender.lend(context, {"report.pdf"}));
//     co_await page.set_files(element, paths, deadline);
//
// What a caller names is the path of an artifact and nothing else: no path of a caller's ever
// reaches a file system. The files stay for as long as the context does, since pages read them when
// they like, and have the last part of the artifact's path for a name.
//
// Threads: belongs to the browsers' loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "browser/driver.h"
#include "rt/task.h"
#include "session/artifacts.h"

namespace reprise::browser {

// What one context was lent: files stay as long as it does, so that its limit is one for all calls.
class LentTally {
 public:
  // kBodyTooLarge beyond kMaxLentFiles of one call or kMaxLentBytes in all, and then nothing is
  // added. Another context begins anew.
  Result<> add(std::string_view context, std::size_t files, std::uint64_t bytes);

 private:
  std::string context_;
  std::uint64_t bytes_ = 0;
};

// What the file of an artifact is called: the last part of its path. Of a long one the middle is
// left out, and the end stays by which its kind is known.
std::string lent_name(std::string_view artifact);

class FileLender {
 public:
  // Both outlive it.
  FileLender(rt::Loop& loop, session::ArtifactService& artifacts, SessionId session)
      : loop_(loop), artifacts_(artifacts), session_(session) {}

  // As many as are named, in that order; all are looked at before the first is copied.
  // kArtifactNotFound, kBadPath and the like as of artifacts; kBodyTooLarge beyond kMaxLentFiles
  // or kMaxLentBytes, which is for all that a context was lent.
  rt::Task<Result<std::vector<std::string>>> lend(Context& context,
                                                  std::vector<std::string> artifacts);

 private:
  rt::Task<Result<std::string>> copy(Context& context, const session::ArtifactView& view);
  rt::Loop& loop_;
  session::ArtifactService& artifacts_;
  const SessionId session_;
  LentTally tally_;
};

}  // namespace reprise::browser
