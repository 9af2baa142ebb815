// How browsers are, told at one moment: for operators, lists and the graph.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "browser/pool.h"

namespace reprise::browser {

struct PoolReport {
  std::string key;
  std::string kind;  // headless-shell, chromium, dedicated, external
  bool is_stale = false;
  std::optional<TimePoint> heartbeat_at;
  std::uint64_t contexts = 0;
  std::uint64_t max_contexts = 0;
  std::uint64_t waiting = 0;
  std::string last_error;  // empty: none
  // Of our own.
  std::vector<Pool::BrowserView> browsers = {};
  PoolProbe probe = {};
  // Of another process.
  bool is_external = false;
  std::string location = {};
  std::uint64_t heartbeat_seconds = 0;
  std::optional<TimePoint> registered_at = {};
  std::optional<TimePoint> stale_since = {};

  bool is_alive() const { return !is_stale; }
};

struct BrowserReport {
  std::vector<PoolReport> pools;  // in the order of their keys
  std::uint64_t tabs = 0;         // open ones, of contexts that are open
  bool is_sandboxed = true;
};

}  // namespace reprise::browser
