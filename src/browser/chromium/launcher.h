// launch(): starts a Chromium and returns when it answers.
//
//     REPRISE_CO_TRY(Launched browser,
//                    co_await launch(loop, pool, directories, {}, scope, deadline));
//     ... speaks CDP (JSON, each message followed by a NUL) over *browser.pipe ...
//     co_await retire(loop, pool, directories, std::move(browser));
//
// The pipe is the browser's life line: when our end is closed, by us or because we died, it ends by
// itself; and the kernel kills it with us besides (rt/process.h). What even that leaves is found by
// the next start (browser/profile_dirs.h).
//
// The sandbox. Chromium refuses to run sandboxed as root. So as root we run it as an unprivileged
// user, who owns its profile and nothing else, and it is sandboxed there: renderers live in
// namespaces of their own under a seccomp filter. That needs user namespaces, which Debian allows;
// where the system forbids them, the browser says "No usable sandbox!", and so does the error. It
// can not fall back to the setuid helper, because no child of ours can gain privileges. The
// processes for the network and for drawing are not sandboxed by Chromium itself.
//
// Threads: on the loop, which must run for as long as the server does (rt/process.h).
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "browser/chromium/binary.h"
#include "browser/chromium/devtools_address.h"
#include "browser/chromium/limits.h"
#include "browser/profile_dirs.h"
#include "rt/cancel.h"
#include "rt/pool.h"
#include "rt/process.h"
#include "rt/socket.h"
#include "rt/task.h"

namespace reprise::browser::chromium {

struct LaunchOptions {
  BinaryKind kind = BinaryKind::kHeadlessShell;
  std::filesystem::path binary;  // empty: find_browser(kind)
  bool is_sandboxed = true;
  // Whom it runs as. None: as root, unprivileged_user(); as anybody else, as we do.
  std::optional<rt::Identity> identity;
  std::vector<std::string> extra_arguments;
  std::vector<std::string> extra_environment;  // NAME=value
  // A DevTools port on loopback too, for clients that get a connection of their own. Pages must be
  // kept from it (see the URL policy).
  bool wants_port = false;
  // What it prints once it runs. Lines may hold addresses of pages and what pages print: no log.
  std::function<void(std::string_view line)> on_line;
};

struct Launched {
  std::unique_ptr<rt::Process> process;
  std::unique_ptr<rt::Socket> pipe;
  std::optional<DevToolsAddress> devtools;  // if a port was wanted
  std::string product;                      // "HeadlessChrome/156.0.8078.79"
  Profile profile;
};

// kNotFound if there is no such program, kForbidden if the directory or the user will not do, kIo
// if it does not start, with what it said, kDeadline, or the scope's reason. After an error nothing
// is left.
rt::Task<Result<Launched>> launch(rt::RealLoop& loop, rt::Pool& pool, ProfileDirs& directories,
                                  LaunchOptions options, rt::CancelScope& scope,
                                  rt::Deadline deadline);

// Closes the pipe, waits for the browser to end (and kills it when it takes longer than
// `patience`), and removes its profile. How it ended, or why the profile could not be removed. The
// pipe may be gone already. A browser that is dropped without this is killed, and its profile waits
// for the next sweep.
rt::Task<Result<rt::ExitStatus>> retire(rt::RealLoop& loop, rt::Pool& pool,
                                        ProfileDirs& directories, Launched browser,
                                        std::chrono::milliseconds patience = kMaxGoodbye);

}  // namespace reprise::browser::chromium
