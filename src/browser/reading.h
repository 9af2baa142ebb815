// What is stored of browsers, read: contexts, tabs and commands, by index.
//
// Threads: on any loop of the session service, with that loop's store.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "model/browsing.h"
#include "session/browser_rows.h"
#include "store/async.h"

namespace reprise::browser {

struct StoredCommand {
  Seq seq;
  std::string data;  // of its event: JSON
  std::string by;
};

struct CommandQuery {
  std::optional<bool> is_ok;
  std::optional<std::string> tool;
  std::optional<model::TabId> tab;
  Seq after;
  std::size_t limit = 0;
};

struct CommandPage {
  std::vector<StoredCommand> commands;  // in their order
  Seq next_after;                       // the last one looked at
  bool has_more = false;
};

rt::Task<Result<CommandPage>> read_commands(store::AsyncStore& store, StreamId stream,
                                            CommandQuery query);
// The newest first.
rt::Task<Result<std::vector<StoredCommand>>> read_latest_commands(store::AsyncStore& store,
                                                                  StreamId stream,
                                                                  std::size_t limit);
rt::Task<Result<std::vector<model::TabFacts>>> read_tabs(store::AsyncStore& store, StreamId stream);
rt::Task<Result<std::vector<model::ContextFacts>>> read_contexts(store::AsyncStore& store,
                                                                 StreamId stream);

// A context or a tab by its id: where it is, or nothing.
rt::Task<Result<std::optional<session::NodePlace>>> find_node(store::AsyncStore& store,
                                                              const Uuid& id);
// A page of ids of an index, from the first after `after` on.
struct IdPage {
  std::vector<Uuid> ids;
  std::string next;  // empty: there are no more
};
rt::Task<Result<IdPage>> read_ids(store::AsyncStore& store, std::string prefix, std::string end,
                                  std::string after, std::size_t limit);

}  // namespace reprise::browser
