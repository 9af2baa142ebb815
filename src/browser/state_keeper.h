// StateKeeper: one session's cookies and local storage, kept so that they outlive its context.
//
// What sites keep is read a moment after something that may have changed it (a command, a page that
// moved), sealed (browser/state_vault.h) and stored under the session, if it is not what was stored
// last. A browser that crashes cannot be asked any more, so that what was read last is what comes
// back; a context that is put to sleep is asked before.
//
//     b stream k     the sealed state, as storage_state_json() writes it (browser/stored_browser.h)
//
// Threads: belongs to the browsers' loop.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "browser/driver.h"
#include "browser/storage_state.h"
#include "rt/gate.h"
#include "rt/turns.h"

namespace reprise::browser {

struct Surroundings;

class StateKeeper {
 public:
  // The surroundings outlive it. stop() comes before its end.
  StateKeeper(Surroundings& around, StreamId stream);
  ~StateKeeper();

  // What the next context begins with, in place of what is stored.
  void begin_with(StorageState state) { given_ = std::move(state); }
  // Puts what is kept into a fresh context. An error where that was begin_with()'s; what is stored
  // and cannot be brought back is left behind, which the words say (empty: all is well).
  rt::Task<Result<std::string>> restore(Context& context);

  // Something may have changed what sites keep.
  void note_change(const std::shared_ptr<Context>& context);
  // Asked now and then: pages also change it by themselves.
  void note_time(const std::shared_ptr<Context>& context);

  // As the context has it now.
  rt::Task<Result<StorageState>> read(Context& context, bool is_complete = true);
  // As it was last stored; empty if it was not, or cannot be read.
  rt::Task<Result<StorageState>> stored();
  // Reads and stores it.
  rt::Task<Result<>> save(Context& context);
  // Whether somebody sees the context's pages, who should not see ours come and go.
  std::function<bool()> is_watched = [] { return false; };
  // Everything that sites keep is this afterwards; if it cannot be, it is what it was.
  rt::Task<Result<>> replace(Context& context, StorageState state);
  // Nothing is kept any more.
  rt::Task<Result<>> forget();
  // What was to be read soon is not, and nothing is until the next restore().
  rt::Task<> stop();

 private:
  rt::Task<> save_later(std::weak_ptr<Context> context);
  rt::Task<Result<>> put(Context& context, const StorageState& state);
  void know(std::vector<OriginStorage> origins);

  Surroundings& around_;
  const StreamId stream_;
  std::optional<StorageState> given_;
  // By origin, as last read: a context forgets nothing, but it is asked only for what pages showed.
  std::map<std::string, std::vector<StorageItem>> known_;
  std::string stored_digest_;
  std::size_t stored_bytes_ = 0;
  rt::Nanos saved_at_{0};
  bool is_watching_ = false;   // from restore() to stop()
  bool is_forgotten_ = false;  // nothing is kept of this context any more
  bool is_scheduled_ = false;
  bool has_warned_ = false;
  std::unique_ptr<rt::CancelScope> scope_ = std::make_unique<rt::CancelScope>();
  rt::Turns turns_;
  rt::Gate gate_;
};

}  // namespace reprise::browser
