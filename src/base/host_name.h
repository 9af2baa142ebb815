// Names of hosts: what one looks like, and which of them are this machine. Pure.
#pragma once

#include <string_view>

namespace reprise {

// "7", "0177" and "0x7f": what inet_aton, and with it getaddrinfo, takes for a part of an address.
// An empty text is one too.
bool is_number_label(std::string_view label);

// Labels of letters, digits, '-' and '_', with or without a final dot. A name whose last label is a
// number is none: it is an address in disguise, or will be taken for one; browsers refuse it too.
bool is_host_name(std::string_view host);

// RFC 6761, section 6.3: localhost, and everything below it, is this machine.
bool is_loopback_name(std::string_view host);

}  // namespace reprise
