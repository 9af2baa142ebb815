#include "session/browser_rows.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "session/limits.h"

namespace reprise::session {
namespace {

constexpr char kTable = 'b';
constexpr char kIndexTable = 'B';
constexpr char kContext = 'c';
constexpr char kTab = 't';
constexpr char kCommand = 'm';
constexpr char kFailed = 'f';
constexpr char kOfTab = 's';
constexpr char kIndexed = 'r';

std::string row_prefix(StreamId stream, char kind) { return browser_prefix(stream) + kind; }

std::string index_prefix(char kind) { return {kIndexTable, kind}; }

std::string with_seq(std::string prefix, Seq seq) {
  put_be64(prefix, seq.value);
  return prefix;
}

void put_time_key(std::string& key, TimePoint at) {
  put_be64(key, static_cast<std::uint64_t>(at.ms));
}

// Index entries of one session's context or tab. A commit may have several events of one tab, and
// erases before it puts: whatever comes last takes back what came before.
class Indexes {
 public:
  Indexes(store::Commit& commit, StreamId stream) : commit_(commit), stream_(stream) {}
  void put(const std::string& key, std::string value) {
    put_one(row_prefix(stream_, kIndexed) + key, {});
    put_one(key, std::move(value));
  }
  void erase(const std::string& key) {
    erase_one(row_prefix(stream_, kIndexed) + key);
    erase_one(key);
  }

 private:
  void put_one(std::string key, std::string value) {
    std::erase_if(commit_.erases, [&](const auto& erased) { return erased.key == key; });
    commit_.puts.push_back({.key = std::move(key), .value = std::move(value), .only_if = {}});
  }
  void erase_one(std::string key) {
    std::erase_if(commit_.puts, [&](const auto& put) { return put.key == key; });
    commit_.erases.push_back({.key = std::move(key), .only_if = {}});
  }
  store::Commit& commit_;
  StreamId stream_;
};

std::string encode_node(BrowserNode type, SessionId session, StreamId stream) {
  std::string value(1, static_cast<char>(type));
  value += session.view();
  value += stream.view();
  return value;
}

std::string_view bytes_of(const Uuid& id) {
  return {reinterpret_cast<const char*>(id.data()), id.size()};
}

std::string closed_key(BrowserNode type, TimePoint at, const Uuid& id) {
  std::string key = closed_prefix(type);
  put_time_key(key, at);
  return key += bytes_of(id);
}

std::string encode_command(const model::CommandFacts& command) {
  std::string value(1, command.is_ok ? '\1' : '\0');
  value.push_back(command.tab ? '\1' : '\0');
  if (command.tab) value += command.tab->view();
  put_text(value, command.tool);
  return value;
}

void add_command(store::Commit& commit, StreamId stream, Seq seq, std::string_view data) {
  const auto command = model::decode_command(data);
  REPRISE_ASSERT(command.has_value(), data);  // made just now, or checked when it was read
  const std::string value = encode_command(*command);
  const auto put = [&](std::string key) {
    commit.puts.push_back({.key = std::move(key), .value = value, .only_if = {}});
  };
  put(with_seq(command_rows_prefix(stream), seq));
  if (!command->is_ok) put(with_seq(failed_rows_prefix(stream), seq));
  if (command->tab) put(with_seq(tab_command_rows_prefix(stream, *command->tab), seq));
}

}  // namespace

std::string browser_prefix(StreamId stream) {
  std::string key(1, kTable);
  return key += stream.view();
}
std::string context_rows_prefix(StreamId stream) { return row_prefix(stream, kContext); }
std::string tab_rows_prefix(StreamId stream) { return row_prefix(stream, kTab); }
std::string context_row_key(StreamId stream, model::ContextId id) {
  return context_rows_prefix(stream) + std::string(id.view());
}
std::string tab_row_key(StreamId stream, model::TabId id) {
  return tab_rows_prefix(stream) + std::string(id.view());
}
std::string command_rows_prefix(StreamId stream) { return row_prefix(stream, kCommand); }
std::string failed_rows_prefix(StreamId stream) { return row_prefix(stream, kFailed); }
std::string tab_command_rows_prefix(StreamId stream, model::TabId tab) {
  return row_prefix(stream, kOfTab) + std::string(tab.view());
}

Seq seq_of_row_key(std::string_view key) {
  REPRISE_ASSERT(key.size() > 8, key.size());
  return {get_be64(key.substr(key.size() - 8))};
}

std::string node_key(const Uuid& id) { return index_prefix('n') + std::string(bytes_of(id)); }

std::string node_by_key_prefix(BrowserNode type, std::string_view key) {
  std::string prefix = index_prefix('k');
  prefix.push_back(static_cast<char>(type));
  prefix += key;
  prefix.push_back('\0');
  return prefix;
}

std::string pool_sessions_prefix(std::string_view pool_key) {
  return (index_prefix('p') += pool_key) += '\0';
}

std::string external_pools_prefix() { return index_prefix('P'); }
std::string app_policy_key(std::string_view app) { return index_prefix('U') += app; }
std::string context_status_prefix(model::ContextStatus status) {
  return index_prefix('x') + static_cast<char>(status);
}

std::string open_tabs_prefix() { return index_prefix('o'); }

std::string closed_prefix(BrowserNode type) { return index_prefix('e') + static_cast<char>(type); }

std::string closed_range_end(BrowserNode type, TimePoint until) {
  std::string key = closed_prefix(type);
  put_time_key(key, until + Millis{1});
  return key;
}

std::optional<Uuid> id_of_browser_index(std::string_view key) {
  if (key.size() < 16) return std::nullopt;
  return model::TabId::from_bytes(key.substr(key.size() - 16))->bytes;
}

Result<NodePlace> decode_node(std::string_view value) {
  ByteReader reader(value);
  std::uint8_t type = 0;
  std::string_view session;
  std::string_view stream;
  if (!reader.byte(type) || type < 1 || type > 2 || !reader.take(16, session) ||
      !reader.take(16, stream) || !reader.at_end())
    return fail(Code::kCorrupt, "a stored node does not decode");
  return NodePlace{.type = static_cast<BrowserNode>(type),
                   .session = *SessionId::from_bytes(session),
                   .stream = *StreamId::from_bytes(stream)};
}

Result<CommandRow> decode_command_row(std::string_view value) {
  ByteReader reader(value);
  CommandRow row;
  std::uint8_t is_ok = 0;
  std::uint8_t has_tab = 0;
  std::string_view tab;
  if (!reader.byte(is_ok) || is_ok > 1 || !reader.byte(has_tab) || has_tab > 1 ||
      (has_tab == 1 && !reader.take(16, tab)) || !reader.text(row.tool) || !reader.at_end())
    return fail(Code::kCorrupt, "a stored command does not decode");
  row.is_ok = is_ok == 1;
  if (has_tab == 1) row.tab = model::TabId::from_bytes(tab);
  return row;
}

std::string takeovers_prefix() { return index_prefix('v'); }

void put_takeover_row(store::Commit& commit, SessionId session, StreamId stream) {
  Indexes(commit, stream)
      .put(takeovers_prefix() + std::string(session.view()), std::string(stream.view()));
}

void erase_takeover_row(store::Commit& commit, SessionId session, StreamId stream) {
  Indexes(commit, stream).erase(takeovers_prefix() + std::string(session.view()));
}

void put_context_row(store::Commit& commit, SessionId session, StreamId stream,
                     const model::ContextFacts& context) {
  commit.puts.push_back(
      {.key = context_row_key(stream, context.id),
       .value = model::context_event(model::event_type::kContextOpened, context, {}).data,
       .only_if = {}});
  Indexes indexes(commit, stream);
  indexes.put(node_key(context.id.bytes), encode_node(BrowserNode::kContext, session, stream));
  indexes.put(
      node_by_key_prefix(BrowserNode::kContext, context.key) + std::string(context.id.view()), {});
  indexes.put(pool_sessions_prefix(context.pool_key) + std::string(session.view()),
              std::string(context.id.view()));
  for (const auto status : {model::ContextStatus::kOpen, model::ContextStatus::kHibernated,
                            model::ContextStatus::kOrphaned, model::ContextStatus::kClosed}) {
    const std::string key = context_status_prefix(status) + std::string(context.id.view());
    if (status == context.status)
      indexes.put(key, {});
    else
      indexes.erase(key);
  }
  if (context.closed_at)
    indexes.put(closed_key(BrowserNode::kContext, *context.closed_at, context.id.bytes), {});
}

void put_tab_row(store::Commit& commit, SessionId session, StreamId stream,
                 const model::TabFacts& tab) {
  commit.puts.push_back(
      {.key = tab_row_key(stream, tab.id),
       .value = model::tab_event(model::event_type::kTabOpened, tab, std::nullopt, {}).data,
       .only_if = {}});
  Indexes indexes(commit, stream);
  indexes.put(node_key(tab.id.bytes), encode_node(BrowserNode::kTab, session, stream));
  indexes.put(node_by_key_prefix(BrowserNode::kTab, tab.key) + std::string(tab.id.view()), {});
  const std::string open = open_tabs_prefix() + std::string(tab.id.view());
  if (tab.status == model::TabStatus::kClosed)
    indexes.erase(open);
  else
    indexes.put(open, {});
  if (tab.closed_at) indexes.put(closed_key(BrowserNode::kTab, *tab.closed_at, tab.id.bytes), {});
}

void add_browser_rows(store::Commit& commit, SessionId session, StreamId stream, Seq seq,
                      const model::Event& event) {
  if (event.type == model::event_type::kCommand) {
    add_command(commit, stream, seq, event.data);
  } else if (model::is_context_type(event.type)) {
    const auto context = model::decode_context(event.data);
    REPRISE_ASSERT(context.has_value(), event.data);
    put_context_row(commit, session, stream, *context);
  } else if (model::is_tab_type(event.type)) {
    const auto tab = model::decode_tab(event.data);
    REPRISE_ASSERT(tab.has_value(), event.data);
    put_tab_row(commit, session, stream, *tab);
  }
}

void add_browser_history(store::Commit& commit, StreamId stream, Seq seq,
                         const model::Event& event) {
  const auto put = [&](std::string key) {
    commit.puts.push_back({.key = std::move(key), .value = event.data, .only_if = {}});
  };
  if (event.type == model::event_type::kCommand) {
    add_command(commit, stream, seq, event.data);
  } else if (model::is_context_type(event.type)) {
    const auto context = model::decode_context(event.data);
    REPRISE_ASSERT(context.has_value(), event.data);
    put(context_row_key(stream, context->id));
  } else if (model::is_tab_type(event.type)) {
    const auto tab = model::decode_tab(event.data);
    REPRISE_ASSERT(tab.has_value(), event.data);
    put(tab_row_key(stream, tab->id));
  }
}

rt::Task<Result<>> sweep_browser_rows(store::AsyncStore& store, StreamId stream) {
  const std::string prefix = browser_prefix(stream);
  const std::string indexed = row_prefix(stream, kIndexed);
  for (bool has_more = true; has_more;) {
    REPRISE_CO_TRY(const auto page, co_await store.scan({.begin = prefix,
                                                         .end = prefix_end(prefix),
                                                         .is_reverse = false,
                                                         .limit = kJanitorBatch}));
    store::Commit commit;
    for (const auto& row : page.records) {
      commit.erases.push_back({.key = row.key, .only_if = {}});
      if (row.key.starts_with(indexed))
        commit.erases.push_back({.key = row.key.substr(indexed.size()), .only_if = {}});
    }
    has_more = page.has_more;
    if (!commit.is_empty()) REPRISE_CO_CHECK(co_await store.commit(std::move(commit)));
  }
  co_return Result<>{};
}

}  // namespace reprise::session
