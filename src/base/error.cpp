#include "base/error.h"

#include "base/assert.h"

namespace reprise {

const std::vector<ErrorRow>& error_rows() {
  static const std::vector<ErrorRow> rows = {
#define REPRISE_ERROR(name, status, code, title) ErrorRow{Code::name, status, code, title},
#include "base/errors.def"
#undef REPRISE_ERROR
  };
  return rows;
}

const ErrorRow& error_row(Code code) {
  const auto index = static_cast<std::size_t>(code);
  REPRISE_ASSERT(index < error_rows().size(), index);
  return error_rows()[index];
}

bool is_retryable(Code code) {
  // A read-only store stays so until an operator restarts the server, but the client's request is
  // fine: "retryable" tells that trying again later is right.
  const int status = error_row(code).http_status;
  if (code == Code::kSessionBusy) return true;  // until that input is over
  return status == 429 || status == 503 || status == 408;
}

std::unexpected<Error> invalid(std::string pointer, std::string detail) {
  Error error{Code::kInvalid, detail};
  error.fields.push_back(FieldError{std::move(pointer), std::move(detail)});
  return std::unexpected<Error>(std::move(error));
}

}  // namespace reprise
