// What subscriptions are signed with: webhooks so that anybody can check who sent them, tokens of
// wakes so that we can tell what was granted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/time.h"

namespace reprise::stream {

struct WakeToken {
  std::string subscription;
  std::uint64_t generation = 0;
  TimePoint expires_at;
  friend bool operator==(const WakeToken&, const WakeToken&) = default;
};

class SubscriptionKeys {
 public:
  static constexpr std::size_t kSecretBytes = 64;
  // From random bytes that are kept secret, and as long as tokens and signatures are to count.
  static Result<SubscriptionKeys> from(std::string_view secret);

  const std::string& public_key() const { return public_key_; }
  // Begins with ds_ and is made from the public key.
  const std::string& key_id() const { return key_id_; }

  // The value of a Webhook-Signature header: Ed25519 over the time in seconds, a dot, and the body.
  Result<std::string> sign_webhook(std::string_view body, TimePoint now) const;

  std::string write_token(const WakeToken& token) const;
  // kUnauthorized for what we have not written.
  Result<WakeToken> read_token(std::string_view text) const;

 private:
  std::string seed_;
  std::string token_key_;
  std::string public_key_;
  std::string key_id_;
};

}  // namespace reprise::stream
