#include "session/artifacts.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/hash.h"
#include "model/limits.h"
#include "session/testing.h"

namespace reprise::session {
namespace {

using testing::code_of;
using testing::new_session;
using testing::Sessions;

// A file system of its own, and the service over the test world's loops. A second one over the same
// folder and a copy of the store is a restart.
class Artifacts {
 public:
  explicit Artifacts(ArtifactOptions options = {}, const Artifacts* before = nullptr)
      : sessions({}, before != nullptr ? before->sessions.contents() : nullptr,
                 before != nullptr ? before->sessions.world.time.now() : rt::ManualTime().now(),
                 before != nullptr ? 2 : 1),
        owns_directory_(before == nullptr) {
    if (before != nullptr) {
      directory_ = before->directory_;
    } else {
      std::string name =
          (std::filesystem::temp_directory_path() / "reprise-artifacts-XXXXXX").string();
      directory_ = ::mkdtemp(name.data());
    }
    files.emplace(directory_);
    service =
        std::make_unique<ArtifactService>(*sessions.service, *files, sessions.world.pool, options);
  }
  ~Artifacts() {
    sessions.world.is_holding_commits = false;
    sessions.run(closed());
    service.reset();
    if (owns_directory_) std::filesystem::remove_all(directory_);
  }

  rt::Task<Result<ArtifactPut>> put_task(SessionId id, NewArtifact what, std::string content) {
    REPRISE_CO_TRY(auto upload, co_await service->begin(id, std::move(what)));
    for (std::size_t at = 0; at < content.size(); at += 7)
      REPRISE_CO_CHECK(co_await service->write(*upload, content.substr(at, 7)));
    co_return co_await service->finish(std::move(upload));
  }
  Result<ArtifactPut> put(SessionId id, std::string path, std::string content,
                          std::string type = "text/plain") {
    return sessions.run(put_task(id, {.path = std::move(path), .content_type = std::move(type)},
                                 std::move(content)));
  }
  rt::Task<Result<std::string>> content_task(SessionId id, std::string path,
                                             std::optional<std::uint64_t> number) {
    REPRISE_CO_TRY(const auto view, co_await service->look(id, path, number));
    REPRISE_CO_TRY(const auto download, co_await service->open(id, view));
    std::string content(view.version.artifact.size, '\0');
    if (!content.empty()) REPRISE_CO_CHECK(co_await download->read(0, content));
    co_return content;
  }
  Result<std::string> content(SessionId id, std::string path,
                              std::optional<std::uint64_t> number = std::nullopt) {
    return sessions.run(content_task(id, std::move(path), number));
  }
  Result<> remove(SessionId id, std::string path,
                  std::optional<std::uint64_t> number = std::nullopt) {
    return sessions.run(service->remove(id, std::move(path), number, ""));
  }
  Result<ArtifactPage> list(SessionId id, ArtifactQuery query = {}) {
    return sessions.run(service->list(id, std::move(query)));
  }
  Result<> sweep() {
    REPRISE_CHECK(sessions.sweep());
    return sessions.run(service->sweep());
  }
  std::size_t file_count() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_))
      count += entry.is_regular_file() ? 1 : 0;
    return count;
  }
  // Records of artifacts, by the two letters of their table.
  std::size_t records(std::string_view table) {
    std::size_t count = 0;
    for (const auto& record : sessions.records()) count += record.key.starts_with(table) ? 1 : 0;
    return count;
  }
  std::vector<std::string> event_types(SessionId id) {
    std::vector<std::string> types;
    const auto page = sessions.run(sessions.service->events(id, Seq{0}, 1000));
    for (const auto& entry : page->entries)
      types.emplace_back(model::decode_entry(entry.bytes)->type);
    return types;
  }

  Sessions sessions;
  std::optional<store::BlobFiles> files;
  std::unique_ptr<ArtifactService> service;

 private:
  rt::Task<bool> closed() {
    co_await service->close();
    co_return true;
  }
  bool owns_directory_;
  std::string directory_;
};

class ArtifactsTest : public ::testing::Test {
 protected:
  Artifacts artifacts;
  SessionId id = artifacts.sessions.create().state.id;
};

TEST_F(ArtifactsTest, APutMakesTheNextVersionAndOldOnesStay) {
  const auto first = artifacts.put(id, "workspace/a", "one\n");
  ASSERT_TRUE(first) << first.error().detail;
  EXPECT_TRUE(first->is_new_path);
  const auto second = artifacts.put(id, "workspace/a", "two\n");
  EXPECT_FALSE(second->is_new_path);
  EXPECT_EQ(second->view.version.artifact.version, 2U);
  EXPECT_EQ(second->view.versions, 2U);
  EXPECT_EQ(*artifacts.content(id, "workspace/a"), "two\n");
  EXPECT_EQ(*artifacts.content(id, "workspace/a", 1), "one\n");
  EXPECT_EQ(code_of(artifacts.content(id, "workspace/a", 3)), Code::kArtifactNotFound);
  EXPECT_EQ(code_of(artifacts.content(id, "workspace/b")), Code::kArtifactNotFound);
  EXPECT_EQ(artifacts.event_types(id),
            (std::vector<std::string>{"session_created", "artifact_created", "artifact_created",
                                      "diff"}));
}

TEST_F(ArtifactsTest, TheNewestContentAgainIsNoNewVersion) {
  ASSERT_TRUE(artifacts.put(id, "a", "same"));
  const auto again = artifacts.put(id, "a", "same");
  EXPECT_TRUE(again->is_unchanged);
  EXPECT_EQ(again->view.version.artifact.version, 1U);
  EXPECT_EQ(artifacts.event_types(id).size(), 2U);
  ASSERT_TRUE(artifacts.sweep());
  EXPECT_EQ(artifacts.file_count(), 1U);
  // Another type is another version of the same file, and says so without a diff.
  const auto retyped = artifacts.put(id, "a", "same", "text/markdown");
  EXPECT_EQ(retyped->view.version.artifact.version, 2U);
  EXPECT_EQ(artifacts.event_types(id).back(), "artifact_created");
  EXPECT_EQ(artifacts.file_count(), 1U);
}

TEST_F(ArtifactsTest, ChangesLeaveTheRecordsEtagAlone) {
  const auto before = artifacts.sessions.get(id);
  ASSERT_TRUE(artifacts.put(id, "a", "x"));
  const auto after = artifacts.sessions.get(id);
  EXPECT_EQ(after->revision, before->revision);
  EXPECT_EQ(after->state.head.value, 2U);
  EXPECT_EQ(artifacts.sessions.folded(*after), after->state);
}

TEST_F(ArtifactsTest, EqualContentOfManyIsOneFileUntilTheLastGoes) {
  const SessionId other = artifacts.sessions.create().state.id;
  ASSERT_TRUE(artifacts.put(id, "a", "same"));
  ASSERT_TRUE(artifacts.put(id, "b", "same"));
  ASSERT_TRUE(artifacts.put(other, "a", "same"));
  EXPECT_EQ(artifacts.file_count(), 1U);
  EXPECT_EQ(artifacts.records("fr"), 3U);
  ASSERT_TRUE(artifacts.remove(id, "a"));
  ASSERT_TRUE(artifacts.remove(id, "b"));
  ASSERT_TRUE(artifacts.sweep());
  EXPECT_EQ(artifacts.file_count(), 1U);
  EXPECT_EQ(*artifacts.content(other, "a"), "same");
  ASSERT_TRUE(artifacts.sessions.run(artifacts.sessions.service->remove(other)));
  ASSERT_TRUE(artifacts.sweep());
  EXPECT_EQ(artifacts.file_count(), 0U);
  EXPECT_EQ(artifacts.records("fr") + artifacts.records("fg"), 0U);
}

TEST_F(ArtifactsTest, ADeletedSessionLeavesNothing) {
  for (int i = 0; i < 300; ++i)
    ASSERT_TRUE(artifacts.put(id, "workspace/" + std::to_string(i), std::to_string(i)));
  ASSERT_TRUE(artifacts.put(id, "tmp/x", "temporary"));
  EXPECT_EQ(artifacts.file_count(), 301U);
  ASSERT_TRUE(artifacts.sessions.run(artifacts.sessions.service->remove(id)));
  ASSERT_TRUE(artifacts.sweep());
  EXPECT_EQ(artifacts.records("f"), 0U);
  EXPECT_EQ(artifacts.file_count(), 0U);
}

TEST_F(ArtifactsTest, OneVersionMayGoAndNumbersAreNotGivenTwice) {
  for (const char* content : {"1", "2", "3"}) ASSERT_TRUE(artifacts.put(id, "a", content));
  ASSERT_TRUE(artifacts.remove(id, "a", 3));
  EXPECT_EQ(*artifacts.content(id, "a"), "2");
  EXPECT_EQ(code_of(artifacts.remove(id, "a", 3)), Code::kArtifactNotFound);
  EXPECT_EQ(artifacts.put(id, "a", "4")->view.version.artifact.version, 4U);
  ASSERT_TRUE(artifacts.remove(id, "a", 1));
  EXPECT_EQ(*artifacts.content(id, "a"), "4");
  ASSERT_TRUE(artifacts.remove(id, "a", 2));
  ASSERT_TRUE(artifacts.remove(id, "a", 4));
  EXPECT_EQ(code_of(artifacts.content(id, "a")), Code::kArtifactNotFound);
  ASSERT_TRUE(artifacts.sweep());
  EXPECT_EQ(artifacts.file_count(), 0U);
  EXPECT_EQ(artifacts.list(id)->usage.bytes, 0U);
}

TEST_F(ArtifactsTest, ConcurrentPutsOfOnePathMakeVersionsWithoutAGap) {
  std::vector<decltype(artifacts.sessions.start(artifacts.put_task(id, {}, "")))> puts;
  for (int i = 0; i < 40; ++i)
    puts.push_back(artifacts.sessions.start(
        artifacts.put_task(id, {.path = "a"}, "content " + std::to_string(i)),
        static_cast<std::size_t>(i) % 3));
  artifacts.sessions.world.settle();
  std::set<std::uint64_t> numbers;
  for (const auto& put : puts) {
    ASSERT_TRUE(put->has_value() && **put) << (*put)->error().detail;
    numbers.insert((**put)->view.version.artifact.version);
  }
  EXPECT_EQ(numbers.size(), 40U);
  EXPECT_EQ(*numbers.begin(), 1U);
  EXPECT_EQ(*numbers.rbegin(), 40U);
  EXPECT_EQ(artifacts.list(id)->usage.versions, 40U);
}

TEST_F(ArtifactsTest, TemporaryFilesGoWithTheEnd) {
  ASSERT_TRUE(artifacts.put(id, "tmp/a", "1"));
  ASSERT_TRUE(artifacts.put(id, "tmp/a", "2"));
  ASSERT_TRUE(artifacts.put(id, "workspace/b", "kept"));
  ASSERT_TRUE(artifacts.sessions.command(id, model::Close{}));
  EXPECT_EQ(code_of(artifacts.content(id, "tmp/a")), Code::kArtifactNotFound);
  EXPECT_EQ(*artifacts.content(id, "workspace/b"), "kept");
  ASSERT_TRUE(artifacts.sweep());
  EXPECT_EQ(artifacts.file_count(), 1U);
  EXPECT_EQ(artifacts.records("ft"), 0U);
  EXPECT_EQ(artifacts.list(id)->usage.bytes, 4U);
  EXPECT_EQ(code_of(artifacts.put(id, "workspace/b", "new")), Code::kSessionEnded);
  EXPECT_EQ(code_of(artifacts.remove(id, "workspace/b")), Code::kSessionEnded);
}

TEST_F(ArtifactsTest, TemporaryFilesGoWithAReset) {
  ASSERT_TRUE(artifacts.put(id, "tmp/a", "old"));
  ASSERT_TRUE(artifacts.put(id, "workspace/b", "kept"));
  ASSERT_TRUE(artifacts.sessions.run(artifacts.sessions.service->reset(id, "")));
  EXPECT_EQ(code_of(artifacts.content(id, "tmp/a")), Code::kArtifactNotFound);
  EXPECT_EQ(*artifacts.content(id, "workspace/b"), "kept");
  const auto fresh = artifacts.put(id, "tmp/a", "new");
  EXPECT_TRUE(fresh->is_new_path);
  EXPECT_EQ(fresh->view.version.artifact.version, 1U);
  ASSERT_TRUE(artifacts.sweep());
  EXPECT_EQ(*artifacts.content(id, "tmp/a"), "new");
  EXPECT_EQ(artifacts.file_count(), 2U);
}

TEST_F(ArtifactsTest, TemporaryFilesOfASessionThatEndedWithTheProcessGoAtTheStart) {
  ASSERT_TRUE(artifacts.put(id, "tmp/a", "1"));
  artifacts.sessions.world.is_holding_commits = true;
  auto ended = artifacts.sessions.start(
      artifacts.sessions.service->call(id, Call{.action = model::Command(model::Close{})}));
  artifacts.sessions.world.settle();
  // The end is written, and then the process dies.
  artifacts.sessions.world.committer.drain();
  Artifacts restarted({}, &artifacts);
  EXPECT_EQ(restarted.records("ft"), 1U);
  ASSERT_TRUE(restarted.sessions.run(restarted.service->sweep_all()));
  ASSERT_TRUE(restarted.sweep());
  EXPECT_EQ(restarted.records("ft"), 0U);
  EXPECT_EQ(restarted.file_count(), 0U);
}

TEST_F(ArtifactsTest, ACrashBetweenFileAndCommitLeavesAFileThatTheSweepRemoves) {
  ASSERT_TRUE(artifacts.put(id, "kept", "kept"));
  {
    auto blob = artifacts.files->begin();
    ASSERT_TRUE((*blob)->write("lost"));
    auto pin = artifacts.files->place(std::move(*blob));
    ASSERT_TRUE(pin);
    EXPECT_EQ(artifacts.file_count(), 2U);
    // In this process it is about to be referred to: no sweep takes it.
    ASSERT_TRUE(artifacts.sessions.run(artifacts.service->sweep_all()));
    EXPECT_EQ(artifacts.file_count(), 2U);
    // In the next one nobody knows it.
    Artifacts restarted({}, &artifacts);
    ASSERT_TRUE(restarted.sessions.run(restarted.service->sweep_all()));
    EXPECT_EQ(restarted.file_count(), 1U);
    EXPECT_EQ(*restarted.content(id, "kept"), "kept");
    pin->settle();
  }
}

TEST_F(ArtifactsTest, ASweepNeverTakesWhatACommitInFlightIsAboutToReferTo) {
  artifacts.sessions.world.is_holding_commits = true;
  auto put = artifacts.sessions.start(artifacts.put_task(id, {.path = "a"}, "content"));
  artifacts.sessions.world.settle();
  EXPECT_FALSE(put->has_value());
  EXPECT_EQ(artifacts.file_count(), 1U);
  auto swept = artifacts.sessions.start(artifacts.service->sweep_all());
  artifacts.sessions.world.settle();
  ASSERT_TRUE(swept->has_value() && **swept);
  EXPECT_EQ(artifacts.file_count(), 1U);
  artifacts.sessions.world.is_holding_commits = false;
  artifacts.sessions.world.settle();
  ASSERT_TRUE(put->has_value() && **put);
  EXPECT_EQ(*artifacts.content(id, "a"), "content");
}

TEST_F(ArtifactsTest, ContentThatIsDroppedWhileTheSameIsUploadedStays) {
  const SessionId other = artifacts.sessions.create().state.id;
  ASSERT_TRUE(artifacts.put(id, "a", "same"));
  artifacts.sessions.world.is_holding_commits = true;
  auto removed = artifacts.sessions.start(artifacts.service->remove(id, "a", std::nullopt, ""));
  auto put = artifacts.sessions.start(artifacts.put_task(other, {.path = "b"}, "same"));
  artifacts.sessions.world.settle();
  // Both are on their way. The removal becomes durable first, and the garbage is looked at before
  // the upload's commit is.
  artifacts.sessions.world.is_holding_commits = false;
  artifacts.sessions.world.settle();
  ASSERT_TRUE(**removed && **put);
  ASSERT_TRUE(artifacts.sweep());
  EXPECT_EQ(*artifacts.content(other, "b"), "same");
  EXPECT_EQ(artifacts.records("fg"), 0U);
}

TEST_F(ArtifactsTest, AnUploadToASessionThatEndsMeanwhileLeavesNothing) {
  auto upload = artifacts.sessions.run(artifacts.service->begin(id, {.path = "a"}));
  ASSERT_TRUE(artifacts.sessions.run(artifacts.service->write(**upload, "late")));
  ASSERT_TRUE(artifacts.sessions.command(id, model::Close{}));
  EXPECT_EQ(code_of(artifacts.sessions.run(artifacts.service->finish(std::move(*upload)))),
            Code::kSessionEnded);
  ASSERT_TRUE(artifacts.sweep());
  EXPECT_EQ(artifacts.file_count(), 0U);
}

TEST_F(ArtifactsTest, AnUploadUnderWayKeepsItsSessionFromExpiring) {
  auto create = new_session();
  create.ttl_seconds = 2;
  const SessionId mortal = artifacts.sessions.create(std::move(create)).state.id;
  auto upload = artifacts.sessions.run(artifacts.service->begin(mortal, {.path = "a"}));
  for (int second = 0; second < 10; ++second) {
    artifacts.sessions.world.time.advance(Millis{1'000});
    ASSERT_TRUE(artifacts.sessions.run(artifacts.service->write(**upload, "x")));
    ASSERT_TRUE(artifacts.sweep());
  }
  EXPECT_TRUE(artifacts.sessions.run(artifacts.service->finish(std::move(*upload))));
  // One that stalls is no activity.
  auto stalled = artifacts.sessions.run(artifacts.service->begin(mortal, {.path = "b"}));
  artifacts.sessions.world.time.advance(Millis{2'000} + kUploadTouchInterval);
  EXPECT_EQ(code_of(artifacts.sessions.run(artifacts.service->write(**stalled, "x"))),
            Code::kSessionEnded);
}

TEST_F(ArtifactsTest, WhatAFailedCommitMayHaveWrittenIsNotSweptBeforeThatIsKnown) {
  using Outcome = store::MemoryEngine::Outcome;
  for (const Outcome outcome : {Outcome::kApplied, Outcome::kLost}) {
    const bool is_applied = outcome == Outcome::kApplied;
    const std::string path = is_applied ? "applied" : "dropped";
    artifacts.sessions.world.engine->fail_write(1, Code::kNoSpace, outcome);
    EXPECT_EQ(code_of(artifacts.put(id, path, path)), Code::kNoSpace);
    ASSERT_TRUE(artifacts.sessions.run(artifacts.service->sweep()));
    EXPECT_EQ(artifacts.file_count(), is_applied ? 1U : 2U);
    artifacts.sessions.recover();
    ASSERT_TRUE(artifacts.sweep());
    EXPECT_EQ(artifacts.file_count(), 1U);
    EXPECT_EQ(artifacts.content(id, path).has_value(), is_applied);
  }
}

TEST_F(ArtifactsTest, ConditionsAreCheckedAgainstTheNewestVersion) {
  const auto put = [&](NewArtifact what, std::string content) {
    what.path = "a";
    return artifacts.sessions.run(artifacts.put_task(id, std::move(what), std::move(content)));
  };
  EXPECT_EQ(code_of(put({.if_match = "*"}, "x")), Code::kPreconditionFailed);
  ASSERT_TRUE(put({.if_none_match = "*"}, "x"));
  EXPECT_EQ(code_of(put({.if_none_match = "*"}, "y")), Code::kPreconditionFailed);
  const std::string etag = put({}, "y")->view.etag();
  EXPECT_EQ(code_of(put({.if_match = "\"other\""}, "z")), Code::kPreconditionFailed);
  EXPECT_TRUE(put({.if_match = etag}, "z"));
}

TEST_F(ArtifactsTest, KindsStayUnlessTheyAreGiven) {
  const auto put = [&](std::optional<model::ArtifactKind> kind, std::string content) {
    return artifacts.sessions
        .run(artifacts.put_task(id, {.path = "a", .kind = kind}, std::move(content)))
        ->view.version.artifact.kind;
  };
  EXPECT_EQ(put(std::nullopt, "1"), model::ArtifactKind::kOther);
  EXPECT_EQ(put(model::ArtifactKind::kLog, "2"), model::ArtifactKind::kLog);
  EXPECT_EQ(put(std::nullopt, "3"), model::ArtifactKind::kLog);
}

TEST_F(ArtifactsTest, ListsArePagesByPath) {
  for (const char* path : {"b/1", "a", "b/2", "tmp/x", "b"})
    ASSERT_TRUE(artifacts.put(id, path, path));
  ASSERT_TRUE(artifacts.put(id, "b", "again"));
  const auto paths = [&](ArtifactQuery query) {
    std::vector<std::string> found;
    for (;;) {
      const auto page = artifacts.list(id, query);
      for (const auto& view : page->artifacts)
        found.push_back(view.version.artifact.path + ' ' +
                        std::to_string(view.version.artifact.version));
      if (page->next.empty()) return found;
      query.after = page->next;
    }
  };
  using Paths = std::vector<std::string>;
  EXPECT_EQ(paths({}), (Paths{"a 1", "b 2", "b/1 1", "b/2 1", "tmp/x 1"}));
  EXPECT_EQ(paths({.limit = 2}), paths({}));
  EXPECT_EQ(paths({.prefix = "b/"}), (Paths{"b/1 1", "b/2 1"}));
  EXPECT_EQ(paths({.wants_versions = true, .limit = 1}),
            (Paths{"a 1", "b 1", "b 2", "b/1 1", "b/2 1", "tmp/x 1"}));
  EXPECT_EQ(paths({.kind = model::ArtifactKind::kCode}), Paths{});
  EXPECT_EQ(code_of(artifacts.list(id, {.prefix = "x", .after = "a"})), Code::kBadCursor);
}

TEST_F(ArtifactsTest, OnlySmallTextsHaveADiff) {
  ASSERT_TRUE(artifacts.put(id, "a", "1", "application/octet-stream"));
  ASSERT_TRUE(artifacts.put(id, "a", "2", "application/octet-stream"));
  const std::string large(model::kMaxDiffedBytes + 1, 'x');
  ASSERT_TRUE(artifacts.put(id, "b", "1"));
  ASSERT_TRUE(artifacts.put(id, "b", large));
  for (const std::string& type : artifacts.event_types(id)) EXPECT_NE(type, "diff");
  EXPECT_EQ(artifacts.service->probe().diffs, 0U);
}

TEST(ArtifactLimits, OfBytesAndVersionsHold) {
  EXPECT_EQ(ArtifactOptions{}.max_artifact_bytes, kDefaultMaxArtifactBytes);
  EXPECT_EQ(ArtifactOptions{}.max_session_bytes, kDefaultMaxSessionBytes);
  EXPECT_EQ(ArtifactOptions{}.max_session_versions, kMaxVersionsPerSession);
  EXPECT_EQ(ArtifactOptions{}.max_versions_per_artifact, kMaxVersionsPerArtifact);
  EXPECT_EQ(ArtifactOptions{}.max_transfers, kMaxTransfers);
  Artifacts artifacts({.max_artifact_bytes = 10,
                       .max_session_bytes = 25,
                       .max_session_versions = 5,
                       .max_versions_per_artifact = 2});
  const SessionId id = artifacts.sessions.create().state.id;
  EXPECT_EQ(code_of(artifacts.put(id, "a", std::string(11, 'x'))), Code::kBodyTooLarge);
  ASSERT_TRUE(artifacts.put(id, "a", std::string(10, 'x')));
  ASSERT_TRUE(artifacts.put(id, "a", std::string(10, 'y')));
  EXPECT_EQ(code_of(artifacts.put(id, "a", "z")), Code::kQuotaExceeded);
  EXPECT_EQ(code_of(artifacts.put(id, "b", "123456")), Code::kQuotaExceeded);
  ASSERT_TRUE(artifacts.put(id, "b", "12345"));
  EXPECT_EQ(artifacts.list(id)->usage.bytes, 25U);
  // Announced, it is refused before the first byte.
  EXPECT_EQ(code_of(artifacts.sessions.run(
                artifacts.service->begin(id, {.path = "c", .announced_bytes = 1}))),
            Code::kQuotaExceeded);
  ASSERT_TRUE(artifacts.remove(id, "a", 1));
  for (const char* path : {"c", "d", "e"}) ASSERT_TRUE(artifacts.put(id, path, "1"));
  EXPECT_EQ(code_of(artifacts.put(id, "f", "1")), Code::kQuotaExceeded);
  EXPECT_GE(artifacts.service->probe().over_quota, 4U);
  ASSERT_TRUE(artifacts.sweep());
  EXPECT_EQ(artifacts.file_count(), 3U) << "10 bytes, 5 bytes and one file for three paths";
}

TEST(ArtifactLimits, OfASessionHoldForUploadsUnderWayTogether) {
  Artifacts artifacts({.max_session_bytes = 10});
  const SessionId id = artifacts.sessions.create().state.id;
  const SessionId other = artifacts.sessions.create().state.id;
  auto one = artifacts.sessions.run(artifacts.service->begin(id, {.path = "a"}));
  auto two = artifacts.sessions.run(artifacts.service->begin(id, {.path = "b"}));
  auto elsewhere = artifacts.sessions.run(artifacts.service->begin(other, {.path = "c"}));
  ASSERT_TRUE(one && two && elsewhere);
  const auto write = [&](Upload& upload, std::string piece) {
    return artifacts.sessions.run(artifacts.service->write(upload, std::move(piece)));
  };
  EXPECT_TRUE(write(**one, "123456"));
  EXPECT_EQ(code_of(write(**two, "12345")), Code::kQuotaExceeded);
  EXPECT_TRUE(write(**elsewhere, "1234567890"));
  // What is given up makes room.
  one->reset();
  two->reset();
  EXPECT_TRUE(artifacts.put(id, "a", "1234567890"));
}

TEST(ArtifactLimits, OfTransfersHold) {
  Artifacts artifacts({.max_transfers = 2});
  const SessionId id = artifacts.sessions.create().state.id;
  ASSERT_TRUE(artifacts.put(id, "a", "x"));
  auto one = artifacts.sessions.run(artifacts.service->begin(id, {.path = "b"}));
  const auto view = artifacts.sessions.run(artifacts.service->look(id, "a", std::nullopt));
  auto two = artifacts.sessions.run(artifacts.service->open(id, *view));
  ASSERT_TRUE(one && two);
  EXPECT_EQ(code_of(artifacts.content(id, "a")), Code::kOverloaded);
  EXPECT_EQ(code_of(artifacts.put(id, "c", "x")), Code::kOverloaded);
  EXPECT_EQ(artifacts.service->probe().refused_transfers, 2U);
  one->reset();
  EXPECT_TRUE(artifacts.content(id, "a"));
  EXPECT_EQ(artifacts.file_count(), 1U);
}

TEST(ArtifactLimits, OfPagesAndTimes) {
  EXPECT_LE(kDefaultArtifactPageLimit, kMaxArtifactPageLimit);
  EXPECT_LE(kArtifactSweepInterval, std::chrono::seconds{1});
  EXPECT_GT(kArtifactSweepAllRetry, kArtifactSweepInterval);
}

TEST(ArtifactRecords, DecodeWhatTheyEncodeAndNothingElse) {
  const StreamId stream{{1, 2, 3}};
  const StoredVersion version{.artifact = {.path = "a/b",
                                           .version = 7,
                                           .kind = model::ArtifactKind::kNote,
                                           .content_type = "text/plain",
                                           .size = 1ULL << 40,
                                           .sha256 = sha256("x")},
                              .seq = Seq{9},
                              .at = TimePoint{1234},
                              .by = "ci"};
  const std::string key = version_key(stream, "a/b", 7);
  const std::string bytes = encode_version(version);
  const auto decoded = decode_version(key, bytes);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->artifact.path, "a/b");
  EXPECT_EQ(decoded->artifact.size, 1ULL << 40);
  EXPECT_EQ(encode_version(*decoded), bytes);
  const std::string whole = encode_artifact({.newest = version, .last_number = 8, .versions = 3});
  EXPECT_EQ(encode_artifact(*decode_artifact(artifact_key(stream, "a/b"), whole)), whole);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_EQ(code_of(decode_version(key, bytes.substr(0, size))), Code::kCorrupt);
  EXPECT_EQ(code_of(decode_version(key, bytes + "x")), Code::kCorrupt);
  EXPECT_EQ(code_of(decode_version("fv", bytes)), Code::kCorrupt);
  EXPECT_EQ(code_of(decode_artifact("fa", whole)), Code::kCorrupt);
  EXPECT_EQ(code_of(decode_usage("\x01")), Code::kCorrupt);
  EXPECT_EQ(hash_of_garbage_key(garbage_key(sha256("x"))), sha256("x"));
  EXPECT_FALSE(hash_of_garbage_key("fgx"));
}

}  // namespace
}  // namespace reprise::session
