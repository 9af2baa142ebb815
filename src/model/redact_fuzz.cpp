// Redactor on arbitrary text and JSON: it never crashes, what it gives for JSON is JSON, doing it
// again changes nothing, and secrets planted among arbitrary text are gone. Text around a secret is
// split at the first newline.
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "base/json_text.h"
#include "model/redact.h"
#include "wire/json.h"

namespace {

using namespace reprise;
using namespace reprise::model;

// Known by their looks, and by a name.
constexpr std::array<std::string_view, 5> kPatterns = {
    "ghp_0123456789abcdefghijABCDEFGHIJ", "4111 1111 1111 1111", "sk-PlantedPlanted0123456789",
    "eyJhbGciOiJQTEFOIn0.eyJzdWIiOiJQTEFOVEVEIn0.UExBTlRFRA", "Bearer planted0planted1"};
constexpr std::string_view kNamed = "planted-7h1s-0ne";
// Lines of their own that hold it, whatever lines are around them; and JSON.
constexpr std::array<std::string_view, 7> kLines = {
    "<add key=\"ApiKey\" value=\"{}\"/>", "<password>{}</password>", "curl --user me:{}",
    "see db://me:p@/?#{}@host",           "smtpPass: two {}",        "password:\n    {}",
    "password: |\n    one\n\n    {}"};
constexpr std::array<std::string_view, 3> kMembers = {
    R"([{{"x":{0}}},["Host",{0},"X-Api-Key","{1}"]])",
    R"([{{"x":{0}}},{{"element":"Password field","ref":{0},"text":"{1}"}}])",
    R"([{0},["curl","-u","me:{1}",{0}]])"};

const Redactor& redactor() {
  static const Redactor instance({.keys = {"fuzzed"}, .prefixes = {"planted_"}});
  return instance;
}

std::string redacted_json(const std::string& json) {
  const auto document = wire::parse_json(json);
  REPRISE_ASSERT(document.has_value(), json);
  return std::string(redactor().json(document->root()).view());
}

void expect_gone(std::string_view shown, std::string_view secret) {
  REPRISE_ASSERT(!shown.contains(secret), secret, shown);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string once(redactor().text(input).view());
  REPRISE_ASSERT(redactor().text(once).view() == once, once);
  if (!wire::is_utf8(input)) return 0;
  REPRISE_ASSERT(wire::is_utf8(once), once);
  REPRISE_ASSERT(wire::is_utf8(redactor().text(input).cut_to(size / 2 + 3).view()));

  if (const auto document = wire::parse_json(std::string(input))) {
    const std::string shown(redactor().json(document->root()).view());
    REPRISE_ASSERT(redacted_json(shown) == shown, shown);
  }

  const std::size_t newline = input.find('\n');
  const std::string before(input.substr(0, newline));
  const std::string after(newline == std::string_view::npos ? "" : input.substr(newline + 1));
  for (const std::string_view secret : kPatterns) {
    if (input.contains(secret)) continue;
    const std::string text = before + " " + std::string(secret) + " " + after;
    expect_gone(redactor().text(text).view(), secret);
    expect_gone(redacted_json("[1,{\"x\":" + json_string(text) + "}]"), secret);
  }
  if (input.contains(kNamed)) return 0;
  const std::string member = "\"my_Password\":" + json_string(kNamed);
  expect_gone(redacted_json("{\"a\":" + json_string(before) + ",\"b\":[{" + member + "}]}"),
              kNamed);
  const std::string text = before + "\n password='" + std::string(kNamed) + "' " + after;
  expect_gone(redactor().text(text).view(), kNamed);
  for (const std::string_view form : kLines) {
    const std::string line = fmt::format(fmt::runtime(form), kNamed);
    expect_gone(redactor().text(before + "\n" + line + "\n" + after).view(), kNamed);
  }
  for (const std::string_view form : kMembers)
    expect_gone(redacted_json(fmt::format(fmt::runtime(form), json_string(before), kNamed)),
                kNamed);
  return 0;
}
