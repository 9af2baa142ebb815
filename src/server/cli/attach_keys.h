// Keys, from the bytes a terminal sends. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::server::cli {

struct Key {
  enum class Kind : std::uint8_t {
    kText,  // one character, also a space
    kEnter,
    kUp,
    kDown,
    kBackspace,
    kClearLine,   // Ctrl-U
    kEndOfInput,  // Ctrl-D
  };
  Kind kind = Kind::kText;
  std::string text = {};
  friend bool operator==(const Key&, const Key&) = default;
};

// Incremental: a character or a sequence may come in pieces. Sequences of keys that mean nothing
// here, other control characters and bytes that are not UTF-8 are left out.
class KeyDecoder {
 public:
  std::vector<Key> feed(std::string_view bytes);

 private:
  void take(char byte, std::vector<Key>& keys);
  void take_in_sequence(char byte, std::vector<Key>& keys);
  std::string sequence_;   // from ESC on
  std::string character_;  // the beginning of one
  std::size_t character_bytes_ = 0;
};

}  // namespace reprise::server::cli
