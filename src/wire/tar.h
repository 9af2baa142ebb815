// Tar archives, written and read piece by piece; libarchive knows the format.
//
//     TarWriter writer(TimePoint{}, [&](std::string_view bytes) { return file.write(bytes); });
//     REPRISE_CHECK(writer.begin("hello.txt", 5));
//     REPRISE_CHECK(writer.write("hello"));
//     REPRISE_CHECK(writer.finish());
//
//     TarReader reader([&](std::span<char> buffer) { return file.read(buffer); });
//     REPRISE_TRY(auto member, reader.next());       // none at the end
//     REPRISE_TRY(auto count, reader.read(buffer));  // 0 at the member's end
//
// The same members give the same bytes: plain POSIX headers (pax where a size needs it), one time
// for all, no owner. A reader takes plain files only: no links, folders, holes or compression.
//
// Threads: one at a time. The functions that move bytes are called from within the members.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/time.h"

namespace reprise::wire {

class TarWriter {
 public:
  using Sink = std::function<Result<>(std::string_view)>;
  // `changed_at` is every member's time, to the second.
  TarWriter(TimePoint changed_at, Sink sink);
  ~TarWriter();
  TarWriter(const TarWriter&) = delete;
  TarWriter& operator=(const TarWriter&) = delete;

  // The member before must have all its bytes. Fails as the sink does.
  Result<> begin(const std::string& name, std::uint64_t size);
  Result<> write(std::string_view bytes);
  Result<> finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct TarMember {
  std::string name;
  std::uint64_t size = 0;
};

class TarReader {
 public:
  // Fills the buffer with the next bytes and says how many; 0 at the end.
  using Source = std::function<Result<std::size_t>(std::span<char>)>;
  explicit TarReader(Source source);
  ~TarReader();
  TarReader(const TarReader&) = delete;
  TarReader& operator=(const TarReader&) = delete;

  // Skips what is left of the member before. kBadArchive, or as the source fails.
  Result<std::optional<TarMember>> next();
  Result<std::size_t> read(std::span<char> buffer);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace reprise::wire
