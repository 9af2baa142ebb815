#include "server/cli/attach_keys.h"

#include "wire/json.h"

namespace reprise::server::cli {
namespace {

// Longer than any key's; what goes on after it is text again.
constexpr std::size_t kMaxSequenceBytes = 16;

std::size_t bytes_of_character(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  if (byte >= 0xf0 && byte <= 0xf4) return 4;
  if (byte >= 0xe0 && byte < 0xf0) return 3;
  if (byte >= 0xc2 && byte < 0xe0) return 2;
  return 0;
}

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

}  // namespace

std::vector<Key> KeyDecoder::feed(std::string_view bytes) {
  std::vector<Key> keys;
  for (const char byte : bytes) {
    if (!sequence_.empty())
      take_in_sequence(byte, keys);
    else
      take(byte, keys);
  }
  return keys;
}

// ESC [ parameters final, or ESC O final (ECMA-48; terminals send the latter in application mode).
void KeyDecoder::take_in_sequence(char byte, std::vector<Key>& keys) {
  sequence_ += byte;
  if (sequence_.size() == 2) {
    if (byte == '[' || byte == 'O') return;
    // A lone Escape: the byte after it is a key of its own.
    sequence_.clear();
    return take(byte, keys);
  }
  const bool is_final = byte >= 0x40 && byte <= 0x7e;
  if (!is_final && sequence_.size() < kMaxSequenceBytes) return;
  if (byte == 'A') keys.push_back({Key::Kind::kUp});
  if (byte == 'B') keys.push_back({Key::Kind::kDown});
  sequence_.clear();
}

void KeyDecoder::take(char byte, std::vector<Key>& keys) {
  if (!character_.empty()) {
    if (is_continuation(byte)) {
      character_ += byte;
      if (character_.size() < character_bytes_) return;
      if (wire::is_utf8(character_)) keys.push_back({Key::Kind::kText, character_});
      character_.clear();
      return;
    }
    character_.clear();
  }
  switch (byte) {
    case '\r':
    case '\n': keys.push_back({Key::Kind::kEnter}); return;
    case '\x1b': sequence_ = byte; return;
    case '\x7f':
    case '\b': keys.push_back({Key::Kind::kBackspace}); return;
    case '\x15': keys.push_back({Key::Kind::kClearLine}); return;
    case '\x04': keys.push_back({Key::Kind::kEndOfInput}); return;
    default: break;
  }
  if (byte >= 0x20 && byte < 0x7f) {
    keys.push_back({Key::Kind::kText, std::string(1, byte)});
    return;
  }
  character_bytes_ = bytes_of_character(byte);
  if (character_bytes_ > 0) character_ = byte;
}

}  // namespace reprise::server::cli
