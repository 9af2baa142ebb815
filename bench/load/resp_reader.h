// Counts RESP2 replies as they arrive (the Redis protocol), without building them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace reprise::load {

// One command of RESP: an array of bulk strings.
void put_command(std::string& out, std::initializer_list<std::string_view> words);

class RespReader {
 public:
  // Consumes whole replies and parts of one; completed() counts the whole ones.
  void feed(std::string_view bytes);
  std::uint64_t completed() const { return completed_; }
  std::uint64_t errors() const { return errors_; }
  const std::string& first_error() const { return first_error_; }
  // The elements of all top-level arrays so far (entries, for XRANGE) and the last bulk string that
  // looks like an entry id (digits-digits).
  std::uint64_t elements() const { return elements_; }
  const std::string& last_entry_id() const { return last_entry_id_; }

 private:
  void take_line();
  void finish_value();

  std::string line_;
  std::string bulk_;
  std::int64_t skip_ = 0;  // bytes of a bulk string (and its CRLF) still to come
  bool keep_bulk_ = false;
  std::uint64_t open_[8] = {};  // values still missing per array level
  int depth_ = 0;
  std::uint64_t completed_ = 0;
  std::uint64_t elements_ = 0;
  std::uint64_t errors_ = 0;
  std::string first_error_;
  std::string last_entry_id_;
};

}  // namespace reprise::load
