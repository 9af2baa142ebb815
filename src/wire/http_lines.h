// Lines of an HTTP head, and what may stand in them (inside src/wire).
//
// llhttp 8.1 takes a lone CR for a line's end in places (CVE-2023-30589), spaces in field names and
// folded lines. Two programs that disagree where a line ends can be made to disagree where a
// request ends, so lines are cut and checked here, strictly, and llhttp sees only whole lines that
// passed.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace reprise::wire {

// Cuts bytes into lines that end with CRLF, whatever pieces they arrive in.
class LineReader {
 public:
  // Takes bytes off the front of `bytes`, up to the end of a line. True: `line` is the whole line
  // with its CRLF, valid until the next call. False: more bytes are needed; all were taken.
  // A bare LF or any control character but HTAB: kMalformedHttp.
  Result<bool> take(std::string_view& bytes, std::string_view& line);
  // Bytes of the present, unfinished line.
  std::size_t pending_bytes() const { return is_line_out_ ? 0 : pending_.size(); }
  // Forgets the present line, and the buffer if it has grown.
  void reset();

 private:
  std::string pending_;
  bool is_line_out_ = false;  // pending_ is what the caller was given
};

// Empties it and keeps its memory for the next message, unless it has grown beyond kKeptLineBytes.
void empty_buffer(std::string& text);

// How many bytes of `bytes` belong to the present line: up to and with the first LF, or all.
std::size_t line_piece(std::string_view bytes);

// RFC 9110 section 5.6.2: what names and methods are made of.
bool is_token(std::string_view text);
// "name: value" with a token for a name and the colon right behind it; a line that begins with
// white space (obsolete folding) is none.
Result<> check_field_line(std::string_view line);

bool equals_ignoring_case(std::string_view text, std::string_view lower);

}  // namespace reprise::wire
