#include "base/bytes.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/ids.h"

namespace reprise {
namespace {

constexpr std::uint64_t kMax64 = std::numeric_limits<std::uint64_t>::max();

TEST(Bytes, BigEndianNumbersSortAsTheyCount) {
  const std::uint64_t numbers[] = {0, 1, 255, 256, 65'535, 1ULL << 32, kMax64 - 1, kMax64};
  std::string before;
  for (const std::uint64_t number : numbers) {
    std::string key;
    put_be64(key, number);
    EXPECT_EQ(key.size(), 8U);
    EXPECT_EQ(get_be64(key), number);
    if (!before.empty()) {
      EXPECT_LT(before, key);
    }
    before = key;
  }
}

TEST(Bytes, ThirtyTwoBitsAreWrittenAndReadBack) {
  std::string bytes;
  put_be32(bytes, 0x01020304);
  EXPECT_EQ(bytes, std::string("\1\2\3\4"));
  EXPECT_EQ(get_be32(bytes), 0x01020304U);
}

TEST(Bytes, VarintsOfEveryLengthAreReadBack) {
  for (unsigned shift = 0; shift < 64; ++shift) {
    const std::uint64_t bit = std::uint64_t{1} << shift;
    for (const std::uint64_t number : {bit - 1, bit, bit + 1, kMax64}) {
      std::string bytes;
      put_varint(bytes, number);
      ByteReader reader(bytes);
      std::uint64_t read = 0;
      ASSERT_TRUE(reader.varint(read));
      EXPECT_EQ(read, number);
      EXPECT_TRUE(reader.at_end());
    }
  }
}

TEST(Bytes, AVarintThatIsCutOffOrTooLargeOrTooLongIsRefused) {
  const std::string damaged[] = {
      std::string(),
      std::string("\x80"),
      std::string(9, '\xff') + '\x02',   // 65 bits
      std::string(10, '\x80') + '\x01',  // eleven bytes
      std::string("\x80\x00", 2),        // 0, but in two bytes
      std::string("\x81\x80\x00", 3),    // 1, but in three bytes
  };
  for (const std::string& bytes : damaged) {
    ByteReader reader(bytes);
    std::uint64_t value = 0;
    EXPECT_FALSE(reader.varint(value)) << to_hex(bytes);
    EXPECT_FALSE(reader.at_end());
  }
}

TEST(Bytes, TextIsReadBackAndALengthBeyondTheEndIsRefused) {
  std::string bytes;
  put_text(bytes, "");
  put_text(bytes, std::string("a\0b", 3));
  put_text(bytes, std::string(300, 'x'));
  ByteReader reader(bytes);
  std::string_view view;
  std::string text;
  EXPECT_TRUE(reader.text(view));
  EXPECT_EQ(view, "");
  EXPECT_TRUE(reader.text(text));
  EXPECT_EQ(text, std::string("a\0b", 3));
  EXPECT_TRUE(reader.text(view));
  EXPECT_EQ(view, std::string(300, 'x'));
  EXPECT_TRUE(reader.at_end());

  std::string lying;
  put_varint(lying, kMax64);
  lying += "short";
  ByteReader damaged(lying);
  EXPECT_FALSE(damaged.text(view));
}

TEST(Bytes, AfterOneFailedReadAllLaterOnesFail) {
  ByteReader reader("abc");
  std::uint64_t number = 0;
  std::uint8_t byte = 0;
  std::string_view view;
  EXPECT_FALSE(reader.be64(number));
  EXPECT_FALSE(reader.byte(byte));
  EXPECT_FALSE(reader.take(1, view));
  EXPECT_FALSE(reader.text(view));
  EXPECT_FALSE(reader.at_end());
}

TEST(Bytes, ReaderTakesBytesInOrder) {
  std::string bytes = "xy";
  put_be64(bytes, 7);
  ByteReader reader(bytes);
  std::uint8_t byte = 0;
  std::string_view view;
  std::uint64_t number = 0;
  EXPECT_TRUE(reader.byte(byte));
  EXPECT_EQ(byte, 'x');
  EXPECT_TRUE(reader.take(1, view));
  EXPECT_EQ(view, "y");
  EXPECT_EQ(reader.rest().size(), 8U);
  EXPECT_TRUE(reader.be64(number));
  EXPECT_EQ(number, 7U);
  EXPECT_TRUE(reader.at_end());
}

TEST(Bytes, HexIsWrittenLowerCaseAndReadInEither) {
  EXPECT_EQ(to_hex(std::string("\x00\xff\x1a", 3)), "00ff1a");
  EXPECT_EQ(from_hex("00fF1A"), std::string("\x00\xff\x1a", 3));
  EXPECT_EQ(from_hex(""), "");
  EXPECT_EQ(from_hex("0"), std::nullopt);
  EXPECT_EQ(from_hex("0g"), std::nullopt);
}

TEST(Bytes, Base64UrlFollowsTheVectorsOfTheRfc) {
  // RFC 4648 section 10, without the padding.
  const std::pair<std::string_view, std::string_view> vectors[] = {
      {"", ""},           {"f", "Zg"},          {"fo", "Zm8"},         {"foo", "Zm9v"},
      {"foob", "Zm9vYg"}, {"fooba", "Zm9vYmE"}, {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : vectors) {
    EXPECT_EQ(to_base64url(bytes), text);
    EXPECT_EQ(from_base64url(text), bytes);
  }
  EXPECT_EQ(to_base64url("\xfb\xff"), "-_8");
}

TEST(Bytes, Base64UrlHasOneSpellingForEachByteString) {
  for (const std::string_view bad : {"Z", "Zg==", "Zh", "Zm9", "Zm+v", "Zm/v", "Zm 9", "Zm9vY"})
    EXPECT_EQ(from_base64url(bad), std::nullopt) << bad;
}

TEST(Bytes, RandomBytesSurviveHexAndBase64Url) {
  constexpr std::uint64_t kSeed = 20261115;
  SCOPED_TRACE(kSeed);
  SeededRandom random(kSeed);
  for (std::size_t size = 0; size < 200; ++size) {
    std::string bytes(size, '\0');
    random.fill(reinterpret_cast<unsigned char*>(bytes.data()), size);
    EXPECT_EQ(from_hex(to_hex(bytes)), bytes);
    EXPECT_EQ(from_base64url(to_base64url(bytes)), bytes);
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
  }
}

TEST(Bytes, TheEndOfAPrefixIsTheFirstKeyBeyondIt) {
  EXPECT_EQ(prefix_end("ab"), "ac");
  EXPECT_EQ(prefix_end(std::string("a\xff\xff")), "b");
  EXPECT_EQ(prefix_end(std::string("\xff")), "");
}

}  // namespace
}  // namespace reprise
