#include "server/cli/transfer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "server/cli/call.h"

namespace reprise::server::cli {
namespace {

using rt::Task;

Error file_error(std::string_view what, const std::string& name) {
  return {Code::kIo,
          fmt::format("cannot {} '{}': {}", what, name, std::generic_category().message(errno))};
}

class OpenFile {
 public:
  explicit OpenFile(int descriptor, bool is_owned = true)
      : descriptor_(descriptor), is_owned_(is_owned) {}
  ~OpenFile() {
    if (is_owned_ && descriptor_ >= 0) ::close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
  bool is_owned_;
};

class FileSource final : public UploadSource {
 public:
  FileSource(int descriptor, std::string name, std::optional<std::uint64_t> size)
      : descriptor_(descriptor), name_(std::move(name)), size_(size) {}
  Result<std::size_t> read(std::span<char> buffer) override {
    for (;;) {
      const ssize_t count = ::read(descriptor_, buffer.data(), buffer.size());
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR) return fail(file_error("read", name_));
    }
  }
  std::optional<std::uint64_t> size() const override { return size_; }

 private:
  int descriptor_;
  std::string name_;
  std::optional<std::uint64_t> size_;
};

class FileSink final : public StreamReader {
 public:
  FileSink(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}
  void on_open() override {}
  bool on_bytes(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) {
        is_closed_ = errno == EPIPE;
        error_ = file_error("write", name_);
        return false;
      }
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }
  bool may_end() const override { return true; }
  Outcome<> outcome() const {
    if (!error_) return {};
    return std::unexpected(is_closed_ ? Failure::output_closed() : Failure(*error_));
  }

 private:
  int descriptor_;
  std::string name_;
  std::optional<Error> error_;
  bool is_closed_ = false;
};

Task<Outcome<>> download_into(Client& client, ClientRequest request, std::string name,
                              int descriptor) {
  FileSink sink(descriptor, std::move(name));
  const auto response = co_await client.stream(std::move(request), sink);
  if (auto written = sink.outcome(); !written) co_return written;
  if (!response) co_return failed(response.error());
  if (response->status != 200) co_return failed(*response);
  co_return Outcome<>{};
}

}  // namespace

Task<Outcome<wire::Response>> upload_file(Client& client, ClientRequest request, std::string name) {
  const bool is_input = name == "-";
  const OpenFile file(is_input ? STDIN_FILENO : ::open(name.c_str(), O_RDONLY | O_CLOEXEC),
                      !is_input);
  if (file.get() < 0) co_return failed(file_error("open", name));
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) co_return failed(file_error("read", name));
  // What is no plain file, such as a pipe, has no length that could be announced. A file that is
  // standard input may have been read from already.
  std::optional<std::uint64_t> size;
  if (!is_input && S_ISREG(status.st_mode)) size = static_cast<std::uint64_t>(status.st_size);
  FileSource source(file.get(), name, size);
  auto response = co_await client.upload(std::move(request), source);
  if (!response) co_return failed(response.error());
  if (response->status < 200 || response->status >= 300) co_return failed(*response);
  co_return std::move(*response);
}

Task<Outcome<>> download_file(Client& client, ClientRequest request, std::string output) {
  if (output == "-")
    co_return co_await download_into(client, std::move(request), output, STDOUT_FILENO);
  const std::string partial = fmt::format("{}.{}.part", output, ::getpid());
  constexpr mode_t kUsual = 0666;
  const OpenFile file(::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kUsual));
  if (file.get() < 0) co_return failed(file_error("make", partial));
  auto got = co_await download_into(client, std::move(request), output, file.get());
  if (got && ::rename(partial.c_str(), output.c_str()) != 0)
    got = failed(file_error("make", output));
  if (!got) ::unlink(partial.c_str());
  co_return got;
}

}  // namespace reprise::server::cli
