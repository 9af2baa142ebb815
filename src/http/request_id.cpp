#include "http/request_id.h"

#include <algorithm>
#include <atomic>

#include "base/ids.h"
#include "http/limits.h"

namespace reprise::http {

std::string request_id(std::optional<std::string_view> from_client) {
  const auto is_sound = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  if (from_client && !from_client->empty() && from_client->size() <= kMaxRequestIdBytes &&
      std::all_of(from_client->begin(), from_client->end(), is_sound))
    return std::string(*from_client);
  static const std::uint64_t process = SystemRandom{}.next_u64() & 0xffffffff;
  static std::atomic<std::uint64_t> counter{0};
  static constexpr char kDigits[] = "0123456789abcdef";
  const std::uint64_t value =
      process << 32 | (counter.fetch_add(1, std::memory_order_relaxed) & 0xffffffff);
  std::string id(17, '-');
  for (std::size_t i = 0; i < 16; ++i) id[i + (i >= 8)] = kDigits[value >> (60 - 4 * i) & 15];
  return id;
}

}  // namespace reprise::http
