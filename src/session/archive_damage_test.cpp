// Archives that are damaged, or made by somebody who means no good: refused, and nothing is left.
#include "model/limits.h"
#include "session/archives_testing.h"

namespace reprise::session {
namespace {

using testing::Archives;
using testing::code_of;
using testing::member;
using testing::Members;
using testing::members_of;
using testing::packed;
using testing::packed_anew;
using testing::replace;

constexpr std::string_view kEvents = "events-000001.ndjson";
constexpr std::string_view kArtifacts = "artifacts-000001.ndjson";

class ArchiveDamage : public ::testing::Test {
 protected:
  ArchiveDamage() {
    const SessionId id = here.lively_session().state.id;
    whole = *here.exported(id);
    members = members_of(whole);
  }

  // Its code; nothing of it is left.
  Code refused(std::string bytes) {
    const auto imported = there.import(std::move(bytes));
    detail = imported ? "it was imported" : imported.error().detail;
    EXPECT_FALSE(imported);
    EXPECT_TRUE(there.sessions.list().page.sessions.empty());
    there.expect_nothing_left();
    return code_of(imported);
  }
  // Of an archive whose sums fit.
  Code refused_anew() { return refused(packed_anew(members)); }
  std::string& events() { return member(members, kEvents); }
  std::string& artifacts() { return member(members, kArtifacts); }
  std::string& record() { return member(members, kRecordName); }
  std::string& manifest() { return member(members, kManifestName); }
  std::string line(std::string_view text, std::string_view part) {
    const std::size_t at = text.find(part);
    EXPECT_NE(at, std::string_view::npos) << part;
    const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at) + 1;
    return std::string(text.substr(begin, text.find('\n', at) + 1 - begin));
  }

  Archives here{1};
  Archives there{2};
  std::string whole;
  Members members;
  std::string detail;
};

TEST_F(ArchiveDamage, NothingButTheWholeArchiveIsTaken) {
  EXPECT_EQ(packed_anew(members_of(whole)).size(), whole.size());
  for (std::size_t size = 0; size < whole.size() - 1024; size += 997)
    EXPECT_EQ(refused(whole.substr(0, size)), Code::kBadArchive) << size;
  EXPECT_TRUE(there.import(whole));
}

TEST_F(ArchiveDamage, AFlippedBitIsFound) {
  // Only what nobody reads may change: padding, and what of a header says nothing.
  std::size_t found = 0;
  std::size_t tried = 0;
  for (std::size_t at = 600; at < whole.size() - 1024; at += 499, ++tried) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    const auto imported = there.import(bytes);
    if (imported) {
      EXPECT_EQ(*there.exported(imported->state.id), whole);
      ASSERT_TRUE(there.sessions.run(there.sessions.service->remove(imported->state.id)));
    } else {
      EXPECT_EQ(code_of(imported), Code::kBadArchive) << imported.error().detail;
      ++found;
    }
  }
  EXPECT_GT(found, tried / 3);
  there.expect_nothing_left();
}

TEST_F(ArchiveDamage, WhatIsNoArchiveIsRefused) {
  for (const std::string& bytes : {std::string(), std::string("hello"), std::string(10'240, '\0'),
                                   std::string(100'000, 'x'), packed({})})
    EXPECT_EQ(refused(bytes), Code::kBadArchive);
}

TEST_F(ArchiveDamage, MembersAreThoseThatShouldBeThereAndNoOthers) {
  const Members good = members;
  const auto with = [&](std::size_t place, std::string name) {
    members = good;
    members.emplace(members.begin() + static_cast<std::ptrdiff_t>(place), std::move(name), "{}\n");
    return refused_anew();
  };
  EXPECT_EQ(with(0, "readme.txt"), Code::kBadArchive);
  EXPECT_EQ(with(1, "reprise.json"), Code::kBadArchive);
  EXPECT_EQ(with(2, "../../etc/passwd"), Code::kBadArchive);
  EXPECT_NE(detail.find("../../etc/passwd"), std::string::npos) << detail;
  EXPECT_EQ(with(3, "/etc/passwd"), Code::kBadArchive);
  EXPECT_EQ(with(4, std::string(kEvents)), Code::kBadArchive);
  EXPECT_EQ(with(4, "events-000002.ndjson"), Code::kBadArchive);
  EXPECT_EQ(with(good.size() - 1, "contents/zz"), Code::kBadArchive);
  EXPECT_EQ(with(good.size(), "more.txt"), Code::kBadArchive);
  for (std::size_t missing = 0; missing < good.size(); ++missing) {
    members = good;
    members.erase(members.begin() + static_cast<std::ptrdiff_t>(missing));
    EXPECT_EQ(refused_anew(), Code::kBadArchive) << good[missing].first;
  }
  members = good;
  std::swap(members[4], members[5]);
  EXPECT_EQ(refused_anew(), Code::kBadArchive);
}

TEST_F(ArchiveDamage, SumsMustFit) {
  std::string& sums = member(members, kSumsName);
  sums[70] = sums[70] == 'a' ? 'b' : 'a';
  EXPECT_EQ(refused(packed(members)), Code::kBadArchive);
  EXPECT_NE(detail.find("SHA256SUMS"), std::string::npos) << detail;
  sums += "more\n";
  EXPECT_EQ(refused(packed(members)), Code::kBadArchive);
  sums.clear();
  EXPECT_EQ(refused(packed(members)), Code::kBadArchive);
}

TEST_F(ArchiveDamage, ContentMustBeThatOfItsHash) {
  for (auto& [name, content] : members) {
    if (!name.starts_with("contents/") || content.empty()) continue;
    const std::string good = content;
    content.back() = content.back() == 'x' ? 'y' : 'x';
    EXPECT_EQ(refused_anew(), Code::kBadArchive);
    content = good + "more";
    EXPECT_EQ(refused_anew(), Code::kBadArchive);
    content = good;
  }
}

TEST_F(ArchiveDamage, EventsFollowEachOther) {
  const std::string good = events();
  const auto with = [&](std::string_view from, std::string_view to) {
    events() = good;
    replace(events(), from, to);
    return refused_anew();
  };
  const std::string second = line(good, R"({"seq":2,)");
  EXPECT_EQ(with(second, ""), Code::kBadArchive);
  EXPECT_EQ(with(second, second + second), Code::kBadArchive);
  EXPECT_EQ(with(R"({"seq":2,)", R"({"seq":02,)"), Code::kBadArchive);
  EXPECT_EQ(with(R"({"seq":2,)", R"({"seq":18446744073709551615,)"), Code::kBadArchive);
  EXPECT_EQ(with(R"({"seq":2,)", R"({ "seq":2,)"), Code::kBadArchive);
  EXPECT_EQ(with(R"({"seq":2,)", R"({"x":1,"seq":2,)"), Code::kBadArchive);
  EXPECT_EQ(with(R"("type":"message")", R"("type":"Message")"), Code::kBadArchive);
  EXPECT_EQ(with(R"("type":"message")", R"("type":"session_created")"), Code::kBadArchive);
  // After the reset, which counts anew: the record has one message more.
  const std::string last = line(good, good.substr(good.rfind(R"("type":"message")")));
  std::string other = last;
  replace(other, R"("type":"message")", R"("type":"log")");
  EXPECT_EQ(with(last, other), Code::kBadArchive);
  EXPECT_NE(detail.find("session.json"), std::string::npos) << detail;
  EXPECT_EQ(with(second, second.substr(0, second.size() - 1)), Code::kBadArchive);
  EXPECT_EQ(with(second, "not JSON\n"), Code::kBadArchive);
  EXPECT_EQ(with(second, "\n"), Code::kBadArchive);
  events() = good.substr(0, good.size() - 1);
  EXPECT_EQ(refused_anew(), Code::kBadArchive);
  events() = good + second;
  EXPECT_EQ(refused_anew(), Code::kBadArchive);
  events().clear();
  EXPECT_EQ(refused_anew(), Code::kBadArchive);
}

TEST_F(ArchiveDamage, TimesAreTimes) {
  const std::string good = events();
  for (const char* bad : {"1969-12-31T23:59:59.999Z", "2026-02-30T00:00:00.000Z", "now", ""}) {
    events() = good;
    const std::string second = line(good, R"({"seq":2,)");
    const std::size_t at = second.find("\"at\":\"") + 6;
    std::string changed = second;
    changed.replace(at, 24, bad);
    replace(events(), second, changed);
    EXPECT_EQ(refused_anew(), Code::kBadArchive) << bad;
  }
}

TEST_F(ArchiveDamage, TheAuditMustHold) {
  const std::string good = events();
  replace(events(), R"("toolName":"click")", R"("toolName":"clack")");
  EXPECT_EQ(refused_anew(), Code::kBadArchive);
  events() = good;
  const std::size_t at = good.find("\"hash\":\"") + 8;
  events()[at] = good[at] == '0' ? '1' : '0';
  EXPECT_EQ(refused_anew(), Code::kBadArchive);
  EXPECT_NE(detail.find("hash"), std::string::npos) << detail;
  events() = good;
  events().erase(at - 9, 9 + 65);
  EXPECT_EQ(refused_anew(), Code::kBadArchive);
  events() = good;
  std::string second = line(good, R"({"seq":2,)");
  std::string changed = second;
  changed.insert(changed.size() - 2, R"(,"hash":")" + std::string(64, '0') + '"');
  replace(events(), second, changed);
  EXPECT_EQ(refused_anew(), Code::kBadArchive);
}

TEST_F(ArchiveDamage, TheRecordFollowsFromTheEvents) {
  const std::string good = record();
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"\"status\":\"PAUSED\"", "\"status\":\"ACTIVE\""},
      {"\"app\":\"app\"", "\"app\":\"other\""},
      {"\"messageCount\":2", "\"messageCount\":3"},
      {"\"revision\":", "\"revision\":0"},
      {"\"revision\":", "\"revision\":-"},
      {"\"touchedAt\":\"2", "\"touchedAt\":\"x"},
      {"\"ownerAgent\":\"agent-7\"", "\"ownerAgent\":\"agent-8\""},
      {"{\"id\"", "{\"more\":1,\"id\""},
      {"{\"id\"", "[\"id\""}};
  for (const auto& [from, to] : changes) {
    record() = good;
    replace(record(), from, to);
    EXPECT_EQ(refused_anew(), Code::kBadArchive) << to;
  }
}

TEST_F(ArchiveDamage, TheManifestFitsTheRest) {
  const std::string good = manifest();
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"reprise-session", "something-else"},
      {"\"version\":1", "\"version\":2"},
      {"\"lastSeq\":", "\"lastSeq\":9"},
      {"\"lastSeq\":", "\"lastSeq\":0,\"was\":"},
      {"\"app\":\"app\"", "\"app\":\"other\""},
      {"\"contents\":5", "\"contents\":4"},
      {"\"contents\":5", "\"contents\":18446744073709551615"},
      {"\"contentBytes\":", "\"contentBytes\":1"},
      {"\"artifactVersions\":6", "\"artifactVersions\":5"},
      {"\"artifactVersions\":6", "\"artifactVersions\":7"},
      {"\"artifactVersions\":6", "\"artifactVersions\":0"},
      {"\n", " \n"}};
  for (const auto& [from, to] : changes) {
    manifest() = good;
    replace(manifest(), from, to);
    EXPECT_EQ(refused_anew(), Code::kBadArchive) << to;
  }
  manifest() = good;
  replace(manifest(), "\"artifactVersions\":6", "\"artifactVersions\":18446744073709551615");
  EXPECT_EQ(refused_anew(), Code::kQuotaExceeded);
}

TEST_F(ArchiveDamage, VersionsAreThoseOfTheEvents) {
  const std::string good = artifacts();
  const auto with = [&](std::string_view from, std::string_view to) {
    artifacts() = good;
    replace(artifacts(), from, to);
    return refused_anew();
  };
  EXPECT_EQ(with("\"kind\":\"other\"", "\"kind\":\"code\""), Code::kBadArchive);
  EXPECT_EQ(with("\"kind\":\"other\"", "\"kind\":\"nothing\""), Code::kBadArchive);
  EXPECT_EQ(with("workspace/copy.txt", "workspace/cope.txt"), Code::kBadArchive);
  EXPECT_EQ(with("workspace/copy.txt", "workspace/../copy"), Code::kBadArchive);
  EXPECT_EQ(with("tmp/scratch", "/tmp/scratch"), Code::kBadArchive);
  EXPECT_EQ(with("\"contentType\":\"text/plain\"", "\"contentType\":\"\""), Code::kBadArchive);
  EXPECT_EQ(with("\"by\":\"somebody\"", "\"by\":\"another\""), Code::kBadArchive);
  EXPECT_EQ(with("\"lastVersion\":3", "\"lastVersion\":2"), Code::kBadArchive);
  EXPECT_EQ(with("\"lastVersion\":3", "\"lastVersion\":1"), Code::kBadArchive);
  EXPECT_EQ(with("\"size\":3", "\"size\":4"), Code::kBadArchive);
  const std::string copy = line(good, "workspace/copy.txt");
  EXPECT_EQ(with(copy, copy + copy), Code::kBadArchive);
  EXPECT_EQ(with(copy, ""), Code::kBadArchive);
  // A version that is told of but not listed, where everything else has been made to fit.
  artifacts() = good;
  replace(artifacts(), copy, "");
  replace(manifest(), "\"artifactVersions\":6", "\"artifactVersions\":5");
  EXPECT_EQ(refused_anew(), Code::kBadArchive);
  EXPECT_NE(detail.find("not listed"), std::string::npos) << detail;
}

TEST_F(ArchiveDamage, CheckpointsAreThoseOfTheEvents) {
  std::string& checkpoints = member(members, "checkpoints-000001.ndjson");
  const std::string good = checkpoints;
  const auto with = [&](std::string_view from, std::string_view to) {
    checkpoints = good;
    replace(checkpoints, from, to);
    return refused_anew();
  };
  EXPECT_EQ(with("\"scratch\"", "\"scrotch\""), Code::kBadArchive);
  EXPECT_EQ(with("\"scratch\"", "\"\""), Code::kBadArchive);
  EXPECT_EQ(with("[1,2]", "[1,2,3]"), Code::kBadArchive) << "its event tells another size";
  EXPECT_EQ(with("[1,2]", "[1, 2]"), Code::kBadArchive);
  EXPECT_EQ(with("\"version\":2", "\"version\":1"), Code::kBadArchive);
  EXPECT_EQ(with("\"version\":2", "\"version\":9"), Code::kBadArchive);
  const std::string scratch = line(good, "scratch");
  EXPECT_EQ(with(scratch, scratch + scratch), Code::kBadArchive);
  EXPECT_EQ(with(scratch, ""), Code::kBadArchive);
  // More of them than a session may have, all with events that are not there.
  std::string many;
  for (std::size_t i = 0; i <= kMaxVersionsPerCheckpoint + 1; ++i)
    append_checkpoint_line(
        many, {.name = "a", .version = {.version = i + 1, .seq = Seq{i + 2}}, .last_number = {}},
        "1");
  EXPECT_EQ(with(good, many), Code::kQuotaExceeded);
  many.clear();
  for (std::size_t i = 0; i <= 2 * kMaxCheckpointsPerSession; ++i)
    append_checkpoint_line(many,
                           {.name = fmt::format("n{:06}", i),
                            .version = {.version = 1, .seq = Seq{i + 2}},
                            .last_number = {}},
                           "1");
  EXPECT_EQ(with(good, many), Code::kQuotaExceeded);
}

TEST_F(ArchiveDamage, ADeletedVersionIsNotListed) {
  // What was deleted is listed as if it had not been.
  std::string deletion = line(events(), R"("type":"artifact_deleted")");
  const std::string wanted = "workspace/a.txt";
  ASSERT_NE(deletion.find(wanted), std::string::npos);
  std::string changed = deletion;
  replace(changed, R"("version":3)", R"("version":2)");
  replace(events(), deletion, changed);
  EXPECT_EQ(refused_anew(), Code::kBadArchive);
  EXPECT_NE(detail.find("deleted version 2"), std::string::npos) << detail;
}

TEST_F(ArchiveDamage, QuotasHoldForImportsToo) {
  const auto refused_with = [&](ArtifactOptions options) {
    Archives small(3, options);
    const auto imported = small.import(whole);
    small.expect_nothing_left();
    return code_of(imported);
  };
  EXPECT_EQ(refused_with({.max_artifact_bytes = 15}), Code::kQuotaExceeded);
  EXPECT_EQ(refused_with({.max_session_bytes = 30}), Code::kQuotaExceeded);
  EXPECT_EQ(refused_with({.max_session_versions = 5}), Code::kQuotaExceeded);
  EXPECT_EQ(refused_with({.max_versions_per_artifact = 1}), Code::kQuotaExceeded);
}

TEST_F(ArchiveDamage, MembersHaveAtMostSoManyBytes) {
  const Members good = members;
  const auto with = [&](std::string_view name, std::size_t bytes) {
    members = good;
    member(members, name).append(bytes, ' ');
    return refused_anew();
  };
  EXPECT_EQ(with(kManifestName, kMaxManifestBytes), Code::kBadArchive);
  EXPECT_NE(detail.find("at most"), std::string::npos) << detail;
  EXPECT_EQ(with(kRecordName, kMaxArchivedRecordBytes), Code::kBadArchive);
  EXPECT_NE(detail.find("at most"), std::string::npos) << detail;
  EXPECT_EQ(with(kEvents, kArchiveChunkBytes + kMaxArchiveLineBytes), Code::kBadArchive);
  EXPECT_NE(detail.find("at most"), std::string::npos) << detail;
}

TEST_F(ArchiveDamage, LinesHaveAtMostSoManyBytes) {
  const std::string second = line(events(), R"({"seq":2,)");
  std::string longer = second;
  longer.insert(longer.size() - 2, kMaxArchiveLineBytes, ' ');
  replace(events(), second, longer);
  EXPECT_EQ(refused_anew(), Code::kBadArchive);
  EXPECT_NE(detail.find("line 2 has"), std::string::npos) << detail;
}

}  // namespace
}  // namespace reprise::session
