#include "base/ip_range.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace reprise {
namespace {

struct V4Range {
  std::uint32_t start;
  int bits;
};

// The IANA registry of special-purpose IPv4 addresses, then multicast and what is reserved.
constexpr std::array kSpecialV4 = std::to_array<V4Range>({{0x00000000, 8},    // this network
                                                          {0x0a000000, 8},    // private
                                                          {0x64400000, 10},   // carriers' own
                                                          {0x7f000000, 8},    // loopback
                                                          {0xa9fe0000, 16},   // link-local
                                                          {0xac100000, 12},   // private
                                                          {0xc0000000, 24},   // protocols
                                                          {0xc0000200, 24},   // documentation
                                                          {0xc0586300, 24},   // 6to4 relays
                                                          {0xc0a80000, 16},   // private
                                                          {0xc6120000, 15},   // benchmarks
                                                          {0xc6336400, 24},   // documentation
                                                          {0xcb007100, 24},   // documentation
                                                          {0xe0000000, 4},    // multicast
                                                          {0xf0000000, 4}});  // reserved

bool is_public_v4(std::uint32_t ip) {
  return std::ranges::none_of(kSpecialV4, [ip](const V4Range& range) {
    return (ip >> (32 - range.bits)) == (range.start >> (32 - range.bits));
  });
}

IpRange known(std::string_view text) { return *parse_ip_range(text); }

std::unexpected<Error> not_a_range(std::string_view text, std::string_view why) {
  return fail(Code::kBadParameter,
              fmt::format("'{}' {}; write an IP address or a range such as 10.0.0.0/8 or fd00::/8",
                          text, why));
}

}  // namespace

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  const std::string terminated(text);
  // What inet_pton would not see is not part of an address either.
  if (terminated.find('\0') != std::string::npos) return std::nullopt;
  IpAddress address;
  if (inet_pton(AF_INET, terminated.c_str(), address.bytes_.data()) == 1) {
    address.is_v4_ = true;
    return address;
  }
  if (inet_pton(AF_INET6, terminated.c_str(), address.bytes_.data()) != 1) return std::nullopt;
  constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (std::equal(kMapped.begin(), kMapped.end(), address.bytes_.begin())) {
    std::copy_n(address.bytes_.begin() + 12, 4, address.bytes_.begin());
    std::fill(address.bytes_.begin() + 4, address.bytes_.end(), std::uint8_t{0});
    address.is_v4_ = true;
  }
  return address;
}

std::string IpAddress::to_string() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(is_v4_ ? AF_INET : AF_INET6, bytes_.data(), text.data(), text.size());
  return text.data();
}

std::uint32_t IpAddress::v4_at(std::size_t at) const {
  return (std::uint32_t{bytes_[at]} << 24) | (std::uint32_t{bytes_[at + 1]} << 16) |
         (std::uint32_t{bytes_[at + 2]} << 8) | bytes_[at + 3];
}

bool IpAddress::ends_after(int count) const {
  for (int bit = count; bit < bits(); ++bit)
    if ((bytes_[static_cast<std::size_t>(bit / 8)] >> (7 - bit % 8) & 1) != 0) return false;
  return true;
}

bool IpAddress::has_prefix(const IpAddress& other, int count) const {
  if (is_v4_ != other.is_v4_) return false;
  for (int bit = 0; bit < count; ++bit) {
    const auto at = static_cast<std::size_t>(bit / 8);
    if (((bytes_[at] ^ other.bytes_[at]) >> (7 - bit % 8) & 1) != 0) return false;
  }
  return true;
}

bool IpAddress::is_loopback() const {
  static const IpAddress one = *parse("::1");
  return is_v4_ ? bytes_[0] == 127 : *this == one;
}

bool IpAddress::is_unspecified() const { return is_v4_ ? bytes_[0] == 0 : ends_after(0); }

bool IpAddress::is_link_local() const {
  static const IpRange v4 = known("169.254.0.0/16");
  static const IpRange v6 = known("fe80::/10");
  return v4.contains(*this) || v6.contains(*this);
}

IpAddress IpAddress::embedded_v4(std::size_t at) const {
  IpAddress inner;
  inner.is_v4_ = true;
  std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at), 4, inner.bytes_.begin());
  return inner;
}

IpAddress IpAddress::destination() const {
  static const IpRange nat64 = known("64:ff9b::/96");
  static const IpRange six_to_four = known("2002::/16");
  if (nat64.contains(*this)) return embedded_v4(12);
  if (six_to_four.contains(*this)) return embedded_v4(2);
  return *this;
}

bool IpAddress::is_public() const {
  const IpAddress end = destination();
  if (end.is_v4_) return is_public_v4(end.v4_at(0));
  static const IpRange global = known("2000::/3");
  // Carved out of global unicast: protocols (Teredo among them) and documentation.
  static const std::array carved_out = {known("2001::/23"), known("2001:db8::/32"),
                                        known("3fff::/20")};
  return global.contains(*this) && std::ranges::none_of(carved_out, [this](const IpRange& range) {
           return range.contains(*this);
         });
}

bool IpRange::contains(const IpAddress& address) const {
  return address.has_prefix(first, prefix_bits);
}

Result<IpRange> parse_ip_range(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto first = IpAddress::parse(text.substr(0, slash));
  if (!first) return not_a_range(text, "is not an IP address");
  IpRange range{.first = *first, .prefix_bits = first->bits()};
  if (slash == std::string_view::npos) return range;
  // A range of mapped addresses would be counted in other bits than it is written in.
  if (first->is_v4() && text.find(':') != std::string_view::npos)
    return not_a_range(text, "is IPv4 written as IPv6");
  const std::string_view digits = text.substr(slash + 1);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), range.prefix_bits);
  if (error != std::errc() || end != digits.data() + digits.size() || range.prefix_bits < 0 ||
      range.prefix_bits > first->bits())
    return not_a_range(text, "has a bad length behind the slash");
  if (!first->ends_after(range.prefix_bits)) return not_a_range(text, "has bits beyond its length");
  return range;
}

}  // namespace reprise
