// Finding a member name that an object holds twice (inside src/wire).
//
// Up to eight names are compared with each other; more go through an open-addressing hash table.
// Names chosen to collide cannot make it slow: after a long probe the names are sorted instead, so
// the worst case is n log n and the table needs no secret seed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/json_index.h"

namespace reprise::wire {

class DuplicateNames {
 public:
  // The token of a name that repeats an earlier one of the object at `object`.
  std::optional<std::uint32_t> find(std::string_view text, const std::vector<JsonToken>& tokens,
                                    std::uint32_t object);

 private:
  struct Name {
    std::string_view text;
    std::uint32_t token;
  };
  void collect(std::string_view text, const std::vector<JsonToken>& tokens, std::uint32_t object);
  std::optional<std::uint32_t> find_by_hash();
  std::optional<std::uint32_t> find_by_sorting();

  std::vector<Name> names_;
  std::vector<std::uint64_t> slots_;  // high half: the hash's; low half: index in names_ plus one
  std::string unescaped_;             // the names that held escapes; names_ points into it
};

}  // namespace reprise::wire
