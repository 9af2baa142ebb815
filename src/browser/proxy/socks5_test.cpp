#include "browser/proxy/socks5.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace reprise::browser {
namespace {

wire::Authority at(std::string_view text) { return *wire::parse_authority(text); }

std::string bytes(std::string_view hex) { return *from_hex(hex); }

TEST(Socks5, OffersCredentialsOnlyIfItHasThem) {
  EXPECT_EQ(to_hex(Socks5Dialogue(at("a:1"), "", "").take_output()), "050100");
  EXPECT_EQ(to_hex(Socks5Dialogue(at("a:1"), "u", "p").take_output()), "05020002");
}

TEST(Socks5, AsksForNamesAndAddresses) {
  for (const auto& [place, asked] :
       {std::pair("a.b:443", "0501000303612e6201bb"),
        std::pair("127.0.0.1:80", "050100017f0000010050"),
        std::pair("[::1]:80", "05010004000000000000000000000000000000010050")}) {
    Socks5Dialogue dialogue(at(place), "", "");
    (void)dialogue.take_output();
    ASSERT_EQ(dialogue.feed(bytes("0500")), 2U);
    EXPECT_EQ(to_hex(dialogue.take_output()), asked) << place;
  }
}

TEST(Socks5, IsDoneWithTheReplyWhicheverWayItIsCut) {
  for (const char* reply : {"05000001c0000201005061", "0500000303612e62005061",
                            "05000004000000000000000000000000000000010050"
                            "61"}) {
    Socks5Dialogue whole(at("a:1"), "u", "p");
    const std::string all = bytes(std::string("0502"
                                              "0100") +
                                  reply);
    EXPECT_EQ(whole.feed(all), all.size() - 1) << reply;
    EXPECT_TRUE(whole.is_done());
    Socks5Dialogue cut(at("a:1"), "u", "p");
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      EXPECT_FALSE(cut.is_done());
      EXPECT_EQ(cut.feed(all.substr(i, 1)), 1U);
    }
    EXPECT_TRUE(cut.is_done());
    EXPECT_EQ(cut.take_output(), whole.take_output());
  }
}

TEST(Socks5, TellsWhatTheProxySays) {
  const auto said = [](std::string_view user, std::string_view hex) {
    Socks5Dialogue dialogue(at("a:1"), std::string(user), "p");
    const auto fed = dialogue.feed(bytes(hex));
    return fed ? Code::kInternal : fed.error().code;
  };
  EXPECT_EQ(said("u", "0400"), Code::kMalformedHttp);
  EXPECT_EQ(said("u", "05ff"), Code::kIo);
  EXPECT_EQ(said("", "0502"), Code::kIo);
  EXPECT_EQ(said("u", "05020101"), Code::kIo);
  EXPECT_EQ(said("u", "050005050001000000000000"), Code::kIo);
  EXPECT_EQ(said("u", "050005ff0001000000000000"), Code::kIo);
  EXPECT_EQ(said("u", "05000500000200000000"), Code::kMalformedHttp);
}

}  // namespace
}  // namespace reprise::browser
