#include "browser/stored_browser.h"

#include <utility>

#include "browser/row_reader.h"
#include "session/browser_rows.h"

namespace reprise::browser {
namespace {

std::string options_key(StreamId stream) { return session::browser_prefix(stream) + 'o'; }
std::string state_key(StreamId stream) { return session::browser_prefix(stream) + 'k'; }
std::string password_key(StreamId stream) { return session::browser_prefix(stream) + 'p'; }

rt::Task<Result<std::optional<std::string>>> read_record(store::AsyncStore& store,
                                                         std::string key) {
  REPRISE_CO_TRY(auto record, co_await store.get(std::move(key)));
  if (!record) co_return std::nullopt;
  co_return std::move(record->value);
}

rt::Task<Result<>> write_record(store::AsyncStore& store, std::string key, std::string value) {
  store::Commit commit;
  commit.puts.push_back({.key = std::move(key), .value = std::move(value), .only_if = {}});
  REPRISE_CO_CHECK(co_await store.commit(std::move(commit)));
  co_return Result<>{};
}

rt::Task<Result<>> erase_record(store::AsyncStore& store, std::string key) {
  REPRISE_CO_TRY(const auto record, co_await store.get(key));
  if (!record) co_return Result<>{};
  store::Commit commit;
  commit.erases.push_back({.key = std::move(key), .only_if = {}});
  REPRISE_CO_CHECK(co_await store.commit(std::move(commit)));
  co_return Result<>{};
}

}  // namespace

rt::Task<Result<StoredBrowser>> read_stored_browser(store::AsyncStore& store, StreamId stream) {
  StoredBrowser stored;
  REPRISE_CO_TRY(const auto options, co_await store.get(options_key(stream)));
  if (options) {
    REPRISE_CO_TRY(const auto document, wire::parse_json(options->value));
    REPRISE_CO_TRY(stored.options, parse_browser_options(document.root()));
  }
  REPRISE_CO_TRY(auto contexts, co_await read_rows(store, session::context_rows_prefix(stream),
                                                   &model::decode_context));
  if (contexts.empty()) co_return stored;
  // Ids ascend with time.
  stored.context = std::move(contexts.back());
  REPRISE_CO_TRY(auto tabs,
                 co_await read_rows(store, session::tab_rows_prefix(stream), &model::decode_tab));
  for (model::TabFacts& tab : tabs)
    if (tab.context == stored.context->id) stored.tabs.push_back(std::move(tab));
  co_return stored;
}

rt::Task<Result<>> write_browser_options(store::AsyncStore& store, StreamId stream,
                                         const BrowserOptions& options) {
  store::Commit commit;
  commit.puts.push_back(
      {.key = options_key(stream), .value = browser_options_json(options), .only_if = {}});
  REPRISE_CO_CHECK(co_await store.commit(std::move(commit)));
  co_return Result<>{};
}

rt::Task<Result<std::optional<std::string>>> read_proxy_password(store::AsyncStore& store,
                                                                 StreamId stream) {
  return read_record(store, password_key(stream));
}

rt::Task<Result<>> write_proxy_password(store::AsyncStore& store, StreamId stream,
                                        std::string sealed) {
  return sealed.empty() ? erase_record(store, password_key(stream))
                        : write_record(store, password_key(stream), std::move(sealed));
}

rt::Task<Result<std::optional<std::string>>> read_stored_state(store::AsyncStore& store,
                                                               StreamId stream) {
  return read_record(store, state_key(stream));
}

rt::Task<Result<>> write_stored_state(store::AsyncStore& store, StreamId stream,
                                      std::string sealed) {
  return write_record(store, state_key(stream), std::move(sealed));
}

rt::Task<Result<>> erase_stored_state(store::AsyncStore& store, StreamId stream) {
  return erase_record(store, state_key(stream));
}

rt::Task<Result<>> close_stored_browser(store::AsyncStore& store, SessionId session,
                                        StreamId stream, TimePoint now) {
  REPRISE_CO_CHECK(co_await erase_stored_state(store, stream));
  REPRISE_CO_CHECK(co_await write_proxy_password(store, stream, {}));
  REPRISE_CO_TRY(StoredBrowser stored, co_await read_stored_browser(store, stream));
  if (!stored.context || stored.context->status == model::ContextStatus::kClosed)
    co_return Result<>{};
  store::Commit commit;
  stored.context->status = model::ContextStatus::kClosed;
  stored.context->closed_at = now;
  stored.context->reason = "the session ended";
  session::put_context_row(commit, session, stream, *stored.context);
  for (model::TabFacts& tab : stored.tabs) {
    if (tab.status == model::TabStatus::kClosed) continue;
    tab.status = model::TabStatus::kClosed;
    tab.closed_at = now;
    session::put_tab_row(commit, session, stream, tab);
  }
  REPRISE_CO_CHECK(co_await store.commit(std::move(commit)));
  co_return Result<>{};
}

}  // namespace reprise::browser
