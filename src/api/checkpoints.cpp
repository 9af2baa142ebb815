#include "api/checkpoints.h"

#include <fmt/format.h>

#include "api/access.h"
#include "api/body.h"
#include "api/parameters.h"
#include "base/bytes.h"
#include "base/json_text.h"
#include "wire/range.h"

namespace reprise::api {
namespace {

using http::Exchange;
using http::Reply;
using session::CheckpointView;

std::string caller(const Exchange& exchange) {
  return exchange.principal.name == "anonymous" ? std::string() : exchange.principal.name;
}

// Without its end, so that `data` may follow.
std::string checkpoint_json(const CheckpointView& view) {
  return fmt::format(R"({{"name":{},"version":{},"seq":{},"at":"{}","size":{})",
                     json_string(view.name), view.version.version, view.version.seq.value,
                     format_time(view.version.at), view.version.size);
}

std::optional<std::string> header(const Exchange& exchange, std::string_view lower_name) {
  const auto value = exchange.request.headers.get(lower_name);
  return value ? std::optional<std::string>(*value) : std::nullopt;
}

rt::Task<Result<Reply>> put(const CheckpointRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.checkpoints.sessions(), exchange));
  session::NewCheckpoint what{.name = exchange.captured[1]};
  REPRISE_CO_TRY(what.lease, lease_of(exchange));
  {
    REPRISE_CO_TRY(Body body, Body::parse(exchange));
    if (const auto data = body.value("data"))
      what.data = data->minified();
    else
      body.wrong("data", "data is needed; it may be any JSON");
    REPRISE_CO_CHECK(body.done());
  }
  what.if_match = header(exchange, "if-match");
  what.if_none_match = header(exchange, "if-none-match");
  what.by = caller(exchange);
  REPRISE_CO_TRY(const auto put, co_await routes.checkpoints.put(std::move(ref), std::move(what)));
  Reply reply = Reply::json(put.is_new ? 201 : 200, checkpoint_json(put.view) + '}');
  reply.headers.add("ETag", put.view.etag());
  if (put.is_new) reply.headers.add("Location", exchange.target.path);
  co_return reply;
}

rt::Task<Result<Reply>> get(const CheckpointRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({"version"}));
  REPRISE_CO_TRY(const auto number, number_parameter(exchange, "version", 1, UINT64_MAX));
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.checkpoints.sessions(), exchange));
  REPRISE_CO_TRY(const auto saved,
                 co_await routes.checkpoints.get(std::move(ref), exchange.captured[1], number));
  const std::string etag = saved.view.etag();
  const auto known = header(exchange, "if-none-match");
  Reply reply =
      known && wire::names_etag(*known, etag, true)
          ? Reply::empty(304)
          : Reply::json(200, checkpoint_json(saved.view) + ",\"data\":" + saved.data + '}');
  reply.headers.add("ETag", etag);
  co_return reply;
}

rt::Task<Result<Reply>> remove(const CheckpointRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.checkpoints.sessions(), exchange));
  REPRISE_CO_TRY(const auto lease, lease_of(exchange));
  REPRISE_CO_CHECK(co_await routes.checkpoints.remove(std::move(ref), exchange.captured[1],
                                                      caller(exchange), lease));
  co_return Reply::empty(204);
}

rt::Task<Result<Reply>> list(const CheckpointRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({"limit", "cursor"}));
  REPRISE_CO_TRY(const auto limit,
                 number_parameter(exchange, "limit", 1, session::kMaxCheckpointPageLimit));
  REPRISE_CO_TRY(const auto cursor, exchange.query("cursor"));
  std::string after;
  if (cursor) {
    auto name = from_base64url(*cursor);
    if (!name || !model::check_checkpoint_name(*name))
      co_return fail(Code::kBadCursor, "the cursor is not one of this list");
    after = std::move(*name);
  }
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.checkpoints.sessions(), exchange));
  REPRISE_CO_TRY(const auto page, co_await routes.checkpoints.list(
                                      std::move(ref), std::move(after),
                                      limit.value_or(session::kDefaultCheckpointPageLimit)));
  std::string json = "{\"checkpoints\":[";
  for (const CheckpointView& view : page.checkpoints) {
    if (json.back() != '[') json += ',';
    json += checkpoint_json(view) + '}';
  }
  json += "],\"nextCursor\":" + (page.next.empty() ? "null" : json_string(to_base64url(page.next)));
  co_return Reply::json(200, json + '}');
}

}  // namespace

void add_checkpoint_routes(http::Router& router, const CheckpointRoutes& routes) {
  using enum wire::Method;
  using http::Scope;
  using Handler = rt::Task<Result<Reply>> (*)(const CheckpointRoutes&, Exchange&);
  const auto add = [&](wire::Method method, std::string path, Scope scope, Handler handler) {
    router.add(method, "/v1/sessions/{s}/checkpoints" + std::move(path), scope,
               [&routes, handler](Exchange& exchange) { return handler(routes, exchange); });
  };
  add(kGet, "", Scope::kRead, list);
  add(kPut, "/{name}", Scope::kWrite, put);
  add(kGet, "/{name}", Scope::kRead, get);
  add(kDelete, "/{name}", Scope::kWrite, remove);
}

}  // namespace reprise::api
