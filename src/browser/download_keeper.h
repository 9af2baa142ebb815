// DownloadKeeper: what a session's pages download becomes artifacts of the session.
//
// A file is at `downloads/NAME`, its name as the site suggests it, made safe for a path, and with a
// number where there is one of that name already. Too large or too many ones are cancelled. What
// became of each is told in a line of the next command's answer (notes).
//
// Threads: belongs to the browsers' loop.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "browser/download_book.h"
#include "browser/driver.h"
#include "rt/gate.h"
#include "rt/turns.h"

namespace reprise::browser {

struct Surroundings;

class DownloadKeeper {
 public:
  // The surroundings outlive it. stop() comes before its end.
  DownloadKeeper(Surroundings& around, SessionId session);
  ~DownloadKeeper();

  void on_news(const std::shared_ptr<Context>& context, const DownloadNews& news);

  // How many have ever begun.
  std::uint64_t begun() const { return book_.begun(); }
  // Until those that began after so many others are over, or the deadline has passed.
  rt::Task<> wait_for_new(std::uint64_t since, rt::CancelScope& scope, rt::Deadline deadline);
  // What became of them since this was last asked, a line each.
  std::vector<std::string> take_notes() { return book_.take_notes(); }
  // The context goes: what is under way is given up.
  rt::Task<> stop();

 private:
  rt::Task<> finish(std::shared_ptr<Context> context, std::string id);
  // The line that tells of it.
  rt::Task<Result<std::string>> keep(Context& context, std::string id, std::string name);

  Surroundings& around_;
  const SessionId session_;
  DownloadBook book_;
  rt::Signal changed_;
  rt::Turns storing_;
  rt::Gate gate_;
  bool is_stopping_ = false;
};

}  // namespace reprise::browser
