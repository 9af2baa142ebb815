// Pools of browsers as the configuration names them:
//
//     --pool KEY=KIND[,browsers=N][,contexts=N][,path=FILE]
//
// KIND is headless-shell, chromium (all of the browser), or dedicated (one browser for each
// session, which ends with it). The pool `default` is there without being named.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace reprise::server {

enum class PoolKind : std::uint8_t { kHeadlessShell, kChromium, kDedicated };
std::string_view word(PoolKind kind);

struct PoolSetting {
  std::string key;
  PoolKind kind = PoolKind::kHeadlessShell;
  std::optional<std::uint32_t> browsers;
  std::optional<std::uint32_t> contexts;
  std::string path;  // empty: where the system has it
};

// Each text is one pool; one that went through a list that commas separate is put together again.
// kBadParameter, with what would be right.
Result<std::vector<PoolSetting>> parse_pool_settings(const std::vector<std::string>& texts);

}  // namespace reprise::server
