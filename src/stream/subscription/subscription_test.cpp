#include "stream/subscription/subscription.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/sign.h"
#include "stream/limits.h"
#include "stream/subscription/glob.h"
#include "stream/subscription/links.h"
#include "stream/subscription/messages.h"
#include "stream/subscription/signing.h"

namespace reprise::stream {
namespace {

TEST(Glob, AStarIsOnePartAndTwoAreAnyNumber) {
  EXPECT_TRUE(matches_glob("events/*", "events/a"));
  EXPECT_FALSE(matches_glob("events/*", "events/a/b"));
  EXPECT_FALSE(matches_glob("events/*", "events"));
  EXPECT_TRUE(matches_glob("events/**", "events/a/b"));
  EXPECT_TRUE(matches_glob("events/**", "events"));
  EXPECT_TRUE(matches_glob("**", "anything/at/all"));
  EXPECT_TRUE(matches_glob("**/b/*", "a/b/b/c"));
  EXPECT_FALSE(matches_glob("**/b/*", "a/b"));
  EXPECT_TRUE(matches_glob("a/**/z/**/z", "a/z/z/q/z"));
  EXPECT_FALSE(matches_glob("a*", "ab"));  // a star inside a part is itself
  EXPECT_TRUE(matches_glob("a*", "a*"));
}

TEST(Glob, WhatMatchesBeginsWithTheLiteralPrefix) {
  EXPECT_EQ(literal_prefix("events/*"), "events");
  EXPECT_EQ(literal_prefix("events/**"), "events");  // "events" itself matches
  EXPECT_EQ(literal_prefix("a/b/*/c"), "a/b");
  EXPECT_EQ(literal_prefix("**"), "");
  EXPECT_EQ(literal_prefix("a/b"), "a/b");
  EXPECT_EQ(literal_prefix("a*/b"), "a*/b");
  EXPECT_EQ(literal_prefix("/*"), "");
}

Subscription sample() {
  Subscription one;
  one.id = "s";
  one.config.pattern = "events/*";
  one.config.streams = {"a", "b"};
  one.config.webhook_url = "http://127.0.0.1/hook";
  one.config.description = "";
  one.base_url = "http://localhost:1";
  one.created_at = {5};
  one.generation = 3;
  one.wake_id = "w";
  one.snapshot["a"] = Seq{4};
  one.failures = 2;
  one.retry_at = TimePoint{9};
  return one;
}

TEST(Subscription, IsReadAsItWasWritten) {
  for (const Subscription& one : {Subscription{}, sample()}) {
    const std::string bytes = encode_subscription(one);
    EXPECT_EQ(*decode_subscription(bytes), one);
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_FALSE(decode_subscription(bytes.substr(0, size))) << size;
    EXPECT_FALSE(decode_subscription(bytes + "x"));
  }
}

TEST(Subscription, AWakeFencesWhatIsOld) {
  Subscription one = sample();
  wake(one, {{"a", Seq{2}}}, "w2");
  EXPECT_EQ(one.generation, 4U);
  EXPECT_TRUE(check_fence(one, 4, "w2"));
  EXPECT_FALSE(check_fence(one, 3, "w2"));
  EXPECT_FALSE(check_fence(one, 4, "w"));
  release(one);
  EXPECT_EQ(check_fence(one, 4, "w2").error().code, Code::kFenced);
}

TEST(Subscription, RetriesComeLaterAndLaterUpToAMinute) {
  EXPECT_EQ(retry_delay(1, 0.5), Millis{1'000});
  EXPECT_EQ(retry_delay(2, 0.5), Millis{2'000});
  EXPECT_EQ(retry_delay(7, 0.5), Millis{60'000});
  EXPECT_EQ(retry_delay(1'000, 0.5), Millis{60'000});
  EXPECT_GE(retry_delay(1, 0.0), Millis{800});
  EXPECT_LE(retry_delay(1, 0.999), Millis{1'200});
}

SubscriptionLink linked(std::optional<Seq> acked) {
  return {.is_explicit = true, .is_by_pattern = false, .acked = acked, .stream = {}};
}

TEST(Links, AreReadAsTheyWereWritten) {
  for (const SubscriptionLink& link :
       {linked(std::nullopt), linked(Seq{0}), SubscriptionLink{false, true, Seq{7}, StreamId{}}}) {
    EXPECT_EQ(*decode_link(encode_link(link)), link);
    EXPECT_FALSE(decode_link(encode_link(link) + "x"));
  }
  EXPECT_FALSE(decode_link(""));
  EXPECT_FALSE(decode_link(std::string("\x04\x01\x00", 3)));
  EXPECT_FALSE(decode_link("\x01\x01\x01x"));  // no stream has such an id
}

TEST(Links, KnowWhatIsPendingAsTailsAndAcknowledgementsMove) {
  LinkTable links;
  links.advance_tail("a", Seq{5});  // not linked: nothing
  links.apply({{"a", linked(Seq{2})}, {"b", linked(std::nullopt)}});
  EXPECT_FALSE(links.has_pending());
  links.advance_tail("a", Seq{3});
  links.advance_tail("a", Seq{2});  // late news
  links.advance_tail("b", Seq{0});  // an empty stream
  EXPECT_EQ(links.pending(), std::set<std::string>{"a"});
  links.advance_tail("b", Seq{1});
  EXPECT_EQ(links.snapshot(10), (std::map<std::string, Seq>{{"a", Seq{3}}, {"b", Seq{1}}}));
  EXPECT_EQ(links.snapshot(1).size(), 1U);
  links.apply(links.acknowledge_all({{"a", Seq{3}}, {"gone", Seq{9}}}));
  EXPECT_EQ(links.pending(), std::set<std::string>{"b"});
  links.forget_tail("b");
  EXPECT_FALSE(links.has_pending());
  links.advance_tail("b", Seq{1});
  links.apply({{"b", std::nullopt}});
  EXPECT_FALSE(links.has_pending());
  EXPECT_EQ(links.find("b"), nullptr);
}

TEST(Links, AcknowledgementsGoForwardAllOrNone) {
  LinkTable links;
  links.apply({{"a", linked(Seq{3})}, {"b", linked(std::nullopt)}, {"missing", linked({})}});
  links.advance_tail("a", Seq{5});
  links.advance_tail("b", Seq{2});
  EXPECT_FALSE(links.acknowledge({{"b", Seq{1}}, {"a", Seq{2}}}));
  EXPECT_FALSE(links.acknowledge({{"b", Seq{1}}, {"a", Seq{6}}}));
  EXPECT_FALSE(links.acknowledge({{"b", Seq{1}}, {"c", Seq{1}}}));
  EXPECT_FALSE(links.acknowledge({{"missing", Seq{0}}}));
  EXPECT_FALSE(links.acknowledge({{"b", Seq{2}}, {"b", Seq{1}}}));
  const auto changes = links.acknowledge({{"a", Seq{3}}, {"b", Seq{1}}, {"b", Seq{2}}});
  ASSERT_TRUE(changes);
  links.apply(*changes);
  EXPECT_EQ(links.find("b")->link.acked, Seq{2});
  EXPECT_EQ(links.pending(), std::set<std::string>{"a"});
}

TEST(Messages, AWakeOfManyStreamsTellsOnlyOfThoseWithSomethingNew) {
  Subscription one = sample();
  one.snapshot = {{"s1", Seq{1}}};
  LinkTable links;
  LinkChanges few{{"s1", linked(Seq{0})}, {"s2", linked(Seq{0})}};
  links.apply(few);
  links.advance_tail("s1", Seq{2});
  links.advance_tail("s2", Seq{0});
  const std::string both = streams_of_wake(one, links);
  EXPECT_NE(both.find(R"("s2")"), std::string::npos);
  // At the tail of the snapshot, whatever came since.
  EXPECT_NE(both.find(R"("tail_offset":"0000000000000001_0000000000000000","has_pending":true)"),
            std::string::npos);
  for (std::size_t i = 3; i <= kMaxStreamsTold + 1; ++i) {
    const std::string path = "s" + std::to_string(i);
    links.apply({{path, linked(Seq{0})}});
    links.advance_tail(path, Seq{0});
  }
  const std::string many = streams_of_wake(one, links);
  EXPECT_NE(many.find(R"("s1")"), std::string::npos);
  EXPECT_EQ(many.find(R"("s2")"), std::string::npos);
}

TEST(Messages, TheCallbackOfAnOddIdIsAnAddress) {
  Subscription one = sample();
  one.id = "a/b c\"";
  const std::string body = webhook_body(one, {}, "token");
  EXPECT_NE(body.find("/v1/stream/__ds/subscriptions/a%2Fb%20c%22/callback"), std::string::npos);
  EXPECT_NE(body.find(R"("subscription_id":"a/b c\"")"), std::string::npos);
}

TEST(SubscriptionKeys, TokensAreReadBackAndForgeriesAreNot) {
  const auto keys = SubscriptionKeys::from(std::string(64, 'k'));
  const auto others = SubscriptionKeys::from(std::string(64, 'o'));
  ASSERT_TRUE(keys && others);
  const WakeToken token{"s", 7, TimePoint{1'000}};
  const std::string text = keys->write_token(token);
  EXPECT_EQ(*keys->read_token(text), token);
  EXPECT_EQ(others->read_token(text).error().code, Code::kUnauthorized);
  for (const std::string& bad : {std::string(), std::string("."), text.substr(0, text.find('.')),
                                 text + "A", std::string("x") + text})
    EXPECT_EQ(keys->read_token(bad).error().code, Code::kUnauthorized) << bad;
}

TEST(SubscriptionKeys, AWebhooksSignatureIsOverItsTimeAndBody) {
  const auto keys = SubscriptionKeys::from(std::string(64, 'k'));
  ASSERT_TRUE(keys);
  const auto header = keys->sign_webhook("body", TimePoint{12'345});
  ASSERT_TRUE(header);
  const std::string start = "t=12,kid=" + keys->key_id() + ",ed25519=";
  ASSERT_TRUE(header->starts_with(start)) << *header;
  const auto signature = from_base64url(header->substr(start.size()));
  EXPECT_TRUE(ed25519_verify(keys->public_key(), "12.body", signature.value()));
  EXPECT_FALSE(ed25519_verify(keys->public_key(), "13.body", signature.value()));
  EXPECT_TRUE(keys->key_id().starts_with("ds_"));
}

}  // namespace
}  // namespace reprise::stream
