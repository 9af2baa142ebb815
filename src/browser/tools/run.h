// ToolRun: one call of a tool, from its arguments to its outcome.
//
// A tool is a coroutine that works on the run's session browser and fills in the outcome. An error
// of code kToolFailed is the page's fault and is an outcome too (`ok: false`); any other ends the
// call.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "browser/session_browser.h"
#include "browser/tools/catalogue.h"
#include "wire/json.h"

namespace reprise::browser {

struct ToolOutcome {
  std::string result = "null";    // JSON
  std::string text;               // for models; empty: nothing to say
  std::vector<Picture> pictures;  // shown with the text
  std::string target = "null";    // which element it was, so that it is found again; JSON
  std::optional<Element> element = std::nullopt;  // the same while its document is there
  // The same by argument, for tools that take several: "startTarget", "fields/0".
  std::vector<std::pair<std::string, std::string>> targets;
  bool hides_text = false;    // what was typed is a secret
  bool changes_page = false;  // worth a picture
};

class ToolRun {
 public:
  ToolRun(SessionBrowser& browser, wire::JsonValue arguments, rt::CancelScope& scope)
      : browser(browser), arguments_(arguments), scope(scope) {}

  SessionBrowser& browser;

 private:
  wire::JsonValue arguments_;

 public:
  rt::CancelScope& scope;
  std::shared_ptr<Tab> tab;               // what the tool works on, once it has asked for it
  std::optional<model::TabId> named_tab;  // which one the caller means, where it said so by id
  ToolOutcome outcome;

  rt::Loop& loop() { return browser.around().loop; }
  rt::Deadline within(std::chrono::milliseconds time) { return rt::Deadline::after(loop(), time); }

  // Arguments that have passed the catalogue.
  std::optional<std::string> text(std::string_view name) const;
  bool flag(std::string_view name) const;
  std::optional<double> number(std::string_view name) const;
  std::optional<wire::JsonValue> value(std::string_view name) const {
    return arguments_.find(name);
  }

  // What a page may be asking while a tool works on it: a dialog stops the page, a file chooser
  // only waits, but what is done meanwhile is rarely meant.
  enum class Asking : std::uint8_t { kNothing, kFiles, kAnything };
  // The page to work on: the active tab's. kToolFailed while it asks what it may not; of one that
  // has crashed also, unless it may ask anything.
  rt::Task<Result<Page*>> page(Asking may_ask = Asking::kNothing);
  // The element that an argument names, by ref or selector; told in the outcome.
  rt::Task<Result<Element>> element(Page& page, std::string_view argument = "target");
  // In two steps, for tools that describe it on the way.
  rt::Task<Result<Element>> find(Page& page, std::string_view argument = "target");
  rt::Task<> tell(Page& page, Element element, std::string description,
                  std::string_view argument = "target");
  // Tells in the outcome which element it is.
  rt::Task<> note_target(Page& page, Element element, std::string_view argument = "target");
};

using ToolFunction = rt::Task<Result<>> (*)(ToolRun&);
// nullptr: a tool of the catalogue that is not one of a page.
ToolFunction tool_function(std::string_view name);
// Whether there is something behind a tool of the catalogue; one that there is not is not offered.
bool can_run(const Tool& tool);

}  // namespace reprise::browser
