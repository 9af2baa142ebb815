#include "wire/tar.h"

#include <gtest/gtest.h>

#include <vector>

namespace reprise::wire {
namespace {

using Members = std::vector<std::pair<std::string, std::string>>;

std::string written(const Members& members, TimePoint at = TimePoint{1'700'000'000'123}) {
  std::string bytes;
  TarWriter writer(at, [&bytes](std::string_view piece) {
    bytes += piece;
    return Result<>{};
  });
  for (const auto& [name, content] : members) {
    EXPECT_TRUE(writer.begin(name, content.size()));
    // In two pieces.
    EXPECT_TRUE(writer.write(std::string_view(content).substr(0, content.size() / 2)));
    EXPECT_TRUE(writer.write(std::string_view(content).substr(content.size() / 2)));
  }
  EXPECT_TRUE(writer.finish());
  return bytes;
}

TarReader::Source bytes_of(std::string bytes, std::size_t piece = 100'000) {
  return [bytes = std::move(bytes), piece,
          at = std::size_t{0}](std::span<char> buffer) mutable -> Result<std::size_t> {
    const std::size_t count = bytes.copy(buffer.data(), std::min(buffer.size(), piece), at);
    at += count;
    return count;
  };
}

Result<Members> read(std::string bytes, std::size_t piece = 100'000) {
  TarReader reader(bytes_of(std::move(bytes), piece));
  Members members;
  for (;;) {
    REPRISE_TRY(const auto member, reader.next());
    if (!member) return members;
    std::string content;
    for (;;) {
      char buffer[77];
      REPRISE_TRY(const std::size_t count, reader.read(buffer));
      if (count == 0) break;
      content.append(buffer, count);
    }
    EXPECT_EQ(content.size(), member->size);
    members.emplace_back(member->name, std::move(content));
  }
}

const Members kSome = {{"a.txt", "hello"},
                       {"empty", ""},
                       {"folder/" + std::string(64, 'f'), std::string(100'000, 'x')}};

TEST(Tar, WhatWasWrittenIsRead) {
  const std::string bytes = written(kSome);
  for (const std::size_t piece : {1U, 511U, 512U, 100'000U}) {
    const auto members = read(bytes, piece);
    ASSERT_TRUE(members) << members.error().detail;
    EXPECT_EQ(*members, kSome);
  }
}

TEST(Tar, TheSameMembersGiveTheSameBytes) {
  EXPECT_EQ(written(kSome), written(kSome));
  EXPECT_NE(written(kSome), written(kSome, TimePoint{1'700'000'001'000}));
  // A header and a block for each, and two empty blocks at the end: nothing is padded to a tape's.
  EXPECT_EQ(written({{"a", "b"}}).size(), 512U + 512U + 1024U);
}

TEST(Tar, ACutOffArchiveIsBad) {
  const std::string bytes = written(kSome);
  for (std::size_t size = 513; size < bytes.size() - 1024; size += 613) {
    const auto members = read(bytes.substr(0, size));
    // At a member's end it cannot be told from a shorter archive.
    if (members)
      EXPECT_LT(members->size(), kSome.size());
    else
      EXPECT_EQ(members.error().code, Code::kBadArchive);
  }
}

TEST(Tar, WhatIsNoPlainFileIsRefused) {
  for (const char type : {'1', '2', '3', '4', '5', '6'}) {
    std::string bytes = written({{"link", ""}});
    bytes[156] = type;
    bytes.replace(157, 6, "target");
    // The header's sum: all bytes, its own place as blanks.
    unsigned sum = 0;
    for (std::size_t i = 0; i < 512; ++i)
      sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(bytes[i]);
    char text[9];
    std::snprintf(text, sizeof text, "%06o", sum);
    bytes.replace(148, 8, std::string(text, 6) + '\0' + ' ');
    const auto members = read(bytes);
    ASSERT_FALSE(members) << type;
    EXPECT_EQ(members.error().code, Code::kBadArchive);
  }
}

TEST(Tar, NothingButTarIsRead) {
  for (const std::string& bytes :
       {std::string("PK\3\4"), std::string("\x1f\x8b\x08", 3), std::string(5'000, 'x')}) {
    const auto members = read(bytes);
    ASSERT_FALSE(members);
    EXPECT_EQ(members.error().code, Code::kBadArchive);
  }
}

TEST(Tar, FailuresOfWhatMovesTheBytesAreTold) {
  TarReader reader([](std::span<char>) -> Result<std::size_t> {
    return fail(Code::kStorage, "the disk is gone");
  });
  const auto next = reader.next();
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().code, Code::kStorage);

  TarWriter writer(TimePoint{}, [](std::string_view) { return fail(Code::kNoSpace, "full"); });
  Result<> outcome = writer.begin("large", 100'000);
  if (outcome) outcome = writer.write(std::string(100'000, 'x'));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kNoSpace);
}

TEST(Tar, SizesBeyondTheOldFormatAreKept) {
  std::string bytes;
  TarWriter writer(TimePoint{}, [&bytes](std::string_view piece) {
    bytes += piece;
    return Result<>{};
  });
  constexpr std::uint64_t kSize = 9ULL << 30;
  ASSERT_TRUE(writer.begin("huge", kSize));
  ASSERT_TRUE(writer.write(std::string(100'000, 'x')));
  TarReader reader(bytes_of(bytes));
  const auto member = reader.next();
  ASSERT_TRUE(member && *member) << member.error().detail;
  EXPECT_EQ((*member)->size, kSize);
}

}  // namespace
}  // namespace reprise::wire
