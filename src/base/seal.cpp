#include "base/seal.h"

#include <openssl/evp.h>

#include <limits>
#include <memory>

#include "base/assert.h"

namespace reprise {
namespace {

constexpr char kFormat = 1;
constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kTagBytes = 16;
constexpr std::size_t kOverhead = 1 + kNonceBytes + kTagBytes;

struct Free {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_CIPHER_CTX, Free>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

int length_of(std::string_view text) {
  REPRISE_ASSERT(text.size() <= static_cast<std::size_t>(std::numeric_limits<int>::max()));
  return static_cast<int>(text.size());
}

}  // namespace

std::string seal(std::string_view key, std::string_view bound_to, std::string_view plain,
                 Random& random) {
  REPRISE_ASSERT(key.size() == kSealKeyBytes, key.size());
  std::string nonce(kNonceBytes, '\0');
  random.fill(bytes_of(nonce), nonce.size());
  const Context context(EVP_CIPHER_CTX_new());
  std::string body(plain.size(), '\0');
  std::string tag(kTagBytes, '\0');
  int written = 0;
  int rest = 0;
  // Only a lack of memory, or a bug of ours, makes one of these fail.
  const bool is_sealed =
      context != nullptr &&
      EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, bytes_of(key),
                         bytes_of(std::string_view(nonce))) == 1 &&
      EVP_EncryptUpdate(context.get(), nullptr, &written, bytes_of(bound_to),
                        length_of(bound_to)) == 1 &&
      EVP_EncryptUpdate(context.get(), bytes_of(body), &written, bytes_of(plain),
                        length_of(plain)) == 1 &&
      EVP_EncryptFinal_ex(context.get(), bytes_of(body) + written, &rest) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes, tag.data()) == 1;
  REPRISE_ASSERT(is_sealed);
  return kFormat + nonce + body + tag;
}

Result<std::string> unseal(std::string_view key, std::string_view bound_to,
                           std::string_view sealed) {
  REPRISE_ASSERT(key.size() == kSealKeyBytes, key.size());
  const auto refused = [] {
    return fail(Code::kCorrupt, "the sealed bytes do not belong to this key and place");
  };
  if (sealed.size() < kOverhead || sealed.front() != kFormat) return refused();
  const std::string_view nonce = sealed.substr(1, kNonceBytes);
  const std::string_view body = sealed.substr(1 + kNonceBytes, sealed.size() - kOverhead);
  std::string tag(sealed.substr(sealed.size() - kTagBytes));
  if (body.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) return refused();
  const Context context(EVP_CIPHER_CTX_new());
  std::string plain(body.size(), '\0');
  int written = 0;
  int rest = 0;
  const bool is_genuine =
      context != nullptr &&
      EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, bytes_of(key),
                         bytes_of(nonce)) == 1 &&
      EVP_DecryptUpdate(context.get(), nullptr, &written, bytes_of(bound_to),
                        length_of(bound_to)) == 1 &&
      EVP_DecryptUpdate(context.get(), bytes_of(plain), &written, bytes_of(body),
                        length_of(body)) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, tag.data()) == 1 &&
      EVP_DecryptFinal_ex(context.get(), bytes_of(plain) + written, &rest) == 1;
  if (!is_genuine) return refused();
  return plain;
}

}  // namespace reprise
