#include "wire/cdp.h"

#include <gtest/gtest.h>

#include "wire/limits.h"

namespace reprise::wire {
namespace {

constexpr std::string_view kSession = "0123456789ABCDEF0123456789ABCDEF";

std::string tail() { return R"(,"sessionId":")" + std::string(kSession) + "\"}"; }

TEST(Cdp, ACommandIsSeenInAnyOrderOfItsMembers) {
  const std::string first =
      R"({"id":7,"method":"Page.navigate","params":{"url":"a"},"sessionId":"S"})";
  const std::string second =
      R"( { "sessionId" : "S" , "params":{"url":"a"},"method" : "Page.navigate", "id" : 7 } )";
  for (const std::string& message : {first, second}) {
    const CdpHead head = scan_cdp(message);
    EXPECT_TRUE(head.is_ok()) << message;
    EXPECT_EQ(head.id, 7);
    EXPECT_EQ(head.id_text, "7");
    EXPECT_EQ(head.method, "Page.navigate");
    EXPECT_EQ(head.session_id, "S");
    EXPECT_EQ(head.params, R"({"url":"a"})");
    EXPECT_FALSE(head.has_other_member);
    EXPECT_EQ(message.substr(offset_in(message, head.method), 4), "Page");
  }
}

TEST(Cdp, RepliesAndErrorsAndEventsAreTold) {
  EXPECT_EQ(scan_cdp(R"({"id":-5,"result":{"a":[1,{"b":"}]\""}]}})").result,
            R"({"a":[1,{"b":"}]\""}]})");
  EXPECT_EQ(scan_cdp(R"({"id":1,"error":{"code":-32000}})").error, R"({"code":-32000})");
  const CdpHead event = scan_cdp(R"({"method":"A.b","params":{}})");
  EXPECT_FALSE(event.id);
  EXPECT_EQ(event.method, "A.b");
  EXPECT_EQ(event.params, "{}");
}

TEST(Cdp, AStringThatLooksLikeAMemberIsNone) {
  const CdpHead head =
      scan_cdp(R"({"id":1,"params":{"a":"\",\"sessionId\":\"X\"}","sessionId":"Y"},"method":"M"})");
  EXPECT_TRUE(head.is_ok());
  EXPECT_EQ(head.session_id, "");
  EXPECT_EQ(head.method, "M");
}

TEST(Cdp, WhatIsNoMessageIsAFault) {
  const auto fault = [](std::string_view text) { return scan_cdp(text).fault; };
  for (const std::string_view text : {"", " ", "x", "[]", "5", "\"{}\"", "null"})
    EXPECT_EQ(fault(text), CdpFault::kNotObject) << text;
  for (const std::string_view text :
       {"{", R"({"id":1)", R"({"id":1,})", R"({"id":1}x)", R"({"id" 1})", R"({id:1})", R"({"a)",
        R"({"a":"b\)", R"({"a":{"b":1})", R"({"a":})", R"({"a":1 "b":2})", R"({,"a":1})"})
    EXPECT_EQ(fault(text), CdpFault::kNotJson) << text;
  EXPECT_EQ(fault(R"({"id":1,"id":2})"), CdpFault::kDuplicate);
  EXPECT_EQ(fault(R"({"method":"a","method":"b"})"), CdpFault::kDuplicate);
  EXPECT_EQ(fault(R"({"method":"","method":"b"})"), CdpFault::kDuplicate);
  EXPECT_EQ(fault(R"({"sessionId":"","sessionId":"b"})"), CdpFault::kDuplicate);
  EXPECT_EQ(fault(R"({"params":{},"params":{}})"), CdpFault::kDuplicate);
}

TEST(Cdp, CommentsAndOtherSpacesAreNoJson) {
  // A parser that skips comments would see the method behind the string.
  EXPECT_EQ(scan_cdp(R"({"id":1,"params":{/*"*/},"method":"Evil","x":{/*"*/}})").fault,
            CdpFault::kNotJson);
  EXPECT_EQ(scan_cdp(R"({"id":1,/**/"method":"M"})").fault, CdpFault::kNotJson);
  EXPECT_EQ(scan_cdp("{\"id\":1,\"params\":{\v}}").fault, CdpFault::kNotJson);
  EXPECT_EQ(scan_cdp(std::string_view("{\"id\":1,\"params\":{\0}}", 20)).fault, CdpFault::kNotJson);
}

TEST(Cdp, EscapesDoNotHideAName) {
  EXPECT_EQ(scan_cdp(R"({"id":1,"m\u0065thod":"M"})").fault, CdpFault::kEscaped);
  EXPECT_EQ(scan_cdp(R"({"id":1,"method":"\u0042rowser.close"})").fault, CdpFault::kEscaped);
  EXPECT_EQ(scan_cdp(R"({"id":1,"method":"M","sess\u0069onId":"S"})").fault, CdpFault::kEscaped);
  const CdpHead head = scan_cdp(R"({"id":1,"method":"M","sessionId":"\u0053"})");
  EXPECT_TRUE(head.is_ok());
  EXPECT_TRUE(head.has_escaped_session);
}

TEST(Cdp, AnIdIsAPlainIntegerOf32Bits) {
  EXPECT_EQ(scan_cdp(R"({"id":2147483647})").id, 2147483647);
  EXPECT_EQ(scan_cdp(R"({"id":-2147483648})").id, -2147483647 - 1);
  for (const std::string_view id :
       {"2147483648", "1.0", "1e3", "007", "-01", "\"1\"", "null", "{}", "+1", "1.073741824e9"})
    EXPECT_EQ(scan_cdp("{\"id\":" + std::string(id) + "}").fault, CdpFault::kBadId) << id;
}

TEST(Cdp, AMemberOfAnotherTypeIsAFaultAndTheIdStaysKnown) {
  const CdpHead method = scan_cdp(R"({"id":7,"method":5})");
  EXPECT_EQ(method.fault, CdpFault::kBadMethod);
  EXPECT_EQ(method.id, 7);
  const CdpHead session = scan_cdp(R"({"method":"M","sessionId":null,"id":7})");
  EXPECT_EQ(session.fault, CdpFault::kBadSession);
  EXPECT_EQ(session.id, 7);
  EXPECT_TRUE(scan_cdp(R"({"id":7,"method":"M","foo":1})").has_other_member);
}

TEST(Cdp, OfALongMessageOfTheBrowserOnlyTheEndsAreRead) {
  // No JSON inside, which a reader of the whole would have refused.
  const std::string inside = "{\"x\":/" + std::string(kLongCdpBytes, '/') + "}";
  const std::string reply = R"({"id":12,"result":)" + inside + tail();
  EXPECT_FALSE(scan_cdp(reply).is_ok());
  const CdpHead head = scan_browser_cdp(reply);
  EXPECT_TRUE(head.is_ok());
  EXPECT_EQ(head.id, 12);
  EXPECT_EQ(head.id_text, "12");
  EXPECT_EQ(head.result, inside);
  EXPECT_EQ(head.session_id, kSession);

  const std::string message = R"({"method":"A.b","params":)" + inside + tail();
  const CdpHead event = scan_browser_cdp(message);
  EXPECT_EQ(event.method, "A.b");
  EXPECT_EQ(event.params.size(), inside.size());
}

TEST(Cdp, WhatOnlyLooksLikeTheEndIsNotTakenForIt) {
  const std::string filler(kLongCdpBytes, 'x');
  const std::string in_string = R"({"id":1,"result":{"a":")" + filler + R"(\",\"sessionId\":\")" +
                                std::string(kSession) + R"(\"}"}})";
  EXPECT_EQ(scan_browser_cdp(in_string).session_id, "");
  const std::string in_object = R"({"id":1,"result":{"a":")" + filler + "\"" + tail() + "}";
  const CdpHead head = scan_browser_cdp(in_object);
  EXPECT_TRUE(head.is_ok());
  EXPECT_EQ(head.session_id, "");
  const std::string first =
      R"({"sessionId":")" + std::string(kSession) + R"(","id":1,"result":{"a":")" + filler + "\"}}";
  EXPECT_EQ(scan_browser_cdp(first).session_id, kSession);
}

TEST(Cdp, WhatTheBrowserWroteIsReadALevelDeeper) {
  const std::string_view info = R"({"targetId":"A1","title":"\"type\":\"x\"","type":"page","n":5})";
  EXPECT_EQ(cdp_member(info, "type"), R"("page")");
  EXPECT_EQ(cdp_member(info, "n"), "5");
  EXPECT_EQ(cdp_member(info, "none"), "");
  EXPECT_EQ(cdp_member("[]", "none"), "");
  EXPECT_EQ(cdp_member("{}", "none"), "");
  EXPECT_EQ(cdp_plain_string(R"("page")"), "page");
  EXPECT_EQ(cdp_plain_string(R"("pa\u0067e")"), std::nullopt);
  EXPECT_EQ(cdp_plain_string("5"), std::nullopt);
  EXPECT_EQ(cdp_plain_string("\""), std::nullopt);
  EXPECT_EQ(cdp_elements(R"([{"a":"]"}, 5,"x"])"),
            (std::vector<std::string_view>{R"({"a":"]"})", "5", R"("x")"}));
  EXPECT_TRUE(cdp_elements("[]").empty());
  EXPECT_TRUE(cdp_elements("{}").empty());
}

}  // namespace
}  // namespace reprise::wire
