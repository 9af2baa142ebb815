// Cookies as the DevTools protocol writes them (Network.Cookie, Network.CookieParam), and as we do.
#pragma once

#include <string>
#include <vector>

#include "browser/storage_state.h"
#include "wire/json.h"

namespace reprise::browser::chromium {

std::vector<Cookie> read_cookies(wire::JsonValue list);
// A list of Network.CookieParam.
std::string cookie_params(const std::vector<Cookie>& cookies);

}  // namespace reprise::browser::chromium
