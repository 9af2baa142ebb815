#include "server/cli/call.h"

#include <csignal>

#include "wire/target.h"

namespace reprise::server::cli {

int with_client(const ClientOptions& options, const ClientCommand& command) {
  // OpenSSL writes without MSG_NOSIGNAL: a lost connection must be an error, not the end.
  std::signal(SIGPIPE, SIG_IGN);
  auto url = parse_url(options.server);
  if (!url) return report(Failure(url.error()), options.is_json);
  std::shared_ptr<rt::TlsContext> tls;
  if (url->is_tls) {
    auto made = rt::TlsContext::client(options.tls_ca);
    if (!made) return report(Failure(made.error()), options.is_json);
    tls = std::move(*made);
  }
  rt::RealLoop loop;
  Client client(loop, std::move(*url), options.token, std::move(tls));
  return exit_status(run_to_end(loop, command(client)), options.is_json);
}

rt::Task<Outcome<wire::Response>> call(Client& client, ClientRequest request) {
  auto response = co_await client.send(std::move(request));
  if (!response) co_return failed(response.error());
  if (response->status < 200 || response->status >= 300) co_return failed(*response);
  co_return std::move(*response);
}

Outcome<wire::JsonDocument> body_of(const wire::Response& response) {
  auto document = wire::parse_json(response.body);
  if (!document)
    return failed(
        Error{Code::kInternal, "the server's answer is not JSON; is this a Reprise server?"});
  return std::move(*document);
}

std::string session_target(const std::string& session, std::string_view rest) {
  return fmt::format("/v1/sessions/{}{}", wire::percent_encode(session), rest);
}

std::string artifact_target(const std::string& session, std::string_view path,
                            std::string_view query_text) {
  std::string encoded = "/artifacts";
  for (;;) {
    const std::size_t slash = path.find('/');
    encoded += '/' + wire::percent_encode(path.substr(0, slash));
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  return session_target(session, encoded.append(query_text));
}

std::string query(const std::vector<std::pair<std::string, std::string>>& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) {
    if (value.empty()) continue;
    text += fmt::format("{}{}={}", text.empty() ? "?" : "&", name, wire::percent_encode(value));
  }
  return text;
}

std::string member_text(wire::JsonValue object, std::string_view name) {
  const auto member = object.find(name);
  if (!member || member->is_null()) return {};
  if (auto text = member->as_string()) return std::move(*text);
  return member->minified();
}

}  // namespace reprise::server::cli
