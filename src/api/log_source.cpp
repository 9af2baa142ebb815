#include "api/log_source.h"

#include <fmt/format.h>

#include "api/access.h"
#include "api/limits.h"
#include "api/log_request.h"
#include "api/parameters.h"
#include "model/event.h"
#include "stream/log/append_entry.h"

namespace reprise::api {
namespace {

LogSource source_of(std::string path, stream::LogView view) {
  LogSource source;
  source.path = std::move(path);
  source.content_type = std::move(view.record.content_type);
  source.parts = std::move(view.record.inherited);
  source.stream = view.record.stream;
  source.base = view.record.base;
  source.tail = view.tail;
  source.home = view.home;
  source.is_closed = view.record.is_closed;
  source.ttl_seconds = view.record.ttl_seconds;
  source.expires_at = view.record.expires_at;
  return source;
}

rt::Task<Result<LogSource>> session_source(const LogRoutes& routes, const http::Exchange& exchange,
                                           std::string path) {
  auto ref = parse_session_ref(std::string_view(path).substr(kSessionLogs.size()));
  if (!ref || !std::holds_alternative<SessionId>(*ref))
    co_return fail(Code::kStreamNotFound, fmt::format("there is no stream '{}'", path));
  auto view = co_await routes.sessions.get(*ref);
  if (!view && view.error().code != Code::kSessionNotFound) co_return fail(std::move(view).error());
  if (!view || !exchange.principal.may_use(view->state.app))
    co_return fail(Code::kStreamNotFound, fmt::format("there is no stream '{}'", path));
  LogSource source;
  source.path = std::move(path);
  source.content_type = "application/json";
  source.stream = view->stream;
  source.start = view->state.visible_after;
  source.tail = view->state.head;
  source.home = routes.sessions.home_index(view->state.id);
  source.is_session = true;
  co_return source;
}

class Collector final : public stream::AppendVisitor {
 public:
  Collector(const LogSource& source, LogChunk& chunk) : source_(source), chunk_(chunk) {}
  bool visit(Seq number, std::string_view entry) override {
    if (source_.is_json() && !chunk_.body.empty()) chunk_.body += ',';
    source_.append_content(chunk_.body, number, entry);
    chunk_.next = number;
    return true;
  }

 private:
  const LogSource& source_;
  LogChunk& chunk_;
};

}  // namespace

bool LogSource::is_json() const {
  return stream::is_same_media_type(content_type, "application/json");
}

bool LogSource::is_text() const {
  return content_type.size() > 5 &&
         (content_type.starts_with("text/") ||
          stream::is_same_media_type(content_type.substr(0, 5), "text/"));
}

std::vector<stream::LogPart> LogSource::all_parts() const {
  auto all = parts;
  if (tail.value > base) all.push_back({stream, base, tail.value});
  return all;
}

void LogSource::append_content(std::string& out, Seq number, std::string_view entry) const {
  if (is_session) {
    if (const auto event = model::decode_entry(entry))
      model::append_event_json(out, number, *event);
    return;
  }
  // The store's own checksums make damage here impossible short of damage in memory.
  if (const auto content = stream::append_content(entry)) out += *content;
}

rt::Task<Result<LogSource>> find_source(const LogRoutes& routes, const http::Exchange& exchange,
                                        std::string path, bool is_use) {
  if (path.starts_with(kSessionLogs))
    co_return co_await session_source(routes, exchange, std::move(path));
  REPRISE_CO_TRY(auto view, co_await routes.logs.look(path, is_use));
  co_return source_of(std::move(path), std::move(view));
}

rt::Task<Result<LogChunk>> read_chunk(store::AsyncStore& store, const LogSource& source,
                                      Seq after) {
  LogChunk chunk;
  chunk.next = after;
  Collector collector(source, chunk);
  REPRISE_CO_TRY(chunk.is_at_tail, co_await stream::read_parts(store, source.all_parts(), after,
                                                               kMaxLogChunkBytes, collector));
  if (source.is_json()) {
    chunk.body.insert(0, 1, '[');
    chunk.body += ']';
  }
  co_return chunk;
}

}  // namespace reprise::api
