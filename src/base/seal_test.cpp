#include "base/seal.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

const std::string kKey(kSealKeyBytes, 'k');

TEST(Seal, GivesBackWhatWasSealed) {
  SeededRandom random(1);
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{100'000}}) {
    const std::string plain(size, 'x');
    const std::string sealed = seal(kKey, "here", plain, random);
    EXPECT_EQ(sealed.find("xxxxxxxx"), std::string::npos);
    EXPECT_EQ(unseal(kKey, "here", sealed).value(), plain);
  }
}

TEST(Seal, TheSameTwiceLooksDifferent) {
  SeededRandom random(2);
  EXPECT_NE(seal(kKey, "here", "secret", random), seal(kKey, "here", "secret", random));
}

TEST(Seal, RefusesAnotherKeyAnotherPlaceAndEveryChange) {
  SeededRandom random(3);
  const std::string sealed = seal(kKey, "here", "secret", random);
  EXPECT_EQ(unseal(std::string(kSealKeyBytes, 'o'), "here", sealed).error().code, Code::kCorrupt);
  EXPECT_EQ(unseal(kKey, "there", sealed).error().code, Code::kCorrupt);
  for (std::size_t at = 0; at < sealed.size(); ++at) {
    std::string changed = sealed;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_FALSE(unseal(kKey, "here", changed)) << at;
  }
  for (std::size_t size = 0; size < sealed.size(); ++size)
    EXPECT_FALSE(unseal(kKey, "here", std::string_view(sealed).substr(0, size))) << size;
}

}  // namespace
}  // namespace reprise
