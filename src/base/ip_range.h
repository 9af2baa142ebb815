// IP addresses, ranges of them, and which of them belong to the public internet. Pure.
//
//     const auto range = parse_ip_range("10.0.0.0/8");
//     range->contains(*IpAddress::parse("::ffff:10.1.2.3"));   // true: that is 10.1.2.3
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace reprise {

class IpAddress {
 public:
  // Four decimal numbers, or IPv6 as of RFC 4291; nothing else is one: no octal, hexadecimal or
  // shortened IPv4, no zone, no brackets. IPv4 mapped into IPv6 is that IPv4 address.
  static std::optional<IpAddress> parse(std::string_view text);
  std::string to_string() const;

  // 127.0.0.0/8 and ::1.
  bool is_loopback() const;
  // 0.0.0.0/8 and ::, by which Linux connects to this machine.
  bool is_unspecified() const;
  // 169.254.0.0/16 and fe80::/10.
  bool is_link_local() const;
  // Where packets to it end up: the IPv4 address of one that NAT64 or 6to4 translates, else itself.
  IpAddress destination() const;
  // Whether anybody on the internet could be meant: not private, link-local, loopback, multicast,
  // unspecified, documentation or otherwise special. NAT64 and 6to4 are judged by the IPv4 address
  // they lead to.
  bool is_public() const;
  bool is_v4() const { return is_v4_; }
  int bits() const { return is_v4_ ? 32 : 128; }
  // The first `count` bits are the other's too.
  bool has_prefix(const IpAddress& other, int count) const;
  // The bits behind the first `count` are 0.
  bool ends_after(int count) const;

  friend bool operator==(const IpAddress&, const IpAddress&) = default;

 private:
  std::uint32_t v4_at(std::size_t at) const;
  IpAddress embedded_v4(std::size_t at) const;

  bool is_v4_ = false;
  std::array<std::uint8_t, 16> bytes_{};  // IPv4 in the first four
};

struct IpRange {
  IpAddress first;
  int prefix_bits = 0;
  bool contains(const IpAddress& address) const;
};

// "10.0.0.0/8", "fd00::/8", or a single address. kBadParameter says what would be right.
Result<IpRange> parse_ip_range(std::string_view text);

}  // namespace reprise
