#include "stream/subscription/signing.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/sign.h"

namespace reprise::stream {

Result<SubscriptionKeys> SubscriptionKeys::from(std::string_view secret) {
  REPRISE_ASSERT(secret.size() == kSecretBytes, secret.size());
  SubscriptionKeys keys;
  keys.seed_ = secret.substr(0, kSecretBytes / 2);
  keys.token_key_ = secret.substr(kSecretBytes / 2);
  REPRISE_TRY(keys.public_key_, ed25519_public_key(keys.seed_));
  keys.key_id_ = "ds_" + to_base64url(sha256(keys.public_key_).substr(0, 12));
  return keys;
}

Result<std::string> SubscriptionKeys::sign_webhook(std::string_view body, TimePoint now) const {
  const std::int64_t seconds = now.ms / 1000;
  REPRISE_TRY(const std::string signature,
              ed25519_sign(seed_, fmt::format("{}.{}", seconds, body)));
  return fmt::format("t={},kid={},ed25519={}", seconds, key_id_, to_base64url(signature));
}

// The claims, a dot, and their HMAC; each in base64url.
std::string SubscriptionKeys::write_token(const WakeToken& token) const {
  std::string claims;
  put_text(claims, token.subscription);
  put_varint(claims, token.generation);
  put_varint(claims, static_cast<std::uint64_t>(std::max<std::int64_t>(token.expires_at.ms, 0)));
  return to_base64url(claims) + '.' + to_base64url(hmac_sha256(token_key_, claims));
}

Result<WakeToken> SubscriptionKeys::read_token(std::string_view text) const {
  const std::size_t dot = std::min(text.find('.'), text.size());
  const auto claims = from_base64url(text.substr(0, dot));
  const auto mac = from_base64url(text.substr(std::min(dot + 1, text.size())));
  if (!claims || !mac || !equal_in_constant_time(*mac, hmac_sha256(token_key_, *claims)))
    return fail(Code::kUnauthorized, "the token is not one of ours");
  ByteReader reader(*claims);
  WakeToken token;
  std::uint64_t expires = 0;
  if (!reader.text(token.subscription) || !reader.varint(token.generation) ||
      !reader.varint(expires) || !reader.at_end())
    return fail(Code::kUnauthorized, "the token was written by another version");
  token.expires_at.ms = static_cast<std::int64_t>(expires);
  return token;
}

}  // namespace reprise::stream
