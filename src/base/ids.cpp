#include "base/ids.h"

#include <sys/random.h>

#include <cerrno>

#include "base/assert.h"

namespace reprise {

std::uint64_t Random::next_u64() {
  unsigned char bytes[8];
  fill(bytes, sizeof bytes);
  std::uint64_t value = 0;
  for (const unsigned char byte : bytes) value = (value << 8) | byte;
  return value;
}

void SystemRandom::fill(unsigned char* bytes, std::size_t count) {
  // One system call serves some thirty ids. The block is per thread, so no lock is needed.
  thread_local std::array<unsigned char, 512> block;
  thread_local std::size_t used = block.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (used == block.size()) {
      std::size_t filled = 0;
      while (filled < block.size()) {
        const ssize_t got = getrandom(block.data() + filled, block.size() - filled, 0);
        REPRISE_ASSERT(got > 0 || errno == EINTR, errno);
        if (got > 0) filled += static_cast<std::size_t>(got);
      }
      used = 0;
    }
    bytes[i] = block[used];
    block[used++] = 0;  // what was handed out is not kept
  }
}

void SeededRandom::fill(unsigned char* bytes, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    // splitmix64, one byte a step.
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    bytes[i] = static_cast<unsigned char>((z ^ (z >> 31)) >> 32);
  }
}

Uuid make_uuid_v7(TimePoint at, Random& random) {
  // rand_a (12 bits) counts ids within a millisecond on this thread (RFC 9562 section 6.2, method
  // 1). The counter starts anew each millisecond from random low bits with its top bit clear, which
  // leaves room for at least 2,048 more; past that the next millisecond is borrowed.
  thread_local std::int64_t last_ms = -1;
  thread_local std::uint32_t counter = 0;
  Uuid uuid;
  random.fill(uuid.data() + 6, 10);
  if (at.ms > last_ms) {
    last_ms = at.ms;
    counter = ((static_cast<std::uint32_t>(uuid[6]) << 8) | uuid[7]) & 0x7ff;
  } else if (last_ms - at.ms > 1000) {
    // The clock was set back, or another clock is in use: follow it.
    last_ms = at.ms;
    counter = ((static_cast<std::uint32_t>(uuid[6]) << 8) | uuid[7]) & 0x7ff;
  } else if (++counter > 0xfff) {
    ++last_ms;
    counter = 0;
  }
  const auto ms = static_cast<std::uint64_t>(last_ms);
  for (std::size_t i = 0; i < 6; ++i) uuid[i] = static_cast<unsigned char>(ms >> (40 - 8 * i));
  uuid[6] = static_cast<unsigned char>(0x70 | (counter >> 8));
  uuid[7] = static_cast<unsigned char>(counter);
  uuid[8] = static_cast<unsigned char>(0x80 | (uuid[8] & 0x3f));
  return uuid;
}

std::string format_uuid(const Uuid& uuid) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(36);
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text.push_back('-');
    text.push_back(kDigits[uuid[i] >> 4]);
    text.push_back(kDigits[uuid[i] & 15]);
  }
  return text;
}

std::optional<Uuid> parse_uuid(std::string_view text) {
  if (text.size() != 36) return std::nullopt;
  Uuid uuid{};
  std::size_t digit = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (i == 8 || i == 13 || i == 18 || i == 23) {
      if (c != '-') return std::nullopt;
      continue;
    }
    int value = 0;
    if (c >= '0' && c <= '9')
      value = c - '0';
    else if (c >= 'a' && c <= 'f')
      value = c - 'a' + 10;
    else if (c >= 'A' && c <= 'F')
      value = c - 'A' + 10;
    else
      return std::nullopt;
    uuid[digit / 2] = static_cast<unsigned char>((uuid[digit / 2] << 4) | value);
    ++digit;
  }
  return uuid;
}

}  // namespace reprise
