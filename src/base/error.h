// Errors are values: what a client, a peer, a disk or a network can cause is a Result, never an
// exception.
//
//     Result<Seq> parse_seq(std::string_view text);
//     REPRISE_TRY(Seq seq, parse_seq(text));            // returns the error from a plain function
//     REPRISE_CO_TRY(Seq seq, co_await read_seq());     // the same in a coroutine
//
// What only our own bug can cause is REPRISE_ASSERT (base/assert.h).
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace reprise {

enum class Code : std::uint8_t {
#define REPRISE_ERROR(name, status, code, title) name,
#include "base/errors.def"
#undef REPRISE_ERROR
};

// One row of base/errors.def.
struct ErrorRow {
  Code code;
  int http_status;
  std::string_view name;   // the stable code clients match on
  std::string_view title;  // one sentence for people
};

const ErrorRow& error_row(Code code);
// All rows, in the order of the table.
const std::vector<ErrorRow>& error_rows();

// What is wrong at one place of a request; `pointer` is a JSON pointer (RFC 6901) into the body.
struct FieldError {
  std::string pointer;
  std::string detail;
};

struct Error {
  Code code = Code::kInternal;
  std::string detail;              // what was wrong, with what value, and what would be right
  std::vector<FieldError> fields;  // 422: each field that is wrong
  std::string members;             // further problem members as JSON text: `"head":9,"expected":7`
  int retry_after_seconds = 0;     // 429 and 503: when to come back; 0 leaves it to the table

  Error() = default;
  Error(Code error_code, std::string error_detail = {})
      : code(error_code), detail(std::move(error_detail)) {}
};

// Whether the same request may succeed later without the client changing it.
bool is_retryable(Code code);

template <typename T = void>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(Code code, std::string detail = {}) {
  return std::unexpected<Error>(Error{code, std::move(detail)});
}
inline std::unexpected<Error> fail(Error error) { return std::unexpected<Error>(std::move(error)); }

// A 422 that names one field.
std::unexpected<Error> invalid(std::string pointer, std::string detail);

}  // namespace reprise

#define REPRISE_CONCAT_INNER(a, b) a##b
#define REPRISE_CONCAT(a, b) REPRISE_CONCAT_INNER(a, b)
#define REPRISE_TRY_IMPL(declaration, expression, name, return_keyword) \
  auto name = (expression);                                             \
  if (!name) return_keyword std::unexpected(std::move(name).error());   \
  declaration = std::move(*name)
#define REPRISE_CHECK_IMPL(expression, return_keyword) \
  if (auto checked_ = (expression); !checked_)         \
  return_keyword std::unexpected(std::move(checked_).error())

#define REPRISE_TRY(declaration, expression) \
  REPRISE_TRY_IMPL(declaration, expression, REPRISE_CONCAT(result_, __LINE__), return)
#define REPRISE_CO_TRY(declaration, expression) \
  REPRISE_TRY_IMPL(declaration, expression, REPRISE_CONCAT(result_, __LINE__), co_return)
#define REPRISE_CHECK(expression) REPRISE_CHECK_IMPL(expression, return)
#define REPRISE_CO_CHECK(expression) REPRISE_CHECK_IMPL(expression, co_return)
