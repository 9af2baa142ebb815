// Any text as a message of a live view: refused with a place or as no JSON, or read within its
// limits.
#include <string>
#include <variant>

#include "base/assert.h"
#include "browser/limits.h"
#include "browser/live_message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise;
  const auto parsed =
      browser::parse_live_message(std::string(reinterpret_cast<const char*>(data), size));
  if (!parsed) {
    REPRISE_ASSERT(parsed.error().code != Code::kInternal, parsed.error().detail);
    const std::string told = browser::live_answer_json({.id = {}, .error = parsed.error()});
    REPRISE_ASSERT(wire::parse_json(told).has_value(), told);
    return 0;
  }
  const auto* input = std::get_if<browser::LiveInput>(&*parsed);
  if (input == nullptr) return 0;
  if (const auto* mouse = std::get_if<browser::MouseInput>(&input->action)) {
    REPRISE_ASSERT(mouse->at.x >= -browser::kMaxViewport && mouse->at.x <= browser::kMaxViewport);
    REPRISE_ASSERT(mouse->click_count >= 1 && mouse->click_count <= 3);
    REPRISE_ASSERT(mouse->modifiers < 16);
  } else if (const auto* text = std::get_if<browser::TextInput>(&input->action)) {
    REPRISE_ASSERT(text->text.size() <= browser::kMaxLiveTextBytes);
  } else if (const auto* tab = std::get_if<browser::TabInput>(&input->action)) {
    REPRISE_ASSERT(tab->action == browser::TabAction::kNew || tab->tab.has_value());
  }
  return 0;
}
