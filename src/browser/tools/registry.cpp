// Which function is which tool.
#include <unordered_map>

#include "browser/tools/functions.h"

namespace reprise::browser {

ToolFunction tool_function(std::string_view name) {
  static const std::unordered_map<std::string_view, ToolFunction> kFunctions = {
      {"browser_click", tool_click},
      {"browser_hover", tool_hover},
      {"browser_drag", tool_drag},
      {"browser_type", tool_type},
      {"browser_press_key", tool_press_key},
      {"browser_select_option", tool_select_option},
      {"browser_fill_form", tool_fill_form},
      {"browser_file_upload", tool_file_upload},
      {"browser_drop", tool_drop},
      {"browser_navigate", tool_navigate},
      {"browser_navigate_back", tool_navigate_back},
      {"browser_navigate_forward", tool_navigate_forward},
      {"browser_reload", tool_reload},
      {"browser_close", tool_close},
      {"browser_resize", tool_resize},
      {"browser_tabs", tool_tabs},
      {"browser_handle_dialog", tool_handle_dialog},
      {"browser_wait_for", tool_wait_for},
      {"browser_emulate_media", tool_emulate_media},
      {"browser_snapshot", tool_snapshot},
      {"browser_find", tool_find},
      {"browser_evaluate", tool_evaluate},
      {"browser_take_screenshot", tool_take_screenshot},
      {"browser_pdf_save", tool_pdf_save},
      {"browser_console_messages", tool_console_messages},
      {"browser_network_requests", tool_network_requests},
      {"browser_network_request", tool_network_request},
      {"browser_mouse_move_xy", tool_mouse_move_xy},
      {"browser_mouse_click_xy", tool_mouse_click_xy},
      {"browser_mouse_drag_xy", tool_mouse_drag_xy},
      {"browser_mouse_down", tool_mouse_down},
      {"browser_mouse_up", tool_mouse_up},
      {"browser_mouse_wheel", tool_mouse_wheel},
      {"browser_cookie_list", tool_cookie_list},
      {"browser_cookie_get", tool_cookie_get},
      {"browser_cookie_set", tool_cookie_set},
      {"browser_cookie_delete", tool_cookie_delete},
      {"browser_cookie_clear", tool_cookie_clear},
      {"browser_localstorage_list", tool_localstorage_list},
      {"browser_localstorage_get", tool_localstorage_get},
      {"browser_localstorage_set", tool_localstorage_set},
      {"browser_localstorage_delete", tool_localstorage_delete},
      {"browser_localstorage_clear", tool_localstorage_clear},
      {"browser_sessionstorage_list", tool_sessionstorage_list},
      {"browser_sessionstorage_get", tool_sessionstorage_get},
      {"browser_sessionstorage_set", tool_sessionstorage_set},
      {"browser_sessionstorage_delete", tool_sessionstorage_delete},
      {"browser_sessionstorage_clear", tool_sessionstorage_clear},
      {"browser_storage_state", tool_storage_state},
      {"browser_set_storage_state", tool_set_storage_state},
  };
  const auto found = kFunctions.find(name);
  return found == kFunctions.end() ? nullptr : found->second;
}

bool can_run(const Tool& tool) { return !tool.is_page_tool || tool_function(tool.name) != nullptr; }

}  // namespace reprise::browser
