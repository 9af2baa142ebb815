#include "browser/chromium/cdp_text.h"

#include <gtest/gtest.h>

namespace reprise::browser {
namespace {

std::string with_param(const std::string& command, std::string_view member) {
  CdpEdit edit(command);
  add_param(edit, command, wire::scan_cdp(command), member);
  return edit.text();
}

std::string in_session(const std::string& command, std::string_view session) {
  CdpEdit edit(command);
  set_session(edit, command, wire::scan_cdp(command), session);
  return edit.text();
}

TEST(CdpText, EditsAreAppliedWhereTheyStand) {
  const std::string text = "abcdef";
  CdpEdit edit(text);
  edit.replace(std::string_view(text).substr(3, 2), "XYZ").insert(0, "<").insert(6, ">");
  edit.insert(6, "!");
  EXPECT_EQ(edit.text(), "<abcXYZf>!");
  EXPECT_EQ(CdpEdit(text).text(), text);
}

TEST(CdpText, AParameterIsAddedWhateverTheParamsAre) {
  EXPECT_EQ(with_param(R"({"id":1,"method":"M"})", R"("a":1)"),
            R"({"id":1,"method":"M","params":{"a":1}})");
  EXPECT_EQ(with_param(R"({"id":1,"params":{ },"method":"M"})", R"("a":1)"),
            R"({"id":1,"params":{"a":1 },"method":"M"})");
  EXPECT_EQ(with_param(R"({"id":1,"params":{"b":[]},"method":"M"})", R"("a":1)"),
            R"({"id":1,"params":{"a":1,"b":[]},"method":"M"})");
  EXPECT_EQ(with_param(R"({"id":1,"params":null,"method":"M"} )", R"("a":1)"),
            R"({"id":1,"params":{"a":1},"method":"M"} )");
}

TEST(CdpText, ACommandIsSentToAnotherSession) {
  EXPECT_EQ(in_session(R"({"id":1,"sessionId":"S","method":"M"})", ""),
            R"({"id":1,"sessionId":"","method":"M"})");
  EXPECT_EQ(in_session(R"({"id":1,"method":"M"})", ""), R"({"id":1,"method":"M"})");
  EXPECT_EQ(in_session(R"({"id":1,"method":"M"})", "T"),
            R"({"id":1,"method":"M","sessionId":"T"})");
}

TEST(CdpText, RepliesLookLikeChromiums) {
  EXPECT_EQ(cdp_error("7", "", -32001, "Session with given id not found."),
            R"({"id":7,"error":{"code":-32001,"message":"Session with given id not found."}})");
  EXPECT_EQ(cdp_error("", "", -32600, "a\"b"), R"({"error":{"code":-32600,"message":"a\"b"}})");
  EXPECT_EQ(cdp_result("7", "S", "{}"), R"({"id":7,"result":{},"sessionId":"S"})");
  const std::string reply = R"({"id":1073741824,"result":{"a":1},"sessionId":"S"})";
  EXPECT_EQ(relayed_reply(wire::scan_cdp(reply), "5", ""), R"({"id":5,"result":{"a":1}})");
  const std::string error = R"({"id":1073741824,"error":{"code":-32000}})";
  EXPECT_EQ(relayed_reply(wire::scan_cdp(error), "5", "T"),
            R"({"id":5,"error":{"code":-32000},"sessionId":"T"})");
  EXPECT_EQ(cdp_command(7, "", "A.b", ""), R"({"id":7,"method":"A.b"})");
  EXPECT_EQ(cdp_command(7, "S", "A.b", "{}"),
            R"({"id":7,"method":"A.b","params":{},"sessionId":"S"})");
}

}  // namespace
}  // namespace reprise::browser
