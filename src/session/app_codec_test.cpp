#include "base/bytes.h"
#include "session/apps.h"
#include "session/testing.h"

namespace reprise::session {
namespace {

TEST(AppCodec, ReadsTheFormatBeforeRawPayloadsCouldBeKept) {
  App app{.id = "shop", .settings = {}, .created_at = {}, .updated_at = {}};
  app.settings.keeps_raw_tool_payloads = true;
  const std::string bytes = encode_app(app);
  EXPECT_EQ(*decode_app(app_key("shop"), bytes), app);
  std::string old = bytes.substr(0, bytes.size() - 1);
  EXPECT_EQ(testing::code_of(decode_app(app_key("shop"), old)), Code::kCorrupt);
  old[0] = '\1';
  app.settings.keeps_raw_tool_payloads = false;
  EXPECT_EQ(*decode_app(app_key("shop"), old), app);
  old[0] = '\3';
  EXPECT_EQ(testing::code_of(decode_app(app_key("shop"), old)), Code::kCorrupt);
}

}  // namespace
}  // namespace reprise::session
