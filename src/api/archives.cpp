#include "api/archives.h"

#include <fmt/format.h>

#include "api/access.h"
#include "api/parameters.h"
#include "api/session_json.h"

namespace reprise::api {
namespace {

using http::Exchange;
using http::Reply;

constexpr std::string_view kMediaType = "application/x-tar";

class ArchiveSource final : public http::BodySource {
 public:
  explicit ArchiveSource(std::unique_ptr<session::Archive> archive)
      : archive_(std::move(archive)) {}
  rt::Task<Result<std::size_t>> read(std::span<char> buffer) override {
    REPRISE_CO_TRY(const std::size_t size, co_await archive_->read(offset_, buffer));
    offset_ += size;
    co_return size;
  }

 private:
  std::unique_ptr<session::Archive> archive_;
  std::uint64_t offset_ = 0;
};

rt::Task<Result<Reply>> export_session(const ArchiveRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.sessions, exchange));
  Reply reply;
  {
    // A large session takes a while, and counts among the archives.
    const http::OffDuty off_duty(exchange);
    REPRISE_CO_TRY(auto archive, co_await routes.archives.export_session(std::move(ref)));
    reply.headers.add("Content-Disposition", fmt::format("attachment; filename=\"session-{}.tar\"",
                                                         archive->session().to_string()));
    reply.source_bytes = archive->size();
    reply.source = std::make_unique<ArchiveSource>(std::move(archive));
  }
  reply.headers.add("Content-Type", std::string(kMediaType));
  reply.headers.add("Cache-Control", "private, no-store");
  co_return reply;
}

// Clients that say nothing better about the bytes are believed too.
Result<> check_media_type(const Exchange& exchange) {
  if (exchange.request.headers.get("content-encoding"))
    return fail(Code::kUnsupportedMediaType, "an archive is sent as it is: no Content-Encoding");
  const auto type = exchange.request.headers.get("content-type");
  if (!type || *type == kMediaType || *type == "application/tar" ||
      *type == "application/octet-stream")
    return {};
  return fail(Code::kUnsupportedMediaType,
              fmt::format("an archive is {}, not '{}'", kMediaType, *type));
}

rt::Task<Result<Reply>> import_session(const ArchiveRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({"newId", "name"}));
  session::ImportTerms terms;
  REPRISE_CO_TRY(const auto wants_new_id, boolean_parameter(exchange, "newId"));
  terms.wants_new_id = wants_new_id.value_or(false);
  REPRISE_CO_TRY(terms.name, exchange.query("name"));
  if (terms.name) REPRISE_CO_CHECK(model::check_name(*terms.name));
  terms.check_app = [&exchange](std::string_view app) { return check_app_access(exchange, app); };
  REPRISE_CO_CHECK(check_media_type(exchange));
  REPRISE_CO_TRY(auto archive, co_await routes.archives.begin_import());
  // It may take as long as the client wants, and counts among the archives.
  const http::OffDuty off_duty(exchange);
  for (;;) {
    REPRISE_CO_TRY(std::string piece, co_await exchange.read_body());
    if (piece.empty()) break;
    REPRISE_CO_CHECK(co_await routes.archives.write(*archive, std::move(piece)));
  }
  REPRISE_CO_TRY(const auto view,
                 co_await routes.archives.import_session(std::move(archive), std::move(terms)));
  Reply reply = Reply::json(201, session_json(view));
  reply.headers.add("ETag", etag_of(view.revision));
  reply.headers.add("Location", "/v1/sessions/" + view.state.id.to_string());
  co_return reply;
}

}  // namespace

void add_archive_routes(http::Router& router, const ArchiveRoutes& routes) {
  using enum wire::Method;
  using http::Scope;
  router.add(kGet, "/v1/sessions/{s}/export", Scope::kRead,
             [&routes](Exchange& exchange) { return export_session(routes, exchange); },
             {kMediaType});
  router
      .add(kPost, "/v1/sessions/import", Scope::kWrite,
           [&routes](Exchange& exchange) { return import_session(routes, exchange); })
      .max_streamed_bytes = routes.archives.options().max_import_bytes;
}

}  // namespace reprise::api
