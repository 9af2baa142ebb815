#include "browser/file_lender.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <span>
#include <utility>

#include "browser/limits.h"
#include "model/artifact.h"
#include "wire/json.h"

namespace reprise::browser {
namespace {

constexpr std::size_t kPieceBytes = 256 * 1024;

Result<> write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count <= 0) return fail(Code::kIo, "a file for the browser cannot be written");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

}  // namespace

Result<> LentTally::add(std::string_view context, std::size_t files, std::uint64_t bytes) {
  if (files > kMaxLentFiles)
    return fail(Code::kBodyTooLarge,
                fmt::format("{} files are too many: at most {}", files, kMaxLentFiles));
  const std::uint64_t before = context_ == context ? bytes_ : 0;
  if (bytes > kMaxLentBytes - before)
    return fail(Code::kBodyTooLarge,
                fmt::format("{} bytes are too many: at most {} in all, {} are lent already", bytes,
                            kMaxLentBytes, before));
  context_ = context;
  bytes_ = before + bytes;
  return {};
}

std::string lent_name(std::string_view artifact) {
  const std::string_view name = artifact.substr(artifact.rfind('/') + 1);
  if (name.size() <= kMaxLentNameBytes) return std::string(name);
  constexpr std::size_t kMaxEnd = 32;
  const std::size_t dot = name.rfind('.');
  const bool has_end = dot != std::string_view::npos && name.size() - dot <= kMaxEnd;
  const std::string_view end = has_end ? name.substr(dot) : std::string_view();
  // A character is not cut in two.
  std::string_view begin = name.substr(0, kMaxLentNameBytes - end.size());
  while (!begin.empty() && !wire::is_utf8(begin)) begin.remove_suffix(1);
  return std::string(begin).append(end);
}

rt::Task<Result<std::vector<std::string>>> FileLender::lend(Context& context,
                                                            std::vector<std::string> artifacts) {
  REPRISE_CO_CHECK(tally_.add(context.name(), artifacts.size(), 0));
  std::vector<session::ArtifactView> views;
  std::uint64_t bytes = 0;
  for (const std::string& path : artifacts) {
    REPRISE_CO_CHECK(model::check_artifact_path(path));
    REPRISE_CO_TRY(auto view, co_await artifacts_.look(session_, path, std::nullopt));
    bytes += view.version.artifact.size;
    views.push_back(std::move(view));
  }
  REPRISE_CO_CHECK(tally_.add(context.name(), artifacts.size(), bytes));
  std::vector<std::string> paths;
  for (const session::ArtifactView& view : views) {
    REPRISE_CO_TRY(std::string path, co_await copy(context, view));
    paths.push_back(std::move(path));
  }
  co_return paths;
}

rt::Task<Result<std::string>> FileLender::copy(Context& context,
                                               const session::ArtifactView& view) {
  std::string name = lent_name(view.version.artifact.path);
  REPRISE_CO_TRY(const auto content, co_await artifacts_.open(session_, view));
  REPRISE_CO_TRY(const LentFile lent, co_await context.lend_file(std::move(name)));
  const std::uint64_t size = view.version.artifact.size;
  std::string piece;
  for (std::uint64_t at = 0; at < size;) {
    piece.resize(std::min<std::uint64_t>(kPieceBytes, size - at));
    REPRISE_CO_TRY(const std::size_t read,
                   co_await content->read(at, std::span(piece.data(), piece.size())));
    piece.resize(read);
    at += read;
    REPRISE_CO_CHECK(co_await artifacts_.pool().run(
        loop_, [&piece, file = lent.file.number()] { return write_all(file, piece); }));
  }
  co_return lent.path.string();
}

}  // namespace reprise::browser
