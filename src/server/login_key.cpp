#include "server/login_key.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "http/limits.h"
#include "rt/descriptor.h"

namespace reprise::server {
namespace {

Error trouble(const std::string& path) {
  return Error{Code::kIo, fmt::format("the key of logins '{}': {}", path,
                                      std::generic_category().message(errno))};
}

}  // namespace

Result<std::string> load_login_key(const std::string& directory, Random& random) {
  const std::string path = directory + "/login.key";
  if (const rt::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC)); file.is_valid()) {
    struct stat status{};
    if (::fstat(file.number(), &status) != 0) return fail(trouble(path));
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
      return fail(Code::kIo,
                  fmt::format("the key of logins '{}' is open to others: chmod 600 it", path));
    std::array<char, http::kLoginKeyBytes + 1> bytes{};
    const ssize_t size = ::read(file.number(), bytes.data(), bytes.size());
    if (size < 0) return fail(trouble(path));
    if (static_cast<std::size_t>(size) != http::kLoginKeyBytes)
      return fail(Code::kIo,
                  fmt::format("the key of logins '{}' has {} bytes instead of {}; without the file "
                              "a new one is made, and everybody logs in again",
                              path, size, http::kLoginKeyBytes));
    return std::string(bytes.data(), http::kLoginKeyBytes);
  }
  if (errno != ENOENT) return fail(trouble(path));
  std::string key(http::kLoginKeyBytes, '\0');
  random.fill(reinterpret_cast<unsigned char*>(key.data()), key.size());
  // Under another name first: a crash leaves no half of a key.
  const std::string unfinished = path + ".new";
  std::error_code ignored;
  std::filesystem::create_directories(directory, ignored);
  std::filesystem::remove(unfinished, ignored);
  const rt::Descriptor file(::open(
      unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file.is_valid()) return fail(trouble(unfinished));
  if (::write(file.number(), key.data(), key.size()) != static_cast<ssize_t>(key.size()) ||
      ::fsync(file.number()) != 0 || std::rename(unfinished.c_str(), path.c_str()) != 0)
    return fail(trouble(unfinished));
  return key;
}

}  // namespace reprise::server
