// How a command ends: exit statuses, failures, and how they are told.
//
// A failure goes to standard error: as one line `code: detail` for people, as the problem document
// (RFC 9457) with --json. Standard output holds results only.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "base/error.h"
#include "wire/http.h"

namespace reprise::server::cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitNotFound = 3;
// Nothing failed, and not everything could be done.
inline constexpr int kExitIncomplete = 4;

struct Failure {
  int exit_status = kExitFailed;
  std::string line;     // code: detail; empty: nothing is said
  std::string problem;  // the same as a JSON document

  Failure() = default;
  // Our own: a connection that failed, a value that cannot be right.
  explicit Failure(const Error& error);
  // The server's: a response that is not a success.
  explicit Failure(const wire::Response& response);
  // The reader of standard output went away; there is nobody to tell.
  static Failure output_closed();
};

template <typename T = void>
using Outcome = std::expected<T, Failure>;

inline std::unexpected<Failure> failed(const Error& error) {
  return std::unexpected(Failure(error));
}
inline std::unexpected<Failure> failed(const wire::Response& response) {
  return std::unexpected(Failure(response));
}
std::unexpected<Failure> usage(std::string detail);

// Prints the failure and gives the exit status.
int report(const Failure& failure, bool is_json);
inline int exit_status(const Outcome<>& outcome, bool is_json) {
  return outcome ? kExitOk : report(outcome.error(), is_json);
}

// Writes to standard output and flushes; fails when nobody reads it any more.
Outcome<> print(std::string_view text);
// A line on standard error, for progress and hints.
void note(std::string_view text);

}  // namespace reprise::server::cli
