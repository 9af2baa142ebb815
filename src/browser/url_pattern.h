// UrlPattern: one line of an app's list of places its browsers may, or may not, go to. Pure.
//
//     example.com              the host, any port
//     *.example.com            every host below it, and not the host itself
//     *:8080                   any host
//     https://example.com      that scheme, at its own port unless one is given
//     localhost:3000  [::1]:3000  10.0.0.0/8  fd00::/8
//
// Names are compared in lower case and as they go over the wire: one beyond ASCII is written as
// xn--… Ranges are compared with the address that is connected to, whatever its name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/ip_range.h"

namespace reprise::browser {

// What is compared with patterns.
struct UrlPlace {
  std::string scheme;  // empty for a tunnel, in which any may be spoken
  std::string host;    // as wire::Authority spells it
  std::uint16_t port = 0;
  std::optional<IpAddress> address;  // unless it is not known yet
};

class UrlPattern {
 public:
  // kInvalid, with what would be right.
  static Result<UrlPattern> parse(std::string_view text);

  // As a line of a deny list: a tunnel is taken for whatever the pattern names.
  bool denies(const UrlPlace& place) const;
  // A range that may yet turn out to deny a name whose address is not known.
  bool may_deny(const UrlPlace& place) const;
  // As a line of an allow list: one for http names no tunnel, in which that is not spoken.
  bool allows(const UrlPlace& place) const;
  bool is_range() const { return range_.has_value(); }
  const std::string& text() const { return text_; }

 private:
  Result<> read_host(std::string_view host);
  bool names(const UrlPlace& place) const;
  bool is_denied_scheme(const UrlPlace& place) const;

  std::string text_;    // as given
  std::string scheme_;  // empty: any
  std::string host_;    // empty: any; not of a range
  bool is_below_ = false;
  std::optional<IpRange> range_;
  std::optional<std::uint16_t> port_;
};

}  // namespace reprise::browser
