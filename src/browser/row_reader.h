// Reads all rows of a prefix, decoded: for what there are few of in one session.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "rt/task.h"
#include "store/async.h"

namespace reprise::browser {

template <typename T>
rt::Task<Result<std::vector<T>>> read_rows(store::AsyncStore& store, std::string prefix,
                                           Result<T> (*decode)(std::string_view)) {
  std::vector<T> rows;
  std::string begin = prefix;
  for (bool has_more = true; has_more;) {
    REPRISE_CO_TRY(const auto page,
                   co_await store.scan({.begin = begin, .end = prefix_end(prefix)}));
    has_more = page.has_more;
    for (const auto& record : page.records) {
      begin = record.key + '\0';
      REPRISE_CO_TRY(T row, decode(record.value));
      rows.push_back(std::move(row));
    }
  }
  co_return rows;
}

}  // namespace reprise::browser
