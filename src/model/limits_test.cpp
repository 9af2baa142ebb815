// Every limit of model/limits.h: what reaches it is taken, what passes it is refused.
#include "model/limits.h"

#include <gtest/gtest.h>

#include "model/testing.h"

namespace reprise::model {
namespace {

using Pointers = std::vector<std::string>;

Result<std::vector<Event>> decide_create(const std::function<void(Create&)>& change) {
  Create create = create_command();
  change(create);
  return decide(nullptr, create, kStart);
}

// An object whose minified text has exactly `size` bytes.
std::string object_of(std::size_t size) { return R"({"a":")" + std::string(size - 8, 'x') + "\"}"; }
std::string array_of(std::size_t size) { return R"([")" + std::string(size - 4, 'x') + "\"]"; }

TEST(Limits, AppAndNameOfACreation) {
  EXPECT_TRUE(decide_create([](Create& create) { create.app = std::string(kMaxAppBytes, 'a'); }));
  EXPECT_EQ(decide_create([](Create& create) { create.app = std::string(kMaxAppBytes + 1, 'a'); })
                .error()
                .code,
            Code::kBadKey);
  EXPECT_TRUE(decide_create([](Create& create) { create.name = std::string(kMaxNameBytes, 'n'); }));
  EXPECT_EQ(decide_create([](Create& create) { create.name = std::string(kMaxNameBytes + 1, 'n'); })
                .error()
                .code,
            Code::kBadKey);
}

TEST(Limits, AppAndNameOfAKey) {
  const std::string app(kMaxAppBytes, 'a');
  const std::string name(kMaxNameBytes, 'n');
  EXPECT_TRUE(parse_session_key(app + ":" + name));
  EXPECT_TRUE(parse_session_key(name));
  EXPECT_EQ(parse_session_key(app + "a:" + name).error().code, Code::kBadKey);
  EXPECT_EQ(parse_session_key(app + ":" + name + "n").error().code, Code::kBadKey);
  EXPECT_EQ(parse_session_key(name + "n").error().code, Code::kBadKey);
}

TEST(Limits, Identifiers) {
  const std::string longest(kMaxIdentifierBytes, 'i');
  EXPECT_TRUE(
      decide_create([&](Create& create) { create.graph_id = create.owner_agent = longest; }));
  EXPECT_EQ(invalid_fields(decide_create([&](Create& create) { create.graph_id = longest + "i"; })),
            Pointers{"/graphId"});
  EXPECT_EQ(
      invalid_fields(decide_create([&](Create& create) { create.owner_agent = longest + "i"; })),
      Pointers{"/ownerAgent"});
  const SessionState state = created();
  EXPECT_TRUE(decide(&state, Patch{.owner_agent = longest}, kStart));
  EXPECT_EQ(invalid_fields(decide(&state, Patch{.owner_agent = longest + "i"}, kStart)),
            Pointers{"/ownerAgent"});
}

TEST(Limits, Metadata) {
  const std::string largest = object_of(kMaxMetadataBytes);
  const std::string larger = object_of(kMaxMetadataBytes + 1);
  ASSERT_EQ(largest.size(), kMaxMetadataBytes);
  EXPECT_TRUE(decide_create([&](Create& create) { create.metadata = largest; }));
  EXPECT_EQ(invalid_fields(decide_create([&](Create& create) { create.metadata = larger; })),
            Pointers{"/metadata"});
  const SessionState state = created();
  EXPECT_TRUE(decide(&state, Patch{.metadata = largest}, kStart));
  EXPECT_EQ(invalid_fields(decide(&state, Patch{.metadata = larger}, kStart)),
            Pointers{"/metadata"});
}

TEST(Limits, Steps) {
  ASSERT_EQ(array_of(kMaxStepsBytes).size(), kMaxStepsBytes);
  EXPECT_TRUE(decide_create([](Create& create) { create.steps = array_of(kMaxStepsBytes); }));
  EXPECT_EQ(invalid_fields(
                decide_create([](Create& create) { create.steps = array_of(kMaxStepsBytes + 1); })),
            Pointers{"/steps"});
}

TEST(Limits, Seconds) {
  for (const std::uint64_t seconds : {std::uint64_t{1}, kMaxTtlSeconds})
    EXPECT_TRUE(decide_create(
        [&](Create& create) { create.ttl_seconds = create.max_lifetime_seconds = seconds; }));
  const SessionState state = created();
  EXPECT_TRUE(decide(&state, Patch{.ttl_seconds = kMaxTtlSeconds}, kStart));
  for (const std::uint64_t seconds : {std::uint64_t{0}, kMaxTtlSeconds + 1}) {
    EXPECT_EQ(invalid_fields(decide_create([&](Create& create) { create.ttl_seconds = seconds; })),
              Pointers{"/ttlSeconds"});
    EXPECT_EQ(invalid_fields(
                  decide_create([&](Create& create) { create.max_lifetime_seconds = seconds; })),
              Pointers{"/maxLifetimeSeconds"});
    EXPECT_EQ(invalid_fields(decide(&state, Patch{.ttl_seconds = seconds}, kStart)),
              Pointers{"/ttlSeconds"});
  }
}

TEST(Limits, ReasonsAndErrors) {
  const SessionState state = session_in(Status::kActive);
  const std::string longest(kMaxReasonBytes, 'r');
  const std::string longer = longest + "r";
  EXPECT_TRUE(
      decide(&state, Move{.to = Status::kFailed, .reason = longest, .error = longest}, kStart));
  EXPECT_EQ(invalid_fields(decide(
                &state, Move{.to = Status::kFailed, .reason = longer, .error = longer}, kStart)),
            (Pointers{"/reason", "/error"}));
  EXPECT_TRUE(decide(&state, Cancel{.reason = longest, .error = longest}, kStart));
  EXPECT_EQ(invalid_fields(decide(&state, Cancel{.reason = "", .error = longer}, kStart)),
            Pointers{"/error"});
  for (const Command& command :
       {Command{Pause{.reason = longer}}, Command{Resume{.reason = longer}},
        Command{Close{.reason = longer}}, Command{Reset{.reason = longer}}})
    EXPECT_EQ(invalid_fields(decide(&state, command, kStart)), Pointers{"/reason"});
  for (const Command& command :
       {Command{Pause{.reason = longest}}, Command{Resume{.reason = longest}},
        Command{Close{.reason = longest}}, Command{Reset{.reason = longest}}})
    EXPECT_TRUE(decide(&state, command, kStart));
}

TEST(Limits, EventsOfOneAppend) {
  const SessionState state = created();
  Append append;
  append.events.assign(kMaxEventsPerAppend, client_event("log"));
  EXPECT_EQ(events_of(decide(&state, append, kStart)).size(), kMaxEventsPerAppend);
  append.events.push_back(client_event("log"));
  EXPECT_EQ(invalid_fields(decide(&state, append, kStart)), Pointers{"/events"});
}

}  // namespace
}  // namespace reprise::model
