#include "base/hash.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace reprise {
namespace {

TEST(Hash, PieceByPieceIsTheSame) {
  Sha256 hash;
  hash.add("hel");
  hash.add("");
  hash.add("lo");
  EXPECT_EQ(hash.finish(), sha256("hello"));
  EXPECT_EQ(to_hex(Sha256().finish()),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Hash, Sha1IsTheStandards) {
  EXPECT_EQ(to_hex(sha1("abc")), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(to_hex(sha1("")), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
}

}  // namespace
}  // namespace reprise
