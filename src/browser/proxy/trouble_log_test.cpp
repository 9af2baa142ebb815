#include "browser/proxy/trouble_log.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "browser/proxy/limits.h"

namespace reprise::browser {
namespace {

std::string why(const TroubleLog& log, std::string_view url, std::uint64_t since = 0) {
  const auto found = log.find(url, since);
  return found ? found->detail : std::string();
}

TEST(TroubleLog, IsAskedByHostAndPort) {
  TroubleLog log;
  log.add("http://a.example/path", {Code::kIo, "refused"});
  log.add("b.example:443", {Code::kUrlRefused, "denied"});
  log.add("[::1]:8080", {Code::kIo, "six"});
  EXPECT_EQ(why(log, "http://A.example:80/other?query"), "refused");
  EXPECT_EQ(why(log, "https://b.example/"), "denied");
  EXPECT_EQ(why(log, "http://[::1]:8080/"), "six");
  for (const char* other : {"http://a.example:81/", "http://b.example/", "data:text/html,x", ""})
    EXPECT_EQ(why(log, other), "") << other;
}

TEST(TroubleLog, TellsWhatIsNewerThanAMark) {
  TroubleLog log;
  log.add("a.example:443", {Code::kIo, "first"});
  const std::uint64_t mark = log.count();
  EXPECT_EQ(why(log, "https://a.example/", mark), "");
  log.add("a.example:443", {Code::kIo, "second"});
  EXPECT_EQ(why(log, "https://a.example/", mark), "second");
}

TEST(TroubleLog, HasALimit) {
  TroubleLog log;
  for (std::size_t i = 0; i < 2 * kMaxKnownTroubles + 1; ++i)
    log.add(fmt::format("a{}.example:443", i), {Code::kIo, "x"});
  EXPECT_LE(log.size(), kMaxKnownTroubles);
  EXPECT_EQ(why(log, fmt::format("https://a{}.example/", 2 * kMaxKnownTroubles)), "x");
}

}  // namespace
}  // namespace reprise::browser
