// SHA-256, by OpenSSL: for idempotency bodies, tokens and audit chains. SHA-1, for the one protocol
// that asks for it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace reprise {

// 32 bytes.
std::string sha256(std::string_view bytes);

// The same, piece by piece.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  void add(std::string_view bytes);
  // 32 bytes; nothing may be added after it.
  std::string finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// 20 bytes. Nothing may rely on it being hard to forge: WebSocket's handshake does not.
std::string sha1(std::string_view bytes);

// Compares without telling by its duration where the difference is.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace reprise
