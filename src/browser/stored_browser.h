// A session's browser as the store knows it: its options, its newest context, its tabs.
//
//     b stream o     the options, as JSON; written when a browser is asked for
//     b stream k     cookies and local storage, sealed (browser/state_keeper.h)
//     b stream p     the password of the user's own proxy, sealed
//
// The rest is in rows that follow from the session's events (session/browser_rows.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "browser/options.h"
#include "model/browsing.h"
#include "rt/task.h"
#include "store/async.h"

namespace reprise::browser {

struct StoredBrowser {
  BrowserOptions options;
  std::optional<model::ContextFacts> context;  // the newest
  std::vector<model::TabFacts> tabs;           // of that context
};

rt::Task<Result<StoredBrowser>> read_stored_browser(store::AsyncStore& store, StreamId stream);
rt::Task<Result<>> write_browser_options(store::AsyncStore& store, StreamId stream,
                                         const BrowserOptions& options);
// What options leave out, sealed; an empty one is erased.
rt::Task<Result<std::optional<std::string>>> read_proxy_password(store::AsyncStore& store,
                                                                 StreamId stream);
rt::Task<Result<>> write_proxy_password(store::AsyncStore& store, StreamId stream,
                                        std::string sealed);
// Cookies and local storage, sealed; nothing if none were stored.
rt::Task<Result<std::optional<std::string>>> read_stored_state(store::AsyncStore& store,
                                                               StreamId stream);
rt::Task<Result<>> write_stored_state(store::AsyncStore& store, StreamId stream,
                                      std::string sealed);
rt::Task<Result<>> erase_stored_state(store::AsyncStore& store, StreamId stream);
// A session that has ended: its contexts and tabs are closed.
rt::Task<Result<>> close_stored_browser(store::AsyncStore& store, SessionId session,
                                        StreamId stream, TimePoint now);

}  // namespace reprise::browser
