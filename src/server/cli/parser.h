// What a command line may say, described without CLI11: that header takes seconds to compile, so
// only parser.cpp sees it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace reprise::server::cli {

// An option with a value: how it is written and how --help shows it.
struct OptionText {
  std::string name;         // "--limit", or "-o,--output"
  std::string placeholder;  // what stands for the value
  std::string help;
  std::string group = {};  // its heading; empty: the command's own
  bool is_required = false;
};

struct NumberRange {
  std::uint64_t least = 0;
  std::uint64_t most = UINT64_MAX;
};

// One command. What it is given to fill must outlive the parser.
class Command {
 public:
  explicit Command(CLI::App& app) : app_(&app) {}

  Command add(const std::string& name, const std::string& description,
              const std::string& footer = "");
  // It does nothing itself: one of those added to it must be named.
  void require_one();

  void option(const OptionText& text, std::string& value);
  void option(const OptionText& text, std::optional<std::string>& value);
  void option(const OptionText& text, std::uint64_t& value, NumberRange range = {});
  void option(const OptionText& text, std::optional<std::uint64_t>& value);
  // May be given more than once; each time one value.
  void repeated(const OptionText& text, std::vector<std::string>& values);
  // The same, and a value may hold several with commas between them.
  void list(const OptionText& text, std::vector<std::string>& values);

  void flag(const std::string& name, bool& value, const std::string& help);
  void flag(const std::string& name, std::function<void()> given, const std::string& help,
            const std::string& group = "");
  // By its place, not by its name.
  void operand(const std::string& name, std::string& value, const std::string& help,
               bool is_required = true);

  // Called when this is the command that was named, once everything it was given is filled in.
  void chosen(std::function<void()> action);

 private:
  CLI::Option* add_value(const OptionText& text, std::function<bool(const std::string&)> take);
  CLI::App* app_;
};

class Parser {
 public:
  struct Text {
    std::string name;
    std::string description;
    std::string version;
    std::string footer;
  };
  explicit Parser(const Text& text);
  ~Parser();
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  Command root();

  struct Outcome {
    std::optional<int> exit_status;  // set: all is done, --help or --version was asked for
    std::string problem;             // empty: a command was chosen
  };
  Outcome parse(int count, char** arguments);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace reprise::server::cli
