// What `reprise doctor` found: checks, each ok, a warning or an error, with what to do about it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace reprise::server::cli {

class Diagnosis {
 public:
  void ok(std::string check, std::string found);
  void warning(std::string check, std::string found, std::string advice);
  void error(std::string check, std::string found, std::string advice);
  bool has_errors() const;

  // One line per check, the advice below it.
  std::string to_text() const;
  // {"ok":false,"checks":[{"check":"lock","status":"ok","found":"…","advice":"…"}]}
  std::string to_json() const;

 private:
  enum class Grade : std::uint8_t { kOk, kWarning, kError };
  struct Finding {
    Grade grade;
    std::string check;
    std::string found;
    std::string advice;
  };
  static std::string_view word(Grade grade);
  std::vector<Finding> findings_;
};

}  // namespace reprise::server::cli
