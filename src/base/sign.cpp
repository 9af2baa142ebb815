#include "base/sign.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <memory>

#include "base/assert.h"

namespace reprise {
namespace {

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Key = std::unique_ptr<EVP_PKEY, Free>;
using Context = std::unique_ptr<EVP_MD_CTX, Free>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Key private_key(std::string_view seed) {
  return Key(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, bytes_of(seed), seed.size()));
}

std::unexpected<Error> no_key() { return fail(Code::kInternal, "an Ed25519 key has 32 bytes"); }

}  // namespace

Result<std::string> ed25519_public_key(std::string_view seed) {
  const Key key = private_key(seed);
  std::string raw(32, '\0');
  std::size_t size = raw.size();
  if (!key || EVP_PKEY_get_raw_public_key(key.get(), reinterpret_cast<unsigned char*>(raw.data()),
                                          &size) != 1)
    return no_key();
  return raw;
}

Result<std::string> ed25519_sign(std::string_view seed, std::string_view message) {
  const Key key = private_key(seed);
  const Context context(EVP_MD_CTX_new());
  std::string signature(64, '\0');
  std::size_t size = signature.size();
  if (!key || EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) != 1 ||
      EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                     bytes_of(message), message.size()) != 1)
    return no_key();
  return signature;
}

bool ed25519_verify(std::string_view public_key, std::string_view message,
                    std::string_view signature) {
  const Key key(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes_of(public_key),
                                            public_key.size()));
  const Context context(EVP_MD_CTX_new());
  return key && EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
         EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(message),
                          message.size()) == 1;
}

std::string hmac_sha256(std::string_view key, std::string_view message) {
  std::string mac(32, '\0');
  unsigned int size = 32;
  const auto* made = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes_of(message),
                          message.size(), reinterpret_cast<unsigned char*>(mac.data()), &size);
  REPRISE_ASSERT(made != nullptr && size == 32);
  return mac;
}

}  // namespace reprise
