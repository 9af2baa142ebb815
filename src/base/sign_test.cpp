#include "base/sign.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace reprise {
namespace {

// RFC 8032 section 7.1, test 2.
TEST(Sign, Ed25519OfTheStandard) {
  const std::string seed =
      *from_hex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb");
  const std::string message = "\x72";
  EXPECT_EQ(to_hex(*ed25519_public_key(seed)),
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
  const std::string signature = *ed25519_sign(seed, message);
  EXPECT_EQ(to_hex(signature),
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
            "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00");
  const std::string key = *ed25519_public_key(seed);
  EXPECT_TRUE(ed25519_verify(key, message, signature));
  EXPECT_FALSE(ed25519_verify(key, "\x73", signature));
  EXPECT_FALSE(ed25519_verify(key, message, signature.substr(1)));
  EXPECT_FALSE(ed25519_public_key("short"));
}

// RFC 4231, test case 2.
TEST(Sign, HmacOfTheStandard) {
  EXPECT_EQ(to_hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

}  // namespace
}  // namespace reprise
