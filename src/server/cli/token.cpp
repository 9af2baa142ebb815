#include "server/cli/token.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/json_text.h"
#include "server/cli/outcome.h"
#include "wire/json.h"

namespace reprise::server::cli {
namespace {

std::string json_array(const std::vector<std::string>& texts) {
  std::string array = "[";
  for (const std::string& text : texts) {
    if (array.size() > 1) array += ",";
    append_json_string(array, text);
  }
  return array + "]";
}

}  // namespace

Result<MadeToken> make_token(const NewToken& token, Random& random) {
  if (token.name.empty() || !wire::is_utf8(token.name))
    return fail(Code::kBadParameter, "--name: the token needs a name, in UTF-8");
  if (token.scopes.empty()) return fail(Code::kBadParameter, "--scopes: give read, write or admin");
  for (const std::string& scope : token.scopes)
    if (scope != "read" && scope != "write" && scope != "admin")
      return fail(Code::kBadParameter,
                  fmt::format("--scopes: '{}' is not one of read, write, admin", scope));
  if (token.apps.empty())
    return fail(Code::kBadParameter, "--apps: give an app, or * for every app");
  for (const std::string& app : token.apps)
    if (app.empty() || app.find(':') != std::string::npos || !wire::is_utf8(app))
      return fail(Code::kBadParameter,
                  fmt::format("--apps: '{}' is not an app's id, or * for every app", app));

  std::array<unsigned char, 32> bytes{};
  random.fill(bytes.data(), bytes.size());
  MadeToken made;
  made.secret = "rp_" + to_base64url({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  made.entry =
      fmt::format(R"({{"name":{},"sha256":"{}","scopes":{},"apps":{}}})", json_string(token.name),
                  to_hex(sha256(made.secret)), json_array(token.scopes), json_array(token.apps));
  return made;
}

int new_token(const NewToken& token, bool is_json) {
  SystemRandom random;
  const auto made = make_token(token, random);
  if (!made) return report(Failure(made.error()), is_json);
  if (is_json)
    return exit_status(print(fmt::format("{{\"token\":{},\"entry\":{}}}\n",
                                         json_string(made->secret), made->entry)),
                       true);
  return exit_status(
      print(fmt::format("token, for the caller; it is shown this once:\n  {}\n\n"
                        "the file of 'reprise serve --tokens-file', or an entry to add to it:\n"
                        "  {{\"tokens\": [{}]}}\n",
                        made->secret, made->entry)),
      false);
}

}  // namespace reprise::server::cli
