#include "server/pool_settings.h"

#include <gtest/gtest.h>

#include "server/limits.h"

namespace reprise::server {
namespace {

TEST(PoolSettings, AreAKeyAKindAndSizes) {
  const auto pools = parse_pool_settings(
      {"full=chromium,browsers=2,contexts=40", "safe=dedicated,contexts=5,path=/opt/x"});
  ASSERT_TRUE(pools.has_value()) << pools.error().detail;
  ASSERT_EQ(pools->size(), 2u);
  EXPECT_EQ((*pools)[0].key, "full");
  EXPECT_EQ((*pools)[0].kind, PoolKind::kChromium);
  EXPECT_EQ((*pools)[0].browsers, 2u);
  EXPECT_EQ((*pools)[0].contexts, 40u);
  EXPECT_EQ((*pools)[1].kind, PoolKind::kDedicated);
  EXPECT_EQ((*pools)[1].path, "/opt/x");
  EXPECT_FALSE((*pools)[1].browsers.has_value());
}

TEST(PoolSettings, SurviveAListThatCommasSeparate) {
  const auto pools = parse_pool_settings({"a=chromium", "browsers=2", "b=headless-shell"});
  ASSERT_TRUE(pools.has_value());
  ASSERT_EQ(pools->size(), 2u);
  EXPECT_EQ((*pools)[0].browsers, 2u);
}

TEST(PoolSettings, AreRefusedWhereTheyMeanNothing) {
  for (const char* text : {"full", "full=firefox", "=chromium", "a b=chromium", "browsers=2",
                           "a=chromium,browsers=0", "a=chromium,contexts=x", "a=chromium,size=2",
                           "a=dedicated,browsers=1,contexts=2", "a=chromium,a=dedicated"})
    EXPECT_FALSE(parse_pool_settings({text}).has_value()) << text;
}

TEST(PoolSettings, HaveAsManyBrowsersAndContextsAsTheirLimitsSay) {
  const auto with = [](std::string_view name, std::uint64_t number) {
    return parse_pool_settings({"a=chromium," + std::string(name) + '=' + std::to_string(number)})
        .has_value();
  };
  EXPECT_TRUE(with("browsers", kMaxPoolBrowsers));
  EXPECT_FALSE(with("browsers", kMaxPoolBrowsers + 1));
  EXPECT_TRUE(with("contexts", kMaxPoolContexts));
  EXPECT_FALSE(with("contexts", kMaxPoolContexts + 1));
}

}  // namespace
}  // namespace reprise::server
