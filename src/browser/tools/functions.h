// The tools themselves, by what they are about. Each works on a ToolRun (tools/run.h).
#pragma once

#include "browser/tools/run.h"

namespace reprise::browser {

// Acting on elements (tools/acting.cpp).
rt::Task<Result<>> tool_click(ToolRun& run);
rt::Task<Result<>> tool_hover(ToolRun& run);
rt::Task<Result<>> tool_drag(ToolRun& run);
rt::Task<Result<>> tool_type(ToolRun& run);
rt::Task<Result<>> tool_press_key(ToolRun& run);
rt::Task<Result<>> tool_select_option(ToolRun& run);
rt::Task<Result<>> tool_fill_form(ToolRun& run);
// The point of an element that an action goes to, once it can: in the page's coordinates.
rt::Task<Result<Point>> point_for(ToolRun& run, Page& page, Element element,
                                  std::string_view action);

// Files (tools/files.cpp).
rt::Task<Result<>> tool_file_upload(ToolRun& run);
rt::Task<Result<>> tool_drop(ToolRun& run);

// Going places (tools/moving.cpp).
rt::Task<Result<>> tool_navigate(ToolRun& run);
rt::Task<Result<>> tool_navigate_back(ToolRun& run);
rt::Task<Result<>> tool_navigate_forward(ToolRun& run);
rt::Task<Result<>> tool_reload(ToolRun& run);
rt::Task<Result<>> tool_close(ToolRun& run);
rt::Task<Result<>> tool_resize(ToolRun& run);
rt::Task<Result<>> tool_tabs(ToolRun& run);
rt::Task<Result<>> tool_handle_dialog(ToolRun& run);
rt::Task<Result<>> tool_wait_for(ToolRun& run);
rt::Task<Result<>> tool_emulate_media(ToolRun& run);

// Looking (tools/looking.cpp).
rt::Task<Result<>> tool_snapshot(ToolRun& run);
rt::Task<Result<>> tool_find(ToolRun& run);
rt::Task<Result<>> tool_evaluate(ToolRun& run);
rt::Task<Result<>> tool_take_screenshot(ToolRun& run);
rt::Task<Result<>> tool_pdf_save(ToolRun& run);
rt::Task<Result<>> tool_console_messages(ToolRun& run);
rt::Task<Result<>> tool_network_requests(ToolRun& run);
rt::Task<Result<>> tool_network_request(ToolRun& run);

// The mouse by coordinates (tools/pointing.cpp).
rt::Task<Result<>> tool_mouse_move_xy(ToolRun& run);
rt::Task<Result<>> tool_mouse_click_xy(ToolRun& run);
rt::Task<Result<>> tool_mouse_drag_xy(ToolRun& run);
rt::Task<Result<>> tool_mouse_down(ToolRun& run);
rt::Task<Result<>> tool_mouse_up(ToolRun& run);
rt::Task<Result<>> tool_mouse_wheel(ToolRun& run);

// What sites keep (tools/storing.cpp).
rt::Task<Result<>> tool_cookie_list(ToolRun& run);
rt::Task<Result<>> tool_cookie_get(ToolRun& run);
rt::Task<Result<>> tool_cookie_set(ToolRun& run);
rt::Task<Result<>> tool_cookie_delete(ToolRun& run);
rt::Task<Result<>> tool_cookie_clear(ToolRun& run);
rt::Task<Result<>> tool_localstorage_list(ToolRun& run);
rt::Task<Result<>> tool_localstorage_get(ToolRun& run);
rt::Task<Result<>> tool_localstorage_set(ToolRun& run);
rt::Task<Result<>> tool_localstorage_delete(ToolRun& run);
rt::Task<Result<>> tool_localstorage_clear(ToolRun& run);
rt::Task<Result<>> tool_sessionstorage_list(ToolRun& run);
rt::Task<Result<>> tool_sessionstorage_get(ToolRun& run);
rt::Task<Result<>> tool_sessionstorage_set(ToolRun& run);
rt::Task<Result<>> tool_sessionstorage_delete(ToolRun& run);
rt::Task<Result<>> tool_sessionstorage_clear(ToolRun& run);
rt::Task<Result<>> tool_storage_state(ToolRun& run);
rt::Task<Result<>> tool_set_storage_state(ToolRun& run);

}  // namespace reprise::browser
