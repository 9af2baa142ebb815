#include "server/cli/token.h"

#include <openssl/evp.h>

#include "base/assert.h"
#include "base/bytes.h"
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

std::string sha256_hex(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  const int is_made =
      ::EVP_Digest(bytes.data(), bytes.size(), digest, &size, ::EVP_sha256(), nullptr);
  REPRISE_ASSERT(is_made == 1);
  return to_hex({reinterpret_cast<const char*>(digest), size});
}

Result<MadeToken> make_token(const NewToken& token, Random& random) {
  if (token.name.empty() || !wire::is_utf8(token.name))
    return fail(Code::kBadParameter, "--name: the token needs a name, in UTF-8");
  if (token.scopes.empty()) return fail(Code::kBadParameter, "--scopes: read, write or both");
  for (const std::string& scope : token.scopes)
    if (scope != "read" && scope != "write")
      return fail(Code::kBadParameter,
                  fmt::format("--scopes: '{}' is not one of read, write", scope));
  for (const std::string& app : token.apps)
    if (app.empty() || app.find(':') != std::string::npos || !wire::is_utf8(app))
      return fail(Code::kBadParameter, fmt::format("--apps: '{}' is not an app's id", app));

  std::array<unsigned char, 32> bytes{};
  random.fill(bytes.data(), bytes.size());
  MadeToken made;
  made.secret = "rp_" + to_base64url({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  made.line = fmt::format("{{\"name\":{},\"sha256\":\"{}\",\"scopes\":{}", json_string(token.name),
                          sha256_hex(made.secret), json_array(token.scopes));
  if (!token.apps.empty()) made.line += fmt::format(",\"apps\":{}", json_array(token.apps));
  made.line += "}";
  return made;
}

int new_token(const NewToken& token, bool is_json) {
  SystemRandom random;
  const auto made = make_token(token, random);
  if (!made) return report(Failure(made.error()), is_json);
  if (is_json)
    return exit_status(print(fmt::format("{{\"token\":{},\"entry\":{}}}\n",
                                         json_string(made->secret), made->line)),
                       true);
  return exit_status(print(fmt::format("token (for the caller; it cannot be shown again):\n{}\n\n"
                                       "line for the server's tokens file (--tokens-file):\n{}\n",
                                       made->secret, made->line)),
                     false);
}

}  // namespace reprise::server::cli
