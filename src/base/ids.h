// Strong types for what must not be mixed, and where their randomness comes from.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace reprise {

// Randomness, passed in so that a simulation can seed it. Threads: fill() may be called from any
// thread.
class Random {
 public:
  virtual ~Random() = default;
  virtual void fill(unsigned char* bytes, std::size_t count) = 0;
  std::uint64_t next_u64();
};

// The operating system's CSPRNG, read in blocks.
class SystemRandom final : public Random {
 public:
  void fill(unsigned char* bytes, std::size_t count) override;
};

// For tests and simulations only: the same seed gives the same bytes. Not thread-safe.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(seed) {}
  void fill(unsigned char* bytes, std::size_t count) override;

 private:
  std::uint64_t state_;
};

using Uuid = std::array<unsigned char, 16>;

// UUIDv7 (RFC 9562): 48 bits of milliseconds, then random bits; byte order is creation order. Ids
// made on one thread within the same millisecond still ascend, so that "newest first" is stable.
Uuid make_uuid_v7(TimePoint at, Random& random);
std::string format_uuid(const Uuid& uuid);
// Accepts the 36-character form in either case.
std::optional<Uuid> parse_uuid(std::string_view text);

namespace detail {
template <typename Tag>
struct UuidId {
  Uuid bytes{};
  friend auto operator<=>(const UuidId&, const UuidId&) = default;
  std::string_view view() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::string to_string() const { return format_uuid(bytes); }
  static UuidId make(TimePoint at, Random& random) { return {make_uuid_v7(at, random)}; }
  static std::optional<UuidId> parse(std::string_view text) {
    const auto uuid = parse_uuid(text);
    if (!uuid) return std::nullopt;
    return UuidId{*uuid};
  }
  // From 16 raw bytes, as stored.
  static std::optional<UuidId> from_bytes(std::string_view raw) {
    if (raw.size() != 16) return std::nullopt;
    UuidId id;
    for (std::size_t i = 0; i < 16; ++i) id.bytes[i] = static_cast<unsigned char>(raw[i]);
    return id;
  }
};

template <typename Tag>
struct Number {
  std::uint64_t value = 0;
  friend auto operator<=>(const Number&, const Number&) = default;
  Number next() const { return {value + 1}; }
};
}  // namespace detail

// A session, as clients name it.
using SessionId = detail::UuidId<struct SessionIdTag>;
// One incarnation of a stream inside the store; never reused, never shown.
using StreamId = detail::UuidId<struct StreamIdTag>;
// A position in a stream; the first entry is 1, and 0 is "before the first".
using Seq = detail::Number<struct SeqTag>;
// A fencing generation of an agent.
using Generation = detail::Number<struct GenerationTag>;

}  // namespace reprise

template <typename Tag>
struct std::hash<reprise::detail::UuidId<Tag>> {
  std::size_t operator()(const reprise::detail::UuidId<Tag>& id) const noexcept {
    // The last eight bytes of a UUIDv7 are random: they are a hash already.
    std::size_t value = 0;
    for (std::size_t i = 8; i < 16; ++i) value = (value << 8) | id.bytes[i];
    return value;
  }
};
