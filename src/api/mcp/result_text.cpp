#include "api/mcp/result_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace reprise::api {
namespace {

using browser::CommandAnswer;
using browser::PageGlance;

// Texts of a page stand in lines of their own; one with a line break would forge others.
std::string one_line(std::string_view text) {
  std::string line(text);
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return line;
}

void add_section(std::string& text, std::string_view heading, std::string_view body) {
  while (body.ends_with('\n')) body.remove_suffix(1);
  if (!text.empty()) text += '\n';
  text += fmt::format("### {}\n{}\n", heading, body);
}

std::string page_lines(const PageGlance& page) {
  std::string lines = fmt::format("- Page URL: {}\n", one_line(page.url));
  if (!page.title.empty()) lines += fmt::format("- Page Title: {}\n", one_line(page.title));
  if (page.is_crashed) lines += "- The page has crashed: navigate, or close the tab\n";
  if (page.console_errors > 0 || page.console_warnings > 0)
    lines += fmt::format("- Console: {} errors, {} warnings\n", page.console_errors,
                         page.console_warnings);
  return lines;
}

// A fence longer than any in what it encloses, so that no page can end it.
std::string fence_for(std::string_view text) {
  std::size_t longest = 2;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return std::string(longest + 1, '`');
}

std::string fenced(std::string_view text, std::string_view language) {
  const std::string fence = fence_for(text);
  const bool ends_line = text.ends_with('\n');
  return fmt::format("{}{}\n{}{}{}", fence, language, text, ends_line ? "" : "\n", fence);
}

bool is_in_snapshot_section(const CommandAnswer& answer) {
  // Into an artifact instead: then the text says where it is.
  return answer.tool == "browser_snapshot" && answer.result.starts_with("{\"snapshot\":");
}

}  // namespace

std::string mcp_tab_lines(const std::vector<browser::TabGlance>& tabs) {
  std::string lines;
  for (std::size_t i = 0; i < tabs.size(); ++i)
    lines += fmt::format("- {}: {}[{}]({})\n", i, tabs[i].is_active ? "(current) " : "",
                         one_line(tabs[i].title), one_line(tabs[i].url));
  return lines;
}

ToolHost::Outcome mcp_outcome(const CommandAnswer& answer) {
  ToolHost::Outcome outcome{.text = {}, .is_error = !answer.is_ok};
  std::string& text = outcome.text;
  const bool has_snapshot = answer.is_ok && is_in_snapshot_section(answer);
  const bool is_about_tabs = answer.tool == "browser_tabs" || answer.tool == "browser_close";
  if (!answer.is_ok)
    add_section(text, "Error", fmt::format("{}: {}", answer.error_code, answer.error));
  else if (is_about_tabs)
    add_section(text, "Result",
                answer.tabs.empty() ? "No tab is open." : mcp_tab_lines(answer.tabs));
  else if (!answer.text.empty() && !has_snapshot)
    add_section(text, "Result", answer.text);
  if (answer.tabs.size() > 1 && (!is_about_tabs || !answer.is_ok))
    add_section(text, "Open tabs", mcp_tab_lines(answer.tabs));
  if (answer.page) {
    add_section(text, "Page", page_lines(*answer.page));
    if (answer.page->dialog)
      add_section(text, "Modal state",
                  fmt::format("- [\"{}\" dialog with message \"{}\"]: can be handled by "
                              "browser_handle_dialog",
                              answer.page->dialog->kind, one_line(answer.page->dialog->message)));
    else if (answer.page->waits_for_files)
      add_section(text, "Modal state", "- [File chooser]: can be handled by browser_file_upload");
  }
  if (has_snapshot) add_section(text, "Snapshot", fenced(answer.text, "yaml"));
  if (!answer.events.empty()) {
    std::string lines;
    for (const std::string& event : answer.events) lines += fmt::format("- {}\n", one_line(event));
    add_section(text, "Events", lines);
  }
  if (text.empty()) add_section(text, "Result", "Done.");
  for (const browser::Picture& picture : answer.pictures)
    outcome.images.push_back({.mime_type = picture.type, .base64 = to_base64(picture.bytes)});
  return outcome;
}

}  // namespace reprise::api
