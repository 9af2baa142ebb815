// Credentials of a user and a password in one word. Private to src/model.
//
//     is_user_and_password("admin:hunter2", false);     // of -u and --user
//     is_basic_credentials("dXNlcjpwYXNz");             // of Basic: base64 of user:pass
//
// Pure; any thread.
#pragma once

#include <string_view>

namespace reprise::model {

// Whether an option takes a user: -u, -U, --user, --proxy-user.
bool is_user_option(std::string_view option);

// Whether what an option for a user was given holds a password. Other tools than curl give `-u` a
// user and a group (1000:1000, node:node) or an address (10.0.0.1:53).
bool is_user_and_password(std::string_view value, bool is_of_curl);

// Whether the text is base64 of printable text with a colon.
bool is_basic_credentials(std::string_view text);

// A version, such as ^4.24.5, says nothing: {"next-auth": "^4.24.5"}.
bool is_version(std::string_view value);

}  // namespace reprise::model
