#include "browser/download_keeper.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "browser/session_browser.h"
#include "model/artifact.h"

namespace reprise::browser {
namespace {

constexpr std::size_t kPieceBytes = 256 * 1024;
// Tries to find a name that is free.
constexpr unsigned kMaxNames = 1'000;

Result<std::uint64_t> size_of(int file) {
  struct stat status{};
  if (::fstat(file, &status) != 0) return fail(Code::kIo, "a download cannot be looked at");
  return static_cast<std::uint64_t>(status.st_size);
}

}  // namespace

DownloadKeeper::DownloadKeeper(Surroundings& around, SessionId session)
    : around_(around),
      session_(session),
      book_(around.artifacts.options().max_artifact_bytes),
      changed_(around.loop),
      storing_(around.loop) {}

DownloadKeeper::~DownloadKeeper() = default;

void DownloadKeeper::on_news(const std::shared_ptr<Context>& context, const DownloadNews& news) {
  if (context == nullptr || is_stopping_) return;
  switch (book_.take(news)) {
    case DownloadBook::Step::kNothing: break;
    case DownloadBook::Step::kCancel: context->cancel_download(news.id); break;
    case DownloadBook::Step::kKeep: rt::spawn(gate_, finish(context, news.id)); break;
  }
  changed_.notify();
}

rt::Task<> DownloadKeeper::finish(std::shared_ptr<Context> context, std::string id) {
  const std::string name = book_.name_of(id);
  auto kept = co_await keep(*context, id, name);
  book_.ended(
      id, kept ? std::move(*kept)
               : fmt::format("not downloaded: {}: {}", download_name(name), kept.error().detail));
  changed_.notify();
}

rt::Task<Result<std::string>> DownloadKeeper::keep(Context& context, std::string id,
                                                   std::string name) {
  rt::CancelScope scope;
  REPRISE_CO_TRY(const rt::Turns::Turn turn, co_await storing_.take(scope));
  REPRISE_CO_TRY(const rt::Descriptor file, co_await context.take_download(id));
  rt::Pool& pool = around_.artifacts.pool();
  const int number = file.number();
  REPRISE_CO_TRY(const std::uint64_t size,
                 co_await pool.run(around_.loop, [number] { return size_of(number); }));
  if (size > book_.max_bytes())
    co_return fail(Code::kBodyTooLarge,
                   fmt::format("it has more than {} bytes", book_.max_bytes()));
  std::unique_ptr<session::Upload> upload;
  std::string path;
  for (unsigned tries = 1; upload == nullptr; ++tries) {
    path = download_path(name, tries);
    auto begun = co_await around_.artifacts.begin(
        session_, {.path = path,
                   .kind = model::ArtifactKind::kAttachment,
                   .content_type = std::string(model::kDefaultContentType),
                   .announced_bytes = size,
                   .if_match = {},
                   .if_none_match = "*",
                   .by = {}});
    if (begun)
      upload = std::move(*begun);
    else if (begun.error().code != Code::kPreconditionFailed || tries >= kMaxNames)
      co_return fail(std::move(begun).error());
  }
  for (std::uint64_t at = 0; at < size;) {
    if (is_stopping_) co_return fail(Code::kCancelled, "the browser was closed meanwhile");
    REPRISE_CO_TRY(
        std::string piece, co_await pool.run(around_.loop, [number, at]() -> Result<std::string> {
          std::string bytes(kPieceBytes, '\0');
          const ssize_t count = ::pread(number, bytes.data(), bytes.size(), static_cast<off_t>(at));
          if (count <= 0) return fail(Code::kIo, "a download cannot be read");
          bytes.resize(static_cast<std::size_t>(count));
          return bytes;
        }));
    at += piece.size();
    REPRISE_CO_CHECK(co_await around_.artifacts.write(*upload, std::move(piece)));
  }
  REPRISE_CO_CHECK(co_await around_.artifacts.finish(std::move(upload)));
  co_return fmt::format("downloaded: artifact {} ({} bytes)", path, size);
}

rt::Task<> DownloadKeeper::wait_for_new(std::uint64_t since, rt::CancelScope& scope,
                                        rt::Deadline deadline) {
  while (!is_stopping_ && book_.has_new(since))
    if (!co_await changed_.wait(scope, deadline)) co_return;
}

rt::Task<> DownloadKeeper::stop() {
  is_stopping_ = true;
  changed_.notify();
  co_await gate_.empty();
  book_.clear();
  is_stopping_ = false;
}

}  // namespace reprise::browser
