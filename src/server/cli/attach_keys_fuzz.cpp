// Arbitrary bytes as keys, at each kind of question: what is shown can be shown, and an answer is
// JSON. The keys are the same whether they come at once or byte by byte.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "server/cli/attach_prompt.h"

namespace reprise::server::cli {
namespace {

void type(const Question& question, const std::vector<Key>& keys) {
  Prompt prompt(question);
  for (const Key& key : keys) {
    const auto step = prompt.on_key(key);
    const std::string shown = prompt.render(20);
    REPRISE_ASSERT(wire::is_utf8(shown) && shown.find('\x1b') == std::string::npos, shown);
    if (step == Prompt::Step::kAnswer)
      REPRISE_ASSERT(wire::parse_json(prompt.answer()).has_value(), prompt.answer());
  }
}

}  // namespace
}  // namespace reprise::server::cli

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise;
  using namespace reprise::server::cli;
  // A person types less.
  const std::string_view bytes(reinterpret_cast<const char*>(data),
                               std::min<std::size_t>(size, 4096));
  const std::vector<Key> keys = KeyDecoder().feed(bytes);
  KeyDecoder slow;
  std::vector<Key> one_by_one;
  for (const char byte : bytes)
    for (Key& key : slow.feed({&byte, 1})) one_by_one.push_back(std::move(key));
  REPRISE_ASSERT(keys == one_by_one, keys.size());
  for (const std::string_view question :
       {R"({"id":"q","kind":"waitForInput","skipLabel":"later"})",
        R"({"id":"q","kind":"inputNode","schema":{"type":"number"}})",
        R"({"id":"q","kind":"confirm"})",
        R"({"id":"q","kind":"waitForChoice","selectionMode":"multiple","skipLabel":"later",
            "noneOfTheAboveLabel":"none","choices":[{"id":"a"},{"id":"b"}]})"}) {
    const auto document = wire::parse_json(std::string(question));
    type(*parse_question(document->root()), keys);
  }
  return 0;
}
