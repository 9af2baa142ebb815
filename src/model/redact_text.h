// Secrets in plain text, found by one pass from left to right. Private to src/model.
//
//     std::string shown = TextRedaction(redactor, text).run();
//
// Each rule looks at the present position and either takes a secret, writing the mark in its place,
// or takes nothing. Every byte is looked at a bounded number of times: what a rule reads beyond a
// word it takes, or it stops within a limit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/redact.h"

namespace reprise::model {

class TextRedaction {
 public:
  enum class Rules : std::uint8_t { kAll, kLooks };  // kLooks: names do not count
  TextRedaction(const Redactor& redactor, std::string_view text, Rules rules = Rules::kAll)
      : redactor_(redactor), text_(text), rules_(rules) {}
  std::string run();

 private:
  void take_word();
  bool take_private_key();
  bool take_url_password();
  std::size_t skip_host_literal(std::size_t at) const;
  bool take_user_option(std::string_view word);
  bool take_authorization_scheme(std::string_view word);
  bool take_assignment(std::string_view word);
  bool take_patterns(std::string_view word);

  // What a value is when its name is a secret's.
  struct Assigned {
    bool is_header = false;  // it goes to the end of the line,
    bool is_line = false;    // also if the name begins its line: `Passphrase: three words`
    std::optional<std::size_t> column;  // of such a name
    char quote = '\0';                  // that was opened before the name
  };
  void take_value(std::size_t value, const Assigned& assigned);

  // redact_lines.cpp
  // The column of the name that begins here, if nothing but marks of lists, comments and
  // quotes is before it on its line.
  std::optional<std::size_t> column_at_line_start(std::size_t name_begin) const;
  bool take_line(std::size_t value, const Assigned& assigned);
  struct Span {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  // The lines below that are indented deeper than the name; as `password: |` opens it (kScalar), or
  // a value that only stands on the next line.
  enum class Block : std::uint8_t { kScalar, kPlain };
  std::optional<Span> block_below(std::size_t line_end, std::size_t name_column, Block kind) const;

  // redact_markup.cpp
  void look_at_tag();
  std::size_t look_at_attribute(std::size_t begin, bool& names_secret) const;
  bool take_content();
  // Where the pattern that begins at `at` ends; nullopt if none begins there.
  std::optional<std::size_t> pattern_end(std::size_t at, std::size_t word_end) const;
  std::optional<std::size_t> card_end(std::size_t at) const;
  std::size_t end_of_quoted(std::size_t open, std::size_t backslashes) const;
  std::size_t end_of_brackets(std::size_t open) const;
  std::size_t end_of_line(std::size_t at, char quote) const;
  std::size_t end_of_bare(std::size_t at) const;
  std::size_t skip_blanks(std::size_t at) const;
  char at(std::size_t position) const { return position < text_.size() ? text_[position] : '\0'; }

  // Copies up to `begin`, writes the mark and goes on at `end`.
  void replace(std::size_t begin, std::size_t end);
  void copy_to(std::size_t end);

  const Redactor& redactor_;
  std::string_view text_;
  Rules rules_;
  std::size_t position_ = 0;
  // The tag before this position names a secret: <add key="ApiKey" value="…"/>.
  std::size_t secret_tag_end_ = 0;
  // Where the content of a secret's element begins.
  std::size_t secret_content_ = std::string_view::npos;
  std::string_view secret_element_;
  bool is_curl_ = false;            // the line has called curl
  std::string_view previous_word_;  // if only one space is between it and the present one
  std::string out_;
};

// Values that say nothing: null, true, a type, a version.
bool is_literal(std::string_view value);

// Whether these digits are a card's number: an issuer's beginning, its length, the check digit.
bool is_card_number(std::string_view digits);

}  // namespace reprise::model
