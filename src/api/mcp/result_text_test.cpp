#include "api/mcp/result_text.h"

#include <gtest/gtest.h>

namespace reprise::api {
namespace {

using browser::CommandAnswer;

CommandAnswer answer_of(std::string tool, std::string text = {}) {
  CommandAnswer answer{.is_ok = true, .tool = std::move(tool), .tab = std::nullopt};
  answer.text = std::move(text);
  answer.page =
      browser::PageGlance{.url = "http://shop.test/", .title = "Shop", .dialog = std::nullopt};
  answer.tabs = {{.url = "http://shop.test/", .title = "Shop", .is_active = true}};
  return answer;
}

TEST(McpResultText, TellsResultAndPage) {
  const auto outcome = mcp_outcome(answer_of("browser_evaluate", "42"));
  EXPECT_EQ(outcome.text,
            "### Result\n42\n\n### Page\n- Page URL: http://shop.test/\n- Page Title: Shop\n");
  EXPECT_FALSE(outcome.is_error);
}

TEST(McpResultText, PutsASnapshotIntoItsOwnSectionBehindAFenceThatThePageCannotEnd) {
  auto answer = answer_of("browser_snapshot", "- text: \"```\"\n");
  answer.result = R"({"snapshot":"..."})";
  EXPECT_EQ(mcp_outcome(answer).text,
            "### Page\n- Page URL: http://shop.test/\n- Page Title: Shop\n"
            "\n### Snapshot\n````yaml\n- text: \"```\"\n````\n");
}

TEST(McpResultText, SaysWhereASnapshotWentThatBecameAnArtifact) {
  auto answer = answer_of("browser_snapshot", "saved as artifact a.yaml");
  answer.result = R"({"artifact":"a.yaml"})";
  EXPECT_TRUE(mcp_outcome(answer).text.starts_with("### Result\nsaved as artifact a.yaml\n"));
}

TEST(McpResultText, TellsAnErrorFirstWithTheStateThatExplainsIt) {
  auto answer = answer_of("browser_click");
  answer.is_ok = false;
  answer.error_code = "dialog";
  answer.error = "the page shows a confirm";
  answer.page->dialog =
      browser::Dialog{.kind = "confirm", .message = "Sure?\n### Page", .default_text = {}};
  answer.page->console_errors = 2;
  answer.tabs.push_back({.url = "about:blank", .title = ""});
  const auto outcome = mcp_outcome(answer);
  EXPECT_TRUE(outcome.is_error);
  EXPECT_EQ(outcome.text,
            "### Error\ndialog: the page shows a confirm\n"
            "\n### Open tabs\n- 0: (current) [Shop](http://shop.test/)\n- 1: [](about:blank)\n"
            "\n### Page\n- Page URL: http://shop.test/\n- Page Title: Shop\n"
            "- Console: 2 errors, 0 warnings\n"
            "\n### Modal state\n- [\"confirm\" dialog with message \"Sure? ### Page\"]: can be "
            "handled by browser_handle_dialog\n");
}

TEST(McpResultText, TellsOfAFileChooser) {
  auto answer = answer_of("browser_click");
  answer.page->waits_for_files = true;
  EXPECT_TRUE(mcp_outcome(answer).text.ends_with(
      "\n### Modal state\n- [File chooser]: can be handled by browser_file_upload\n"));
}

TEST(McpResultText, GivesPicturesAsImages) {
  auto answer = answer_of("browser_take_screenshot", "saved as artifact a.png");
  answer.pictures.push_back({.bytes = "\x89PNG", .type = "image/png"});
  const auto outcome = mcp_outcome(answer);
  ASSERT_EQ(outcome.images.size(), 1u);
  EXPECT_EQ(outcome.images[0].mime_type, "image/png");
  EXPECT_EQ(outcome.images[0].base64, "iVBORw==");
}

TEST(McpResultText, TellsOfDownloadsLast) {
  auto answer = answer_of("browser_click");
  answer.events = {"downloaded: artifact downloads/a\n.txt (3 bytes)"};
  EXPECT_TRUE(mcp_outcome(answer).text.ends_with(
      "\n### Events\n- downloaded: artifact downloads/a .txt (3 bytes)\n"));
}

TEST(McpResultText, IsNeverEmpty) {
  CommandAnswer answer{.is_ok = true, .tool = "browser_resize", .tab = std::nullopt};
  EXPECT_EQ(mcp_outcome(answer).text, "### Result\nDone.\n");
  answer.tool = "browser_close";
  EXPECT_EQ(mcp_outcome(answer).text, "### Result\nNo tab is open.\n");
}

}  // namespace
}  // namespace reprise::api
