#include "api/artifacts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/access.h"
#include "api/parameters.h"
#include "base/bytes.h"
#include "base/json_text.h"
#include "wire/range.h"

namespace reprise::api {
namespace {

using http::Exchange;
using http::Reply;
using session::ArtifactView;

std::string caller(const Exchange& exchange) {
  return exchange.principal.name == "anonymous" ? std::string() : exchange.principal.name;
}

std::string artifact_json(const ArtifactView& view) {
  const session::StoredVersion& version = view.version;
  const model::ArtifactVersion& artifact = version.artifact;
  std::string json = "{\"path\":" + json_string(artifact.path);
  json += fmt::format(R"(,"version":{})", artifact.version);
  if (view.versions > 0) json += fmt::format(R"(,"versions":{})", view.versions);
  json += fmt::format(R"(,"kind":"{}","contentType":{},"size":{},"sha256":"{}","etag":{})",
                      model::word(artifact.kind), json_string(artifact.content_type), artifact.size,
                      to_hex(artifact.sha256), json_string(view.etag()));
  json +=
      fmt::format(R"(,"temporary":{},"createdAt":"{}","seq":{})",
                  model::is_temporary(artifact.path), format_time(version.at), version.seq.value);
  if (!version.by.empty()) json += ",\"by\":" + json_string(version.by);
  return json + '}';
}

// Everything behind /artifacts/, decoded; the service says what is wrong with it.
std::string path_of(const Exchange& exchange) {
  std::string path = exchange.captured[1];
  for (std::size_t i = 2; i < exchange.captured.size(); ++i) path += '/' + exchange.captured[i];
  return path;
}

Result<std::optional<model::ArtifactKind>> kind_parameter(const Exchange& exchange) {
  REPRISE_TRY(const auto word, exchange.query("kind"));
  if (!word) return std::nullopt;
  const auto kind = model::parse_artifact_kind(*word);
  if (kind) return kind;
  return fail(Code::kBadParameter, "kind is code, note, log, attachment or other");
}

std::optional<std::string> header(const Exchange& exchange, std::string_view lower_name) {
  const auto value = exchange.request.headers.get(lower_name);
  return value ? std::optional<std::string>(*value) : std::nullopt;
}

rt::Task<Result<Reply>> put(const ArtifactRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({"kind"}));
  session::NewArtifact what{.path = path_of(exchange)};
  REPRISE_CO_CHECK(model::check_artifact_path(what.path));
  REPRISE_CO_TRY(what.kind, kind_parameter(exchange));
  if (auto type = header(exchange, "content-type")) what.content_type = std::move(*type);
  // A coding would have to be undone before the content is what it is; nobody is surprised by a
  // refusal.
  if (exchange.request.headers.get("content-encoding") ||
      exchange.request.headers.get("content-range"))
    co_return fail(Code::kUnsupportedMediaType,
                   "an artifact is sent whole and as it is: no Content-Encoding, no Content-Range");
  if (const auto length = header(exchange, "content-length")) {
    REPRISE_CO_TRY(what.announced_bytes, parse_number("Content-Length", *length, 0, UINT64_MAX));
  }
  what.if_match = header(exchange, "if-match");
  what.if_none_match = header(exchange, "if-none-match");
  what.by = caller(exchange);
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.sessions, exchange));
  REPRISE_CO_TRY(what.lease, lease_of(exchange));
  REPRISE_CO_TRY(auto upload, co_await routes.artifacts.begin(std::move(ref), std::move(what)));
  {
    // It may take as long as the client wants, and counts among the transfers.
    const http::OffDuty off_duty(exchange);
    for (;;) {
      REPRISE_CO_TRY(std::string piece, co_await exchange.read_body());
      if (piece.empty()) break;
      REPRISE_CO_CHECK(co_await routes.artifacts.write(*upload, std::move(piece)));
    }
  }
  REPRISE_CO_TRY(const auto put, co_await routes.artifacts.finish(std::move(upload)));
  Reply reply = Reply::json(put.is_new_path ? 201 : 200, artifact_json(put.view));
  reply.headers.add("ETag", put.view.etag());
  if (put.is_new_path) reply.headers.add("Location", exchange.target.path);
  co_return reply;
}

// A part of the content, on its way to a client.
class DownloadSource final : public http::BodySource {
 public:
  DownloadSource(std::unique_ptr<session::Download> download, std::uint64_t offset)
      : download_(std::move(download)), offset_(offset) {}
  rt::Task<Result<std::size_t>> read(std::span<char> buffer) override {
    REPRISE_CO_TRY(const std::size_t size, co_await download_->read(offset_, buffer));
    offset_ += size;
    co_return size;
  }

 private:
  std::unique_ptr<session::Download> download_;
  std::uint64_t offset_;
};

void add_content_headers(Reply& reply, const ArtifactView& view) {
  const model::ArtifactVersion& artifact = view.version.artifact;
  reply.headers.add("ETag", view.etag());
  reply.headers.add("Cache-Control", "private, no-cache");
  reply.headers.add("Artifact-Version", fmt::format("{}", artifact.version));
  if (reply.status == 304) return;
  reply.headers.add("Accept-Ranges", "bytes");
  reply.headers.add("Content-Type", artifact.content_type);
  reply.headers.add("Content-Disposition", model::content_disposition(artifact.path));
  // Whatever a session wrote, a browser that opens it runs nothing.
  reply.headers.add("Content-Security-Policy", "default-src 'none'; sandbox");
}

// Which part is asked for: only of a GET, and only if If-Range, where it is given, names the
// content (RFC 9110 section 13.1.5).
wire::RangeAnswer range_of(const Exchange& exchange, const ArtifactView& view) {
  const auto range = header(exchange, "range");
  const auto if_range = header(exchange, "if-range");
  const bool is_get = exchange.request.method == wire::Method::kGet;
  if (!is_get || !range || (if_range && *if_range != view.etag())) return {};
  return wire::parse_range(*range, view.version.artifact.size);
}

rt::Task<Result<Reply>> get(const ArtifactRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({"version"}));
  REPRISE_CO_TRY(const auto number, number_parameter(exchange, "version", 1, UINT64_MAX));
  REPRISE_CO_CHECK(model::check_artifact_path(path_of(exchange)));
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.sessions, exchange));
  REPRISE_CO_TRY(const ArtifactView view,
                 co_await routes.artifacts.look(ref, path_of(exchange), number));
  if (const auto list = header(exchange, "if-match");
      list && !wire::names_etag(*list, view.etag(), false))
    co_return fail(Code::kPreconditionFailed,
                   fmt::format("If-Match does not name {}", view.etag()));
  if (const auto list = header(exchange, "if-none-match");
      list && wire::names_etag(*list, view.etag(), true)) {
    Reply reply = Reply::empty(304);
    add_content_headers(reply, view);
    co_return reply;
  }
  const std::uint64_t size = view.version.artifact.size;
  const wire::RangeAnswer answer = range_of(exchange, view);
  if (answer.kind == wire::RangeAnswer::Kind::kUnsatisfiable) {
    Reply reply = http::problem(
        Error{Code::kRangeNotSatisfiable, fmt::format("the content has {} bytes", size)},
        exchange.target.path);
    reply.headers.add("Content-Range", fmt::format("bytes */{}", size));
    co_return reply;
  }
  Reply reply;
  std::uint64_t offset = 0;
  reply.source_bytes = size;
  if (answer.kind == wire::RangeAnswer::Kind::kPart) {
    reply.status = 206;
    offset = answer.range.first;
    reply.source_bytes = answer.range.length();
    reply.headers.add("Content-Range",
                      fmt::format("bytes {}-{}/{}", answer.range.first, answer.range.last, size));
  }
  add_content_headers(reply, view);
  REPRISE_CO_TRY(auto download, co_await routes.artifacts.open(std::move(ref), view));
  reply.source = std::make_unique<DownloadSource>(std::move(download), offset);
  co_return reply;
}

rt::Task<Result<Reply>> remove(const ArtifactRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({"version"}));
  REPRISE_CO_TRY(const auto number, number_parameter(exchange, "version", 1, UINT64_MAX));
  REPRISE_CO_CHECK(model::check_artifact_path(path_of(exchange)));
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.sessions, exchange));
  REPRISE_CO_TRY(const auto lease, lease_of(exchange));
  REPRISE_CO_CHECK(co_await routes.artifacts.remove(std::move(ref), path_of(exchange), number,
                                                    caller(exchange), lease));
  co_return Reply::empty(204);
}

rt::Task<Result<Reply>> list(const ArtifactRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({"prefix", "kind", "versions", "limit", "cursor"}));
  session::ArtifactQuery query;
  REPRISE_CO_TRY(const auto prefix, exchange.query("prefix"));
  query.prefix = prefix.value_or("");
  REPRISE_CO_TRY(query.kind, kind_parameter(exchange));
  REPRISE_CO_TRY(const auto wants_versions, boolean_parameter(exchange, "versions"));
  query.wants_versions = wants_versions.value_or(false);
  REPRISE_CO_TRY(const auto limit,
                 number_parameter(exchange, "limit", 1, session::kMaxArtifactPageLimit));
  query.limit = limit.value_or(session::kDefaultArtifactPageLimit);
  REPRISE_CO_TRY(const auto cursor, exchange.query("cursor"));
  if (cursor) {
    auto after = from_base64url(*cursor);
    if (!after || after->empty())
      co_return fail(Code::kBadCursor, "the cursor is not one of this list");
    query.after = std::move(*after);
  }
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.sessions, exchange));
  REPRISE_CO_TRY(const auto page, co_await routes.artifacts.list(std::move(ref), std::move(query)));
  std::string json = "{\"artifacts\":[";
  for (const ArtifactView& view : page.artifacts) {
    if (json.back() != '[') json += ',';
    json += artifact_json(view);
  }
  json += "],\"nextCursor\":" + (page.next.empty() ? "null" : json_string(to_base64url(page.next)));
  json += fmt::format(R"(,"usedBytes":{},"maxBytes":{}}})", page.usage.bytes, page.max_bytes);
  co_return Reply::json(200, std::move(json));
}

}  // namespace

void add_artifact_routes(http::Router& router, const ArtifactRoutes& routes) {
  using enum wire::Method;
  using http::Scope;
  using Handler = rt::Task<Result<Reply>> (*)(const ArtifactRoutes&, Exchange&);
  const auto add = [&](wire::Method method, std::string path, Scope scope, Handler handler,
                       std::vector<std::string_view> produces) -> http::Route& {
    return router.add(
        method, "/v1/sessions/{s}/artifacts" + std::move(path), scope,
        [&routes, handler](Exchange& exchange) { return handler(routes, exchange); },
        std::move(produces));
  };
  add(kGet, "", Scope::kRead, list, {"application/json"});
  add(kPut, "/{path*}", Scope::kWrite, put, {"application/json"}).max_streamed_bytes =
      routes.artifacts.options().max_artifact_bytes;
  // Content has the type it was given: an Accept that does not name it is no reason to withhold it.
  add(kGet, "/{path*}", Scope::kRead, get, {});
  add(kDelete, "/{path*}", Scope::kWrite, remove, {});
}

}  // namespace reprise::api
