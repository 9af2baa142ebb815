// The longer texts of --help.
#pragma once

#include <string>
#include <string_view>

#include "server/config.h"

namespace reprise::server::cli {

// Broken into lines that fit beside the names of options on a terminal of 100 columns.
std::string wrapped(std::string_view text);

// A setting's help with its default and its variable.
std::string setting_help(const Setting& setting);

std::string main_footer();
std::string serve_footer();
std::string append_footer();
std::string tail_footer();
std::string attach_footer();
std::string audit_footer();
std::string artifacts_footer();
std::string token_footer();

}  // namespace reprise::server::cli
