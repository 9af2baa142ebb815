#include "api/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "wire/range.h"

namespace reprise::api {
namespace {

using http::Exchange;
using http::Reply;

// Nothing but what the server itself serves, and no script or style inside the page. Pictures may
// come from memory: a browser's live view, an artifact.
constexpr std::string_view kContentSecurityPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

// RFC 9110 section 12.5.3, as far as it takes to answer one question.
bool accepts_gzip(const Exchange& exchange) {
  std::string_view rest = exchange.request.headers.get("accept-encoding").value_or("");
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    std::string coding;
    for (const char c : rest.substr(0, comma))
      if (c != ' ' && c != '\t') coding += c;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    const std::size_t semicolon = std::min(coding.find(';'), coding.size());
    if (coding.substr(0, semicolon) != "gzip") continue;
    const std::string weight = coding.substr(semicolon);
    return !weight.starts_with(";q=0") || weight.find_first_not_of("0.", 3) != std::string::npos;
  }
  return false;
}

Reply serve(const PageFile& file, const Exchange& exchange) {
  const bool is_gzip = accepts_gzip(exchange);
  const bool is_page = file.path == "/";
  const std::string etag = fmt::format("\"{}{}\"", file.hash, is_gzip ? "-gzip" : "");
  const auto known = exchange.request.headers.get("if-none-match");
  const bool is_known = known && wire::names_etag(*known, etag, true);
  Reply reply = Reply::empty(is_known ? 304 : 200);
  reply.headers.add("ETag", etag);
  reply.headers.add("Vary", "Accept-Encoding");
  reply.headers.add("Cache-Control", is_page ? "no-cache" : "public, max-age=31536000, immutable");
  if (is_known) return reply;
  reply.headers.add("Content-Type", file.content_type);
  if (is_gzip) reply.headers.add("Content-Encoding", "gzip");
  reply.headers.add("Content-Security-Policy", kContentSecurityPolicy);
  reply.headers.add("Cross-Origin-Opener-Policy", "same-origin");
  reply.headers.add("Referrer-Policy", "no-referrer");
  reply.body = is_gzip ? file.gzip : file.plain;
  return reply;
}

rt::Task<Result<Reply>> get(Exchange& exchange) {
  // A page that is opened with parameters of its own, by a link or a login elsewhere, is the page.
  const auto files = page_files();
  const auto found = std::find_if(files.begin(), files.end(), [&](const PageFile& file) {
    return file.path == exchange.target.path;
  });
  if (found == files.end())
    co_return fail(Code::kNotFound, fmt::format("there is nothing at {}", exchange.target.path));
  co_return serve(*found, exchange);
}

}  // namespace

void add_page_routes(http::Router& router) {
  for (const char* path : {"/", "/assets/{file}"})
    router.add(wire::Method::kGet, path, http::Scope::kNone, get, {});
}

}  // namespace reprise::api
