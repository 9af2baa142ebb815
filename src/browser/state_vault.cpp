#include "browser/state_vault.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/bytes.h"
#include "base/log.h"
#include "base/seal.h"
#include "base/sign.h"
#include "rt/descriptor.h"

namespace reprise::browser {
namespace {

constexpr std::size_t kKeyTextBytes = 2 * kSealKeyBytes + 1;

std::unexpected<Error> io_error(const char* what, const std::filesystem::path& file) {
  return fail(Code::kIo, fmt::format("{} {}: {}", what, file.string(),
                                     std::generic_category().message(errno)));
}

Result<std::string> read_key(int descriptor, const std::filesystem::path& file) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return io_error("cannot read", file);
  if (!S_ISREG(status.st_mode) || (status.st_mode & 077) != 0)
    return fail(Code::kForbidden,
                fmt::format("{} must be a file that only its owner may read", file.string()));
  std::string text(kKeyTextBytes + 1, '\0');
  const ssize_t size = ::read(descriptor, text.data(), text.size());
  if (size < 0) return io_error("cannot read", file);
  text.resize(static_cast<std::size_t>(size));
  if (!text.empty() && text.back() == '\n') text.pop_back();
  auto key = from_hex(text);
  if (!key || key->size() != kSealKeyBytes)
    return fail(Code::kCorrupt, fmt::format("{} holds no key: it has {} hexadecimal digits",
                                            file.string(), 2 * kSealKeyBytes));
  return std::move(*key);
}

// Under another name first, so that nobody ever finds half a key.
Result<> make_key(const std::filesystem::path& file, Random& random) {
  std::string key(kSealKeyBytes, '\0');
  random.fill(reinterpret_cast<unsigned char*>(key.data()), key.size());
  std::string name(8, '\0');
  random.fill(reinterpret_cast<unsigned char*>(name.data()), name.size());
  std::filesystem::path draft = file;
  draft += "." + to_hex(name);
  const rt::Descriptor made(
      ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!made.is_valid()) return io_error("cannot make", file);
  const std::string text = to_hex(key) + '\n';
  const bool is_written =
      ::write(made.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      ::fsync(made.number()) == 0 &&
      // Fails where another server has just made one: that one counts.
      (::link(draft.c_str(), file.c_str()) == 0 || errno == EEXIST);
  Result<> outcome;
  if (!is_written) outcome = io_error("cannot make", file);
  ::unlink(draft.c_str());
  const std::filesystem::path above =
      file.parent_path().empty() ? std::filesystem::path(".") : file.parent_path();
  const rt::Descriptor folder(::open(above.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (outcome && (!folder.is_valid() || ::fsync(folder.number()) != 0))
    return io_error("cannot sync", above);
  return outcome;
}

}  // namespace

Result<std::optional<std::string>> load_state_key(const std::filesystem::path& file, bool may_make,
                                                  Random& random) {
  for (bool is_made = false;; is_made = true) {
    const rt::Descriptor found(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (found.is_valid()) {
      REPRISE_TRY(std::string key, read_key(found.number(), file));
      return key;
    }
    if (errno != ENOENT || is_made) return io_error("cannot read", file);
    if (!may_make) return std::nullopt;
    REPRISE_CHECK(make_key(file, random));
    log::info("made a key for storage states", {{"file", file.string()}});
  }
}

rt::Task<Result<std::string>> StateVault::key_of(StreamId stream, bool may_make) {
  if (key_.empty()) {
    if (!is_on()) co_return fail(Code::kNotFound, "storage states are not kept here");
    REPRISE_CO_TRY(auto key, co_await pool_.run(loop_, [this, may_make] {
      return load_state_key(file_, may_make, random_);
    }));
    if (!key) co_return fail(Code::kNotFound, fmt::format("there is no key at {}", file_.string()));
    key_ = std::move(*key);
  }
  co_return hmac_sha256(key_, std::string("storage state ") + std::string(stream.view()));
}

rt::Task<Result<std::string>> StateVault::seal(StreamId stream, std::string plain) {
  REPRISE_CO_TRY(const std::string key, co_await key_of(stream, true));
  co_return reprise::seal(key, stream.view(), plain, random_);
}

rt::Task<Result<std::string>> StateVault::unseal(StreamId stream, std::string sealed) {
  REPRISE_CO_TRY(const std::string key, co_await key_of(stream, false));
  co_return reprise::unseal(key, stream.view(), sealed);
}

}  // namespace reprise::browser
