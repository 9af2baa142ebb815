// reprise doctor: is everything here to run a server, and is the data well?
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/json_text.h"
#include "server/cli/call.h"
#include "server/cli/diagnosis.h"
#include "server/cli/table.h"
#include "server/cli/versions.h"
#include "session/keys.h"
#include "store/rocksdb/rocksdb_engine.h"

namespace reprise::server::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMarkerName = "REPRISE";  // see store/rocksdb/rocksdb_engine.h
constexpr std::uint64_t kLittleSpace = 1ULL << 30;
constexpr rlim_t kFewDescriptors = 4'096;
constexpr std::size_t kMaxCounted = 1'000'000;

std::string system_error() {
  return std::strerror(errno);  // NOLINT(concurrency-mt-unsafe): glibc's is safe
}

void check_versions(Diagnosis& diagnosis) {
  const Versions versions = installed_versions();
  diagnosis.ok("versions",
               fmt::format("reprise {}, {}, RocksDB {}, OpenSSL {}, {}", versions.reprise,
                           versions.compiler, versions.rocksdb, versions.openssl, versions.kernel));
}

void check_descriptors(Diagnosis& diagnosis) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return diagnosis.warning("file descriptors", "the limit cannot be read: " + system_error(), "");
  const std::string found = fmt::format("{} (hard limit {})", limit.rlim_cur, limit.rlim_max);
  if (limit.rlim_cur >= kFewDescriptors) return diagnosis.ok("file descriptors", found);
  diagnosis.warning("file descriptors", found,
                    "every connection needs one: raise it with 'ulimit -n 65536' or, under "
                    "systemd, LimitNOFILE=65536");
}

void check_space(Diagnosis& diagnosis, const fs::path& directory) {
  struct statvfs space{};
  if (::statvfs(directory.c_str(), &space) != 0)
    return diagnosis.error("free space", "cannot be read: " + system_error(),
                           "check that the file system is mounted");
  const std::uint64_t free = static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize;
  if (free >= kLittleSpace) return diagnosis.ok("free space", format_bytes(free));
  diagnosis.warning("free space", format_bytes(free),
                    "the server stops writing when the disk is full: make room or move --data");
}

void check_permissions(Diagnosis& diagnosis, const fs::path& directory) {
  struct stat status{};
  if (::stat(directory.c_str(), &status) != 0)
    return diagnosis.error("permissions", system_error(), "check who may enter the directory");
  const std::string found =
      fmt::format("mode {:03o}, owner {}", status.st_mode & 0777, status.st_uid);
  if (::access(directory.c_str(), R_OK | W_OK | X_OK) != 0)
    return diagnosis.error(
        "permissions", found + ", not writable by this user",
        fmt::format("run as its owner, or: chown -R $(id -u) {}", directory.string()));
  if ((status.st_mode & 0077) != 0)
    return diagnosis.warning("permissions", found + ", open to other users",
                             fmt::format("chmod 700 {}", directory.string()));
  diagnosis.ok("permissions", found);
}

std::uint64_t size_of(const fs::path& directory) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;  // a running server removes files while we look
    if (entry->is_regular_file(gone)) {
      const auto size = entry->file_size(gone);
      if (!gone) bytes += size;
    }
  }
  return bytes;
}

// Where the store is: the directory itself, or a folder in it.
std::optional<fs::path> find_store(const fs::path& directory) {
  std::error_code error;
  if (fs::exists(directory / kMarkerName, error)) return directory;
  for (const auto& entry : fs::directory_iterator(directory, error))
    if (entry.is_directory(error) && fs::exists(entry.path() / kMarkerName, error))
      return entry.path();
  return std::nullopt;
}

// The process that holds a lock on the file, as far as the kernel tells.
std::string holder_of(const struct stat& file) {
  std::ifstream locks("/proc/locks");
  const std::string inode = fmt::format(":{} ", file.st_ino);
  for (std::string line; std::getline(locks, line);) {
    if (line.find(inode) == std::string::npos) continue;
    std::istringstream words(line);
    std::string number, kind, mode, access, pid;
    if (words >> number >> kind >> mode >> access >> pid && pid != "-1" && pid != "0") return pid;
  }
  return {};
}

enum class Lock : std::uint8_t { kFree, kHeld, kUnknown };

// Tries a shared lock and lets go at once: a server that holds the lock notices nothing.
Lock check_lock(Diagnosis& diagnosis, const fs::path& store) {
  const int descriptor = ::open((store / kMarkerName).c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    diagnosis.error(
        "lock", fmt::format("cannot open {}: {}", (store / kMarkerName).string(), system_error()),
        "run as the directory's owner");
    return Lock::kUnknown;
  }
  Lock lock = Lock::kFree;
  if (::flock(descriptor, LOCK_SH | LOCK_NB) == 0) {
    ::flock(descriptor, LOCK_UN);
    diagnosis.ok("lock", "free: no server has the data open");
  } else if (errno == EWOULDBLOCK) {
    struct stat file{};
    const std::string pid = ::fstat(descriptor, &file) == 0 ? holder_of(file) : "";
    diagnosis.ok("lock", pid.empty() ? "held by a running server"
                                     : fmt::format("held by a running server (process {})", pid));
    lock = Lock::kHeld;
  } else {
    diagnosis.warning("lock", "cannot be tested: " + system_error(), "");
    lock = Lock::kUnknown;
  }
  ::close(descriptor);
  return lock;
}

std::string advice_for(Code code) {
  switch (code) {
    case Code::kUnsupportedVersion: return "use the release that wrote it, or a newer one";
    case Code::kCorrupt: return "restore the directory from a backup; keep a copy of this one";
    case Code::kNoSpace: return "make room on the file system";
    case Code::kConflict: return "a server started meanwhile: run doctor again";
    default: return "check the directory and its permissions";
  }
}

// Records whose key begins so, up to kMaxCounted.
Result<std::size_t> count_records(const store::Engine& engine, const std::string& prefix) {
  std::size_t count = 0;
  store::ScanRequest request{.begin = prefix, .limit = 10'000};
  // The first key after all that begin so; no prefix of a table ends in 0xff.
  if (!prefix.empty()) (request.end = prefix).back() = static_cast<char>(prefix.back() + 1);
  for (;;) {
    REPRISE_TRY(const auto page, engine.scan(request, store::ReadMode::kBlocking));
    count += page.records.size();
    if (!page.has_more || page.records.empty() || count >= kMaxCounted) return count;
    request.begin = page.records.back().key + '\0';
  }
}

std::string format_line(const fs::path& store) {
  std::ifstream marker(store / kMarkerName);
  for (std::string line; std::getline(marker, line);)
    if (line.starts_with("format ")) return line;
  return "unknown format";
}

// Opens the store as a server would, which also replays its log, and counts.
void check_contents(Diagnosis& diagnosis, const fs::path& store) {
  auto engine = store::RocksDbEngine::open(store.string(), {});
  if (!engine)
    return diagnosis.error("contents", engine.error().detail, advice_for(engine.error().code));
  const auto sessions = count_records(**engine, session::all_prefix());
  const auto count = sessions ? count_records(**engine, "") : sessions;
  if (!count)
    return diagnosis.error("contents", count.error().detail, advice_for(count.error().code));
  const std::string at_least = *count >= kMaxCounted ? "at least " : "";
  diagnosis.ok("contents", fmt::format("{}, {} sessions, {}{} records", format_line(store),
                                       *sessions, at_least, *count));
}

void check_data(Diagnosis& diagnosis, const fs::path& directory) {
  std::error_code error;
  if (!fs::exists(directory, error)) {
    diagnosis.ok(
        "data", fmt::format("{} does not exist yet; 'reprise serve' makes it", directory.string()));
    const fs::path parent = fs::absolute(directory, error).lexically_normal().parent_path();
    if (fs::exists(parent, error)) check_space(diagnosis, parent);
    return;
  }
  if (!fs::is_directory(directory, error))
    return diagnosis.error("data", directory.string() + " is not a directory",
                           "name a directory with --data");
  diagnosis.ok("data", fmt::format("{}, {}", fs::absolute(directory, error).string(),
                                   format_bytes(size_of(directory))));
  check_permissions(diagnosis, directory);
  check_space(diagnosis, directory);
  const auto store = find_store(directory);
  if (!store) {
    if (fs::is_empty(directory, error)) return diagnosis.ok("contents", "empty");
    return diagnosis.error("contents", "the directory holds files, but no store of Reprise",
                           "name another directory with --data");
  }
  if (check_lock(diagnosis, *store) == Lock::kFree) check_contents(diagnosis, *store);
}

rt::Task<Result<wire::Response>> ask_health(Client& client) {
  co_return co_await client.send({.target = "/healthz"});
}

void check_server(Diagnosis& diagnosis, const ClientOptions& options) {
  const auto url = parse_url(options.server);
  if (!url) return diagnosis.error("server", url.error().detail, "correct --server");
  std::shared_ptr<rt::TlsContext> tls;
  if (url->is_tls) {
    auto made = rt::TlsContext::client(options.tls_ca);
    if (!made) return diagnosis.error("server", made.error().detail, "correct --tls-ca");
    tls = std::move(*made);
  }
  rt::RealLoop loop;
  Client client(loop, *url, options.token, std::move(tls), {.response = Millis{5'000}});
  const auto response = run_to_end(loop, ask_health(client));
  if (!response)
    return diagnosis.warning("server", "none answers: " + response.error().detail,
                             "start one with 'reprise serve', or name it with --server");
  if (response->status != 200)
    return diagnosis.warning("server",
                             fmt::format("{} answers {}", url->to_string(), response->status),
                             "look at the server's log; is it Reprise that listens there?");
  diagnosis.ok("server", fmt::format("{} is alive", url->to_string()));
}

}  // namespace

int doctor(const ClientOptions& options, const std::string& data_directory) {
  std::signal(SIGPIPE, SIG_IGN);
  Diagnosis diagnosis;
  check_versions(diagnosis);
  check_descriptors(diagnosis);
  check_data(diagnosis, data_directory);
  check_server(diagnosis, options);
  const auto printed = print(options.is_json ? diagnosis.to_json() : diagnosis.to_text());
  if (!printed) return report(printed.error(), options.is_json);
  return diagnosis.has_errors() ? kExitFailed : kExitOk;
}

}  // namespace reprise::server::cli
