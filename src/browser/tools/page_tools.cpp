// Going somewhere, looking at what is there, and waiting for it.
#include "browser/tools/limits.h"
#include "browser/tools/tables.h"

namespace reprise::browser {
namespace {

std::vector<Tool> going() {
  return {
      {.name = "browser_navigate",
       .title = "Go to a URL",
       .description =
           "Opens a URL in the active tab and waits until the document is there. Without a scheme "
           "it is https, or http for localhost.",
       .effect = Effect::kChanges,
       .parameters = {needed(text("url", "Where to go."))}},
      {.name = "browser_navigate_back",
       .title = "Go back",
       .description = "Goes back to the page before this one in the history of the active tab.",
       .effect = Effect::kChanges},
      {.name = "browser_navigate_forward",
       .title = "Go forward",
       .description = "Goes to the page after this one in the history of the active tab.",
       .effect = Effect::kChanges},
      {.name = "browser_reload",
       .title = "Reload",
       .description = "Loads the page of the active tab anew.",
       .effect = Effect::kChanges},
      {.name = "browser_tabs",
       .title = "Tabs",
       .description =
           "Lists the tabs, opens one, closes one or makes one the active tab. All other tools "
           "work in the active tab.",
       .effect = Effect::kDestroys,
       .parameters = {needed(choice("action", {"list", "new", "close", "select"},
                                    "What to do with the tabs.")),
                      integer("index", 0, kMaxTabIndex,
                              "Which tab to close or select, as listed; to close, the active one "
                              "if there is none."),
                      text("url", "What a new tab opens; an empty page if there is none.")}},
      {.name = "browser_close",
       .title = "Close the page",
       .description =
           "Closes the pages of the session and gives its browser back. The session itself stays, "
           "and the next tool opens a page again.",
       .effect = Effect::kDestroys},
      {.name = "browser_resize",
       .title = "Resize the window",
       .description = "Gives the page another size.",
       .effect = Effect::kChanges,
       .parameters = {needed(integer("width", 1, kMaxViewport, "In CSS pixels.")),
                      needed(integer("height", 1, kMaxViewport, "In CSS pixels."))}},
      {.name = "browser_emulate_media",
       .title = "Emulate media features",
       .description =
           "Lets the page believe in another medium, colour scheme or contrast. Null takes an "
           "earlier choice back; what is left out stays as it is.",
       .effect = Effect::kChanges,
       .parameters = {choice_or_null("colorScheme", {"light", "dark"}, "prefers-color-scheme."),
                      choice_or_null("reducedMotion", {"reduce", "no-preference"},
                                     "prefers-reduced-motion."),
                      choice_or_null("forcedColors", {"active", "none"}, "forced-colors."),
                      choice_or_null("contrast", {"more", "no-preference"}, "prefers-contrast."),
                      choice_or_null("media", {"screen", "print"}, "The CSS media type.")}},
  };
}

std::vector<Tool> looking() {
  return {
      {.name = "browser_snapshot",
       .title = "Snapshot of the page",
       .description =
           "The page as a tree of roles, names and refs; better for acting than a screenshot. "
           "Refs are valid until the page goes elsewhere.",
       .parameters = {target(), into_file("the snapshot"),
                      integer("depth", 1, kMaxSnapshotDepth, "How many levels of the tree."),
                      flag("boxes", "Adds where each element is: [box=x,y,width,height]."),
                      integer("maxBytes", 1, kMaxSnapshotBytes,
                              "Cuts the tree off there, and says what is missing."),
                      flag("diff", "Only what has changed since the last snapshot.")}},
      {.name = "browser_find",
       .title = "Find in the page",
       .description =
           "Lines of the page's snapshot that contain a text or match a regular expression, with "
           "their refs. Cheaper than a whole snapshot of a large page.",
       .parameters = {text("text", "To be found in any case of its letters."),
                      text("regex", "A regular expression, instead of a text."),
                      into_file("the lines")}},
      {.name = "browser_take_screenshot",
       .title = "Take a screenshot",
       .description =
           "A picture of what is visible, of the whole page or of one element. To act on the page, "
           "take a snapshot: a picture has no refs.",
       .parameters = {element(), target(),
                      with_default(choice("type", {"png", "jpeg", "webp"}, "The format."),
                                   "\"png\""),
                      into_file("the picture"),
                      flag("fullPage", "The whole page, and not only what is visible of it."),
                      with_default(choice("scale", {"css", "device"},
                                          "One pixel of the picture for each CSS pixel, or for "
                                          "each of the device."),
                                   "\"css\"")}},
      {.name = "browser_pdf_save",
       .title = "Save as PDF",
       .description = "Prints the page into a PDF among the session's artifacts.",
       .parameters = {text("filename", "The artifact's path; one is made up if there is none.")}},
      {.name = "browser_console_messages",
       .title = "Console messages",
       .description = "What the page has written to the console since it was loaded.",
       .parameters = {with_default(choice("level", {"error", "warning", "info", "debug"},
                                          "Messages of this level and of graver ones."),
                                   "\"info\""),
                      flag("all", "Also those of the pages before this one."),
                      into_file("the messages")}},
      {.name = "browser_network_requests",
       .title = "Network requests",
       .description =
           "The requests of the page since it was loaded, numbered; browser_network_request shows "
           "one of them.",
       .parameters = {with_default(flag("static",
                                        "Also images, fonts, styles and scripts that "
                                        "were loaded without an error."),
                                   "false"),
                      text("filter", "Only URLs that match this regular expression."),
                      into_file("the list")}},
      {.name = "browser_network_request",
       .title = "One network request",
       .description = "Headers and bodies of one request, by its number in the list of requests.",
       .parameters = {needed(integer("index", 1, kMaxRequestIndex, "Its number, from 1.")),
                      choice(
                          "part",
                          {"request-headers", "request-body", "response-headers", "response-body"},
                          "Only this part of it."),
                      into_file("what is shown")}},
      {.name = "browser_wait_for",
       .title = "Wait",
       .description =
           "Waits until a text appears, until one is gone, or for a time. Tools wait for the page "
           "by themselves: this is for what comes later.",
       .parameters = {number("time", 0, kMaxWaitSeconds, "How long, in seconds."),
                      text("text", "Until this text is visible."),
                      text("textGone", "Until this text is not visible any more.")}},
  };
}

}  // namespace

std::vector<Tool> page_tools() {
  std::vector<Tool> all = going();
  for (Tool& tool : looking()) all.push_back(std::move(tool));
  return all;
}

}  // namespace reprise::browser
