// Sessions and their tabs as tools, for clients that look after several at once.
#include "browser/tools/limits.h"
#include "browser/tools/tables.h"
#include "model/limits.h"

namespace reprise::browser {
namespace {

Parameter tab() { return text("tab", "The tab's id."); }
Parameter tab_index() {
  return integer("index", 0, kMaxTabIndex, "Or its place among the open tabs, from 0.");
}

std::vector<Tool> life() {
  return {
      {.name = "playwright_session_start",
       .title = "Start a session",
       .description =
           "Gives the session of this key, new or as it is, with a browser context of its own: no "
           "cookie, page or download is shared with another. It lasts until it is ended or has "
           "been idle for its time to live; a lost connection does not end it.",
       .effect = Effect::kChanges,
       .parameters = {text("url", "What its first tab opens."),
                      integer("ttlSeconds", 1, static_cast<std::int64_t>(model::kMaxTtlSeconds),
                              "It ends after so long without a call."),
                      object("viewport",
                             {needed(integer("width", 1, kMaxViewport, "In CSS pixels.")),
                              needed(integer("height", 1, kMaxViewport, "In CSS pixels."))},
                             "The size of its pages."),
                      text("userAgent", "What its pages say the browser is."),
                      text("locale", "Such as de-CH."), text("timezone", "Such as Europe/Zurich."),
                      text("pool", "The pool that the browser is taken from.")},
       .session_use = SessionUse::kOptional},
      {.name = "playwright_session_call",
       .title = "Call a tool in a session",
       .description =
           "Calls another tool by its name, for clients that show a model only some of them.",
       .effect = Effect::kDestroys,
       .parameters = {needed(text("tool", "Its name, such as browser_click.")),
                      any_object("arguments", "What that tool takes.")}},
      {.name = "playwright_session_end",
       .title = "End a session",
       .description =
           "Ends the session: its pages are closed, its record and artifacts stay readable.",
       .effect = Effect::kDestroys},
      {.name = "playwright_session_list",
       .title = "List sessions",
       .description = "The sessions that you may use, newest first.",
       .parameters = {choice("status", {"starting", "active", "ending", "ended", "failed"},
                             "Only those of this status."),
                      text("app", "Only those of this app."),
                      with_default(integer("limit", 1, kMaxListedSessions, "How many at most."),
                                   "20")},
       .session_use = SessionUse::kNone},
      {.name = "playwright_session_inspect",
       .title = "Inspect a session",
       .description =
           "The session's record, its browser context, its tabs and its latest commands.",
       .parameters = {with_default(
           integer("commands", 0, kMaxListedCommands, "How many of the latest commands."), "10")}},
  };
}

std::vector<Tool> tabs() {
  return {
      {.name = "playwright_session_tabs",
       .title = "List a session's tabs",
       .description = "The open tabs of the session, with ids, URLs, titles and which is active."},
      {.name = "playwright_session_new_tab",
       .title = "Open a tab",
       .description = "Opens a tab in the session and makes it the active one.",
       .effect = Effect::kChanges,
       .parameters = {text("url", "What it opens; an empty page if there is none.")}},
      {.name = "playwright_session_close_tab",
       .title = "Close a tab",
       .description = "Closes a tab of the session; the active one if none is named.",
       .effect = Effect::kDestroys,
       .parameters = {tab(), tab_index()}},
      {.name = "playwright_session_set_active_page",
       .title = "Choose the active tab",
       .description = "Makes a tab the active one, where the other tools work.",
       .effect = Effect::kChanges,
       .parameters = {tab(), tab_index()}},
  };
}

}  // namespace

std::vector<Tool> session_tools() {
  std::vector<Tool> all = life();
  for (Tool& tool : tabs()) all.push_back(std::move(tool));
  for (Tool& tool : all) tool.is_page_tool = false;
  return all;
}

}  // namespace reprise::browser
