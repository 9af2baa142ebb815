// What /metrics tells of browsers, their pools and their proxies.
#pragma once

#include <string>

#include "browser/proxy/proxy_probe.h"
#include "browser/service.h"

namespace reprise::api {

// Without what the pools say where their loop has too much to do.
rt::Task<std::string> browser_metrics(browser::BrowserService& browsers,
                                      const browser::ProxyProbe* proxies);

}  // namespace reprise::api
