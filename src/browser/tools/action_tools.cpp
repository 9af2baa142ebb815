// What a person does to a page: click, type, choose, drag, answer.
#include "browser/tools/tables.h"

namespace reprise::browser {
namespace {

std::vector<Tool> by_hand() {
  return {
      {.name = "browser_click",
       .title = "Click",
       .description = "Clicks an element once it can be clicked, and waits for what that starts.",
       .effect = Effect::kDestroys,
       .parameters = {element(), needed(target()), flag("doubleClick", "Twice instead of once."),
                      with_default(choice("button", {"left", "right", "middle"}, "Which button."),
                                   "\"left\""),
                      choices("modifiers", {"Alt", "Control", "ControlOrMeta", "Meta", "Shift"},
                              "Keys held down meanwhile.")}},
      {.name = "browser_hover",
       .title = "Hover",
       .description = "Moves the mouse over an element, to open what opens by that.",
       .effect = Effect::kChanges,
       .parameters = {element(), needed(target())}},
      {.name = "browser_drag",
       .title = "Drag and drop",
       .description = "Drags one element onto another.",
       .effect = Effect::kDestroys,
       .parameters = {element("startElement"), needed(target("startTarget", "startRef")),
                      element("endElement"), needed(target("endTarget", "endRef"))}},
      {.name = "browser_drop",
       .title = "Drop onto an element",
       .description = "Drops files or data onto an element, as if they came from outside the page.",
       .effect = Effect::kDestroys,
       .parameters = {element(), needed(target()),
                      texts("paths", "Artifacts of the session, to be dropped as files."),
                      text_map("data",
                               "What is dropped, by media type: "
                               "{\"text/plain\": \"hello\"}.")}},
      {.name = "browser_type",
       .title = "Type text",
       .description =
           "Puts a text into a field, instead of what is there. Without a target it is typed key "
           "by key where the focus is.",
       .effect = Effect::kDestroys,
       .parameters = {element(), target(), needed(text("text", "What to type.")),
                      flag("submit", "Presses Enter after it."),
                      flag("slowly", "Key by key, for pages that listen to keys.")}},
      {.name = "browser_press_key",
       .title = "Press a key",
       .description = "Presses a key, or keys together, where the focus is.",
       .effect = Effect::kDestroys,
       .parameters = {needed(text("key",
                                  "Its name, such as ArrowLeft or Control+A, or the "
                                  "character itself."))}},
      {.name = "browser_select_option",
       .title = "Select an option",
       .description = "Selects one or more options of a list, by their values or labels.",
       .effect = Effect::kDestroys,
       .parameters = {element(), needed(target()),
                      needed(texts("values", "What is selected; everything else is not."))}},
  };
}

std::vector<Tool> at_once() {
  return {
      {.name = "browser_fill_form",
       .title = "Fill in a form",
       .description = "Fills in several fields in one call, in the order in which they are given.",
       .effect = Effect::kDestroys,
       .parameters = {needed(objects(
           "fields",
           {element(), needed(target()), needed(text("name", "The field's name, for people.")),
            needed(choice("type", {"textbox", "checkbox", "radio", "combobox", "slider"},
                          "What kind of field it is.")),
            needed(text("value",
                        "What goes into it: a text, true or false for a checkbox, an "
                        "option's label for a combobox."))},
           "The fields."))}},
      {.name = "browser_file_upload",
       .title = "Upload files",
       .description =
           "Answers a file chooser that the page has opened, with artifacts of the session.",
       .effect = Effect::kDestroys,
       .parameters = {texts("paths", "Paths of artifacts; none cancels the file chooser.")}},
      {.name = "browser_handle_dialog",
       .title = "Answer a dialog",
       .description =
           "Answers an alert, confirm, prompt or beforeunload. Until then other tools of the tab "
           "are refused.",
       .effect = Effect::kDestroys,
       .parameters = {needed(flag("accept", "OK, or else Cancel.")),
                      text("promptText", "What goes into a prompt.")}},
      {.name = "browser_evaluate",
       .title = "Run JavaScript in the page",
       .description =
           "Runs a JavaScript function in the page, or on an element of it, and answers with what "
           "it returns.",
       .effect = Effect::kDestroys,
       .parameters = {element(), target(),
                      needed(text("function",
                                  "() => { ... }, or (element) => { ... } where there "
                                  "is a target.")),
                      into_file("what it returns")}},
  };
}

}  // namespace

std::vector<Tool> action_tools() {
  std::vector<Tool> all = by_hand();
  for (Tool& tool : at_once()) all.push_back(std::move(tool));
  return all;
}

}  // namespace reprise::browser
