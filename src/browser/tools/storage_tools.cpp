// What a site keeps in the browser: cookies, local storage, session storage, and all of it at once.
#include <fmt/format.h>

#include "browser/tools/tables.h"

namespace reprise::browser {
namespace {

std::vector<Tool> cookie_tools() {
  return {
      {.name = "browser_cookie_list",
       .title = "List cookies",
       .description = "The session's cookies.",
       .parameters = {text("domain", "Only those of this domain and its subdomains."),
                      text("path", "Only those of this path.")}},
      {.name = "browser_cookie_get",
       .title = "Read a cookie",
       .description = "The cookies of a name.",
       .parameters = {needed(text("name", "Its name."))}},
      {.name = "browser_cookie_set",
       .title = "Set a cookie",
       .description = "Sets a cookie; without a domain, for the page of the active tab.",
       .effect = Effect::kDestroys,
       .parameters = {needed(text("name", "Its name.")), needed(text("value", "Its value.")),
                      text("domain", "The domain that it is sent to."),
                      text("path", "The path that it is sent to; / if there is none."),
                      number("expires",
                             "When it ends, in seconds since 1970; with the session if "
                             "there is none."),
                      flag("httpOnly", "Hidden from the page's scripts."),
                      flag("secure", "Sent over https only."),
                      choice("sameSite", {"Strict", "Lax", "None"},
                             "Whether other sites' requests carry it.")}},
      {.name = "browser_cookie_delete",
       .title = "Delete a cookie",
       .description = "Deletes the cookies of a name.",
       .effect = Effect::kDestroys,
       .parameters = {needed(text("name", "Its name."))}},
      {.name = "browser_cookie_clear",
       .title = "Delete all cookies",
       .description = "Deletes every cookie of the session.",
       .effect = Effect::kDestroys},
  };
}

// Local and session storage are used alike.
std::vector<Tool> web_storage_tools(std::string_view prefix, std::string_view storage) {
  const auto named = [&](std::string_view verb) {
    return fmt::format("browser_{}_{}", prefix, verb);
  };
  return {
      {.name = named("list"),
       .title = fmt::format("List {}", storage),
       .description = fmt::format("Every item in the {} of the page's origin.", storage)},
      {.name = named("get"),
       .title = fmt::format("Read from {}", storage),
       .description = fmt::format("One item of the {} of the page's origin.", storage),
       .parameters = {needed(text("key", "Its key."))}},
      {.name = named("set"),
       .title = fmt::format("Write to {}", storage),
       .description = fmt::format("Sets an item in the {} of the page's origin.", storage),
       .effect = Effect::kDestroys,
       .parameters = {needed(text("key", "Its key.")), needed(text("value", "Its value."))}},
      {.name = named("delete"),
       .title = fmt::format("Delete from {}", storage),
       .description = fmt::format("Deletes an item of the {} of the page's origin.", storage),
       .effect = Effect::kDestroys,
       .parameters = {needed(text("key", "Its key."))}},
      {.name = named("clear"),
       .title = fmt::format("Empty {}", storage),
       .description = fmt::format("Deletes every item of the {} of the page's origin.", storage),
       .effect = Effect::kDestroys},
  };
}

std::vector<Tool> state_tools() {
  return {
      {.name = "browser_storage_state",
       .title = "Save the storage state",
       .description =
           "Cookies and local storage of all origins, as Playwright writes them, for a later "
           "session that is logged in from the start.",
       .parameters = {text("filename",
                           "The artifact that it goes into; one is made up if there "
                           "is none.")}},
      {.name = "browser_set_storage_state",
       .title = "Restore a storage state",
       .description =
           "Replaces the cookies and local storage of the session by a saved storage state.",
       .effect = Effect::kDestroys,
       .parameters = {needed(text("filename", "The artifact that it was saved to."))}},
  };
}

}  // namespace

std::vector<Tool> storage_tools() {
  std::vector<Tool> all = cookie_tools();
  for (auto tools : {web_storage_tools("localstorage", "localStorage"),
                     web_storage_tools("sessionstorage", "sessionStorage"), state_tools()})
    for (Tool& tool : tools) all.push_back(std::move(tool));
  return all;
}

}  // namespace reprise::browser
