#include "server/cli/versions.h"

#include <fmt/format.h>

#include <link.h>
#include <openssl/crypto.h>
#include <sys/utsname.h>

#include <filesystem>
#include <string_view>

#include "base/json_text.h"
#include "server/cli/commands.h"
#include "server/cli/outcome.h"
#include "server/version.h"

namespace reprise::server::cli {
namespace {

// RocksDB is seen in src/store/rocksdb only, and what counts here is the library that is loaded,
// not the header: its file is named librocksdb.so.7.8.3.
int take_rocksdb_version(dl_phdr_info* library, std::size_t, void* version) {
  constexpr std::string_view kName = "librocksdb.so.";
  std::error_code ignored;
  const auto file = std::filesystem::canonical(library->dlpi_name, ignored).filename().string();
  if (!file.starts_with(kName)) return 0;
  *static_cast<std::string*>(version) = file.substr(kName.size());
  return 1;
}

std::string kernel_version() {
  utsname names{};
  if (::uname(&names) != 0) return "unknown";
  return fmt::format("{} {}", names.sysname, names.release);
}

}  // namespace

Versions installed_versions() {
  std::string rocksdb;
  ::dl_iterate_phdr(take_rocksdb_version, &rocksdb);
  return {.reprise = std::string(kVersion),
          .compiler = __VERSION__,
          .rocksdb = rocksdb.empty() ? "linked statically" : rocksdb,
          .openssl = ::OpenSSL_version(OPENSSL_VERSION_STRING),
          .kernel = kernel_version()};
}

int show_version(bool is_json) {
  const Versions versions = installed_versions();
  const std::string text =
      is_json
          ? fmt::format(R"({{"version":{},"compiler":{},"rocksdb":{},"openssl":{},"kernel":{}}})",
                        json_string(versions.reprise), json_string(versions.compiler),
                        json_string(versions.rocksdb), json_string(versions.openssl),
                        json_string(versions.kernel))
          : "reprise " + versions.reprise;
  return exit_status(print(text + "\n"), is_json);
}

}  // namespace reprise::server::cli
