// Archives that were written by somebody, not exported: all of it fits, but no server made it.
#include <fmt/format.h>

#include "model/limits.h"
#include "session/archives_testing.h"

namespace reprise::session {
namespace {

using testing::Archives;
using testing::code_of;
using testing::packed_anew;

constexpr std::string_view kEvents = "events-000001.ndjson";

// A session that no server would have made, but whose archive fits together: its record is the one
// that its events lead to.
class ForgedArchive : public ::testing::Test {
 protected:
  Code refused(const std::vector<std::pair<std::string, std::string>>& events,
               std::string created = R"("metadata":{})") {
    model::SessionState state;
    const SessionId id = SessionId::make(TimePoint{1'700'000'000'000}, random);
    std::string lines;
    const auto add = [&](const std::string& type, std::string data) {
      const model::Event event{
          .type = type, .at = TimePoint{1'700'000'000'000}, .data = std::move(data), .by = {}};
      const model::EntryView entry{.type = event.type,
                                   .at = event.at,
                                   .data = event.data,
                                   .by = {},
                                   .counters = {},
                                   .extra = {}};
      append_event_line(lines, state.head.next(), entry);
      const auto folded = model::evolve(state, state.head.next(), entry);
      ASSERT_TRUE(folded) << folded.error().detail;
    };
    add("session_created", R"({"id":")" + id.to_string() +
                               R"(","app":"app","graphId":"app","status":"ACTIVE",)" + created +
                               R"(,"onWorkerLost":"pause"})");
    for (const auto& [type, data] : events) add(type, data);
    const ArchiveManifest manifest{.session = id, .app = "app", .last_seq = state.head};
    const auto imported =
        there.import(packed_anew({{std::string(kManifestName), encode_manifest(manifest)},
                                  {std::string(kRecordName), encode_record(state, {})},
                                  {std::string(kEvents), lines},
                                  {std::string(kSumsName), ""}}));
    detail = imported ? "" : imported.error().detail;
    if (!imported) there.expect_nothing_left();
    return code_of(imported);
  }
  static std::pair<std::string, std::string> question(int number, std::string more = "") {
    return {"input_required",
            fmt::format(R"({{"id":"00000000-0000-7000-8000-{:012}","kind":"confirm"{}}})", number,
                        more)};
  }
  const std::pair<std::string, std::string> pause{
      "status_change", R"({"from":"ACTIVE","to":"PAUSED","pauseReasons":["input"]})"};

  SeededRandom random{5};
  Archives there;
  std::string detail;
};

TEST_F(ForgedArchive, AnHonestOneIsTaken) {
  EXPECT_EQ(refused({{"log", "1"}, question(1), pause}), Code::kInternal) << detail;
}

TEST_F(ForgedArchive, TextsAreThoseThatCouldHaveBeenAskedFor) {
  for (const char* bad :
       {R"("name":"a\u0000b","metadata":{})", R"("ownerAgent":"a\u0000b","metadata":{})",
        R"("ttlSeconds":0,"metadata":{})", R"("ttlSeconds":99999999999,"metadata":{})"})
    EXPECT_EQ(refused({}, bad), Code::kBadArchive) << bad;
  EXPECT_EQ(
      refused({}, R"("metadata":{"a":")" + std::string(model::kMaxMetadataBytes, 'x') + "\"}"),
      Code::kBadArchive);
  EXPECT_EQ(refused({{"session_updated", R"({"ownerAgent":"a\u0000b"})"}}), Code::kBadArchive);
  EXPECT_EQ(
      refused({{"status_change", R"({"from":"ACTIVE","to":"FAILED","pauseReasons":[],"error":")" +
                                     std::string(model::kMaxReasonBytes + 1, 'x') + "\"}"}}),
      Code::kBadArchive);
}

TEST_F(ForgedArchive, ASessionMustBeAbleToGoOn) {
  // A question that nobody waits for, or that is open in a session that has ended: its deadline
  // would move the session where it cannot go.
  EXPECT_EQ(refused({question(1)}), Code::kBadArchive);
  EXPECT_EQ(refused({pause}), Code::kBadArchive);
  EXPECT_EQ(refused({{"status_change", R"({"from":"ACTIVE","to":"COMPLETED","pauseReasons":[]})"},
                     question(1, R"(,"deadlineAt":"2023-11-14T22:13:21.000Z")")}),
            Code::kBadArchive);
  EXPECT_EQ(refused({{"tool_started",
                      R"({"id":"00000000-0000-7000-8000-000000000001","toolName":"a b"})"}}),
            Code::kBadArchive);
  EXPECT_NE(detail.find("toolName"), std::string::npos) << detail;
  std::vector<std::pair<std::string, std::string>> many;
  for (std::size_t i = 0; i <= model::kMaxOpenInteractions; ++i)
    many.push_back(question(static_cast<int>(i)));
  many.push_back(pause);
  EXPECT_EQ(refused(many), Code::kBadArchive);
  EXPECT_EQ(
      refused({question(1, R"(,"prompt":")" + std::string(model::kMaxQuestionBytes, 'x') + '"'),
               pause}),
      Code::kBadArchive);
}

}  // namespace
}  // namespace reprise::session
