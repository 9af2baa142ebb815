#include "server/cli/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <limits>
#include <locale>
#include <numeric>
#include <set>
#include <sstream>
#include <tuple>

// Optimising CLI11 takes longer than all else in this file, and a command line has time. What is
// included above stays optimised: the linker may choose this file's copies of std::string's members
// for the whole program (compiled with -O0 they cost a tenth of the append rate).
#pragma clang optimize off
#include <CLI/CLI.hpp>

namespace reprise::server::cli {
namespace {

constexpr std::size_t kNameColumns = 30;
constexpr int kAnyNumber = 1 << 29;  // of values; CLI11's own word for it

std::optional<std::uint64_t> parse_number(const std::string& text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

// CLI11 repeats unknown arguments with their values; after a misspelt --token that is the token.
std::string without_values(const CLI::App& app, const CLI::ParseError& error) {
  const bool is_about_extras = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  const bool is_about_missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  const auto extras = app.remaining(true);
  if (extras.empty() || (!is_about_extras && !is_about_missing)) return error.what();
  const auto is_flag = [](const std::string& text) { return text.starts_with('-'); };
  if (const auto flag = std::ranges::find_if(extras, is_flag); flag != extras.end())
    return fmt::format("unknown option {}", flag->substr(0, flag->find('=')));
  return fmt::format("{} '{}'", is_about_extras ? "unexpected argument" : "unknown command",
                     extras.front());
}

}  // namespace

Command Command::add(const std::string& name, const std::string& description,
                     const std::string& footer) {
  CLI::App* command = app_->add_subcommand(name, description);
  command->get_formatter()->column_width(kNameColumns);
  if (!footer.empty()) command->footer(footer);
  return Command(*command);
}

void Command::require_one() { app_->require_subcommand(1); }

// Not CLI11's templates for each type of value: they are what is slow to compile.
CLI::Option* Command::add_value(const OptionText& text,
                                std::function<bool(const std::string&)> take) {
  CLI::Option* option = app_->add_option(
      text.name,
      [take = std::move(take)](const std::vector<std::string>& values) {
        return std::all_of(values.begin(), values.end(), take);
      },
      text.help);
  option->option_text(text.placeholder)->required(text.is_required);
  if (!text.group.empty()) option->group(text.group);
  return option;
}

void Command::option(const OptionText& text, std::string& value) {
  add_value(text, [&value](const std::string& given) {
    value = given;
    return true;
  });
}

void Command::option(const OptionText& text, std::optional<std::string>& value) {
  add_value(text, [&value](const std::string& given) {
    value = given;
    return true;
  });
}

void Command::option(const OptionText& text, std::uint64_t& value, NumberRange range) {
  add_value(text, [&value, range, name = text.name](const std::string& given) {
    const auto number = parse_number(given);
    if (!number) return false;
    if (*number < range.least || *number > range.most)
      throw CLI::ValidationError(
          name, fmt::format("{} is not in range {} to {}", given, range.least, range.most));
    value = *number;
    return true;
  });
}

void Command::option(const OptionText& text, std::optional<std::uint64_t>& value) {
  add_value(text, [&value](const std::string& given) {
    value = parse_number(given);
    return value.has_value();
  });
}

void Command::repeated(const OptionText& text, std::vector<std::string>& values) {
  CLI::Option* option = app_->add_option(
      text.name,
      [&values](const std::vector<std::string>& given) {
        values = given;
        return true;
      },
      text.help);
  option->option_text(text.placeholder)->expected(1, kAnyNumber)->allow_extra_args(false);
  if (!text.group.empty()) option->group(text.group);
}

void Command::list(const OptionText& text, std::vector<std::string>& values) {
  repeated(text, values);
  app_->get_option(text.name)->delimiter(',');
}

void Command::flag(const std::string& name, bool& value, const std::string& help) {
  app_->add_flag_callback(name, [&value] { value = true; }, help);
}

void Command::flag(const std::string& name, std::function<void()> given, const std::string& help,
                   const std::string& group) {
  CLI::Option* option = app_->add_flag_callback(name, std::move(given), help);
  if (!group.empty()) option->group(group);
}

void Command::operand(const std::string& name, std::string& value, const std::string& help,
                      bool is_required) {
  add_value({.name = name, .placeholder = " ", .help = help, .is_required = is_required},
            [&value](const std::string& given) {
              value = given;
              return true;
            });
}

void Command::chosen(std::function<void()> action) { app_->callback(std::move(action)); }

Parser::Parser(const Text& text) : app_(std::make_unique<CLI::App>(text.description, text.name)) {
  app_->require_subcommand(1);
  app_->get_formatter()->column_width(kNameColumns);
  app_->footer(text.footer);
  app_->set_version_flag("--version", text.version);
}

Parser::~Parser() = default;

Command Parser::root() { return Command(*app_); }

Parser::Outcome Parser::parse(int count, char** arguments) {
  try {
    app_->parse(count, arguments);
  } catch (const CLI::Success& success) {
    return {.exit_status = app_->exit(success), .problem = {}};
  } catch (const CLI::ParseError& error) {
    return {.exit_status = {}, .problem = without_values(*app_, error)};
  }
  return {};
}

}  // namespace reprise::server::cli
