// Where what came of a replayed command differs from what came of the recorded one. Pure.
//
// Compared are: ok or the error's code, the page's address and title afterwards, the element that
// was acted on by its role and name, and what the page showed, as far as both were recorded. Of
// what a page shows, its roles and names are compared, and not its texts: those of a page with a
// clock on it are never the same.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/cli/recorded_command.h"

namespace reprise::server::cli {

// What a call of the tool gave.
struct ReplayedCommand {
  bool is_ok = false;
  std::string error_code = {};
  std::string error = {};
  std::string url = {};
  std::string title = {};
  std::string target = "{}";                 // JSON: the element, as the page script describes it
  std::optional<std::string> snapshot = {};  // none: the page was not captured
};

struct Difference {
  std::string kind;  // outcome, error, url, title, element, snapshot
  std::string recorded;
  std::string replayed;
  std::string words;  // for people
};

// `snapshot` is what the recorded page showed, if that was kept.
std::vector<Difference> differences(const RecordedCommand& recorded,
                                    const ReplayedCommand& replayed,
                                    const std::optional<std::string>& snapshot = std::nullopt);

// What a snapshot's lines say of roles and names, in their order: `button "Save"`.
std::vector<std::string> roles_and_names(std::string_view snapshot);

}  // namespace reprise::server::cli
