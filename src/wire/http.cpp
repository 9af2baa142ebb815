#include "wire/http.h"

#include <algorithm>
#include <array>

#include "base/assert.h"
#include "base/json_text.h"
#include "wire/http_lines.h"

namespace reprise::wire {
namespace {

bool splits_a_head(std::string_view value) {
  // Without an early exit the compiler checks sixteen bytes at a time.
  bool splits = false;
  for (const char c : value) splits |= c == '\r' || c == '\n' || c == '\0';
  return splits;
}

}  // namespace

std::string_view word(Method method) {
  switch (method) {
    case Method::kGet: return "GET";
    case Method::kHead: return "HEAD";
    case Method::kPost: return "POST";
    case Method::kPut: return "PUT";
    case Method::kPatch: return "PATCH";
    case Method::kDelete: return "DELETE";
    case Method::kOptions: return "OPTIONS";
    case Method::kOther: return "OTHER";
  }
  return "OTHER";
}

// RFC 9110 section 15 and the IANA registry.
std::string_view reason_phrase(int status) {
  switch (status) {
    case 100: return "Continue";
    case 101: return "Switching Protocols";
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 206: return "Partial Content";
    case 301: return "Moved Permanently";
    case 302: return "Found";
    case 303: return "See Other";
    case 304: return "Not Modified";
    case 307: return "Temporary Redirect";
    case 308: return "Permanent Redirect";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 411: return "Length Required";
    case 412: return "Precondition Failed";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 416: return "Range Not Satisfiable";
    case 417: return "Expectation Failed";
    case 421: return "Misdirected Request";
    case 422: return "Unprocessable Content";
    case 426: return "Upgrade Required";
    case 428: return "Precondition Required";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    case 507: return "Insufficient Storage";
    default: return "";
  }
}

void append_response_head(std::string& out, int status, const Headers& headers,
                          std::optional<std::size_t> body_bytes, bool keep_alive) {
  REPRISE_ASSERT(status >= 100 && status <= 599, status);
  out += "HTTP/1.1 ";
  append_number(out, static_cast<std::uint64_t>(status));
  out += ' ';
  out += reason_phrase(status);
  out += "\r\n";
  bool has_connection = false;
  bool has_upgrade = false;
  for (const Header& header : headers) {
    REPRISE_ASSERT(is_token(header.name), header.name);
    REPRISE_ASSERT(!splits_a_head(header.value), header.name);
    REPRISE_ASSERT(!body_bytes || header.name != "content-length", header.value);
    has_connection |= header.name == "connection";
    has_upgrade |= header.name == "upgrade";
  }
  out += headers.lines();
  // RFC 9110 section 8.6: never in an interim response or a 204, and in a 304 only the length that
  // the 200 would have had.
  if (body_bytes && status >= 200 && status != 204 && status != 304) {
    out += "content-length: ";
    append_number(out, static_cast<std::uint64_t>(*body_bytes));
    out += "\r\n";
  }
  // Said both ways, because an HTTP/1.0 client keeps the connection only when told. An interim
  // response says nothing: the final one will.
  if (!has_connection && status >= 200) {
    // RFC 9110 section 7.8: who sends Upgrade says so here too.
    out += has_upgrade ? "connection: upgrade, " : "connection: ";
    out += keep_alive ? "keep-alive\r\n" : "close\r\n";
  }
  out += "\r\n";
}

}  // namespace reprise::wire
