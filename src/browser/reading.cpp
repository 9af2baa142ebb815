#include "browser/reading.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "browser/limits.h"
#include "browser/row_reader.h"

namespace reprise::browser {
namespace {

// The event of a command.
class OneEntry final : public store::EntryVisitor {
 public:
  bool visit(Seq, std::string_view bytes) override {
    bytes_ = bytes;
    return false;
  }
  std::optional<std::string> bytes_;
};

rt::Task<Result<StoredCommand>> read_command(store::AsyncStore& store, StreamId stream, Seq seq) {
  OneEntry entry;
  REPRISE_CO_CHECK(
      co_await store.read({.stream = stream, .after = Seq{seq.value - 1}, .limit = 1}, entry));
  if (!entry.bytes_)
    co_return fail(Code::kCorrupt, fmt::format("event {} of a command is missing", seq.value));
  REPRISE_CO_TRY(const model::EntryView view, model::decode_entry(*entry.bytes_));
  co_return StoredCommand{.seq = seq, .data = std::string(view.data), .by = std::string(view.by)};
}

bool matches(const CommandQuery& query, const session::CommandRow& row) {
  return (!query.is_ok || *query.is_ok == row.is_ok) && (!query.tool || *query.tool == row.tool) &&
         (!query.tab || query.tab == row.tab);
}

// The narrowest index that has all that is asked for.
std::string rows_for(StreamId stream, const CommandQuery& query) {
  if (query.tab) return session::tab_command_rows_prefix(stream, *query.tab);
  if (query.is_ok && !*query.is_ok) return session::failed_rows_prefix(stream);
  return session::command_rows_prefix(stream);
}

}  // namespace

rt::Task<Result<CommandPage>> read_commands(store::AsyncStore& store, StreamId stream,
                                            CommandQuery query) {
  const std::string prefix = rows_for(stream, query);
  CommandPage page{.commands = {}, .next_after = query.after};
  for (std::size_t examined = 0;;) {
    std::string begin = prefix;
    put_be64(begin, page.next_after.value + 1);
    REPRISE_CO_TRY(const auto rows, co_await store.scan({.begin = std::move(begin),
                                                         .end = prefix_end(prefix),
                                                         .is_reverse = false,
                                                         .limit = kMaxCommandPageLimit}));
    for (const auto& record : rows.records) {
      if (page.commands.size() >= query.limit || examined >= kMaxExaminedCommands) {
        page.has_more = true;
        co_return page;
      }
      ++examined;
      page.next_after = session::seq_of_row_key(record.key);
      REPRISE_CO_TRY(const auto row, session::decode_command_row(record.value));
      if (!matches(query, row)) continue;
      REPRISE_CO_TRY(auto command, co_await read_command(store, stream, page.next_after));
      page.commands.push_back(std::move(command));
    }
    if (!rows.has_more) co_return page;
  }
}

rt::Task<Result<std::vector<StoredCommand>>> read_latest_commands(store::AsyncStore& store,
                                                                  StreamId stream,
                                                                  std::size_t limit) {
  std::vector<StoredCommand> commands;
  if (limit == 0) co_return commands;
  const std::string prefix = session::command_rows_prefix(stream);
  REPRISE_CO_TRY(
      const auto rows,
      co_await store.scan(
          {.begin = prefix, .end = prefix_end(prefix), .is_reverse = true, .limit = limit}));
  for (const auto& record : rows.records) {
    REPRISE_CO_TRY(auto command,
                   co_await read_command(store, stream, session::seq_of_row_key(record.key)));
    commands.push_back(std::move(command));
  }
  co_return commands;
}

rt::Task<Result<std::vector<model::TabFacts>>> read_tabs(store::AsyncStore& store,
                                                         StreamId stream) {
  REPRISE_CO_TRY(auto tabs,
                 co_await read_rows(store, session::tab_rows_prefix(stream), &model::decode_tab));
  std::ranges::sort(tabs, {}, &model::TabFacts::index);
  co_return tabs;
}

rt::Task<Result<std::vector<model::ContextFacts>>> read_contexts(store::AsyncStore& store,
                                                                 StreamId stream) {
  co_return co_await read_rows(store, session::context_rows_prefix(stream), &model::decode_context);
}

rt::Task<Result<std::optional<session::NodePlace>>> find_node(store::AsyncStore& store,
                                                              const Uuid& id) {
  REPRISE_CO_TRY(const auto record, co_await store.get(session::node_key(id)));
  if (!record) co_return std::optional<session::NodePlace>();
  REPRISE_CO_TRY(auto place, session::decode_node(record->value));
  co_return std::optional(place);
}

rt::Task<Result<IdPage>> read_ids(store::AsyncStore& store, std::string prefix, std::string end,
                                  std::string after, std::size_t limit) {
  REPRISE_CO_TRY(const auto rows,
                 co_await store.scan({.begin = after.empty() ? prefix : after + '\0',
                                      .end = std::move(end),
                                      .is_reverse = false,
                                      .limit = limit}));
  IdPage page;
  for (const auto& record : rows.records) {
    if (const auto id = session::id_of_browser_index(record.key)) page.ids.push_back(*id);
    if (rows.has_more) page.next = record.key;
  }
  co_return page;
}

}  // namespace reprise::browser
