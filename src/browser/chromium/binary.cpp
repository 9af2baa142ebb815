#include "browser/chromium/binary.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <span>
#include <system_error>
#include <vector>

namespace reprise::browser::chromium {
namespace {

struct Known {
  std::string_view package;
  std::vector<std::string_view> places;  // Debian, Fedora, the vendor's own
};

Known known(BinaryKind kind) {
  if (kind == BinaryKind::kHeadlessShell)
    return {
        "chromium-headless-shell",
        {"usr/lib/chromium/chromium-headless-shell", "usr/lib64/chromium-browser/headless_shell",
         "opt/chrome-headless-shell/chrome-headless-shell"}};
  return {"chromium",
          {"usr/lib/chromium/chromium", "usr/lib64/chromium-browser/chromium-browser",
           "opt/google/chrome/chrome"}};
}

constexpr std::size_t kUserBytes = 16 * 1024;  // what the record of a user may take

}  // namespace

Result<std::filesystem::path> find_browser(BinaryKind kind, const std::filesystem::path& root) {
  const Known wanted = known(kind);
  for (const std::string_view place : wanted.places) {
    std::filesystem::path path = root / place;
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0)
      return path;
  }
  return fail(Code::kNotFound,
              fmt::format("no browser: there is no {}. Install Debian's package {}, or name the "
                          "program in the configuration",
                          (root / wanted.places.front()).native(), wanted.package));
}

Result<rt::Identity> find_user(const std::string& name) {
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> buffer(kUserBytes);
  const int error = ::getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
  if (found == nullptr)
    return fail(Code::kNotFound,
                fmt::format("there is no user '{}'{}{}", name, error != 0 ? ": " : "",
                            error != 0 ? std::generic_category().message(error) : ""));
  return rt::Identity{entry.pw_uid, entry.pw_gid};
}

Result<rt::Identity> unprivileged_user() {
  if (auto own = find_user("reprise-browser")) return own;
  return find_user("nobody");
}

}  // namespace reprise::browser::chromium
