// What the tests of archives share: a server's worth of services over loops that a test turns, and
// archives taken apart and put together again.
//
//     Archives here;
//     Archives there;
//     const SessionView lived = here.lively_session();
//     ASSERT_TRUE(there.import(*here.exported(lived.state.id)));
//
// Included by *_test.cpp only.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "session/archives.h"
#include "session/checkpoints.h"
#include "session/inputs.h"
#include "session/testing.h"
#include "session/tool_calls.h"
#include "wire/tar.h"

namespace reprise::session::testing {

// A member's name and bytes.
using Members = std::vector<std::pair<std::string, std::string>>;

inline Members members_of(std::string_view archive) {
  Members members;
  wire::TarReader reader([&archive](std::span<char> buffer) -> Result<std::size_t> {
    const std::size_t count = archive.copy(buffer.data(), buffer.size());
    archive.remove_prefix(count);
    return count;
  });
  for (;;) {
    const auto next = reader.next();
    EXPECT_TRUE(next) << next.error().detail;
    if (!next || !*next) return members;
    std::string bytes((*next)->size, '\0');
    for (std::size_t filled = 0; filled < bytes.size();) {
      const auto count = reader.read(std::span(bytes).subspan(filled));
      if (!count || *count == 0) return members;
      filled += *count;
    }
    members.emplace_back((*next)->name, std::move(bytes));
  }
}

inline std::string packed(const Members& members) {
  std::string bytes;
  wire::TarWriter writer(TimePoint{}, [&bytes](std::string_view piece) {
    bytes += piece;
    return Result<>{};
  });
  for (const auto& [name, content] : members) {
    EXPECT_TRUE(writer.begin(name, content.size()));
    EXPECT_TRUE(writer.write(content));
  }
  EXPECT_TRUE(writer.finish());
  return bytes;
}

// With sums that fit: somebody who changes an archive knows how to do that.
inline std::string packed_anew(Members members) {
  std::string sums;
  for (auto& [name, content] : members) {
    if (name == kSumsName)
      content = sums;
    else
      sums += sum_line(sha256(content), name);
  }
  return packed(members);
}

inline std::string& member(Members& members, std::string_view name) {
  for (auto& [its_name, content] : members)
    if (its_name == name) return content;
  ADD_FAILURE() << "there is no " << name;
  return members.front().second;
}

// Replaces the first occurrence, which must be there.
inline void replace(std::string& text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
}

// What a process has left when the next one starts.
struct LeftBehind {
  std::unique_ptr<store::MemoryEngine> contents = nullptr;
  std::string directory = {};  // empty: a new one
};

class Archives {
 public:
  explicit Archives(std::uint64_t seed = 1, ArtifactOptions artifact_options = {},
                    ArchiveOptions options = {}, LeftBehind before = {})
      : sessions({}, std::move(before.contents), rt::ManualTime().now(), seed),
        directory(std::move(before.directory)),
        owns_directory_(directory.empty()) {
    if (owns_directory_) {
      std::string name =
          (std::filesystem::temp_directory_path() / "reprise-archives-XXXXXX").string();
      directory = ::mkdtemp(name.data());
    }
    files.emplace(directory);
    artifacts.emplace(*sessions.service, *files, sessions.world.pool, artifact_options);
    calls.emplace(*sessions.service);
    checkpoints.emplace(*sessions.service);
    inputs.emplace(*sessions.service);
    service.emplace(*sessions.service, *artifacts, options);
  }
  ~Archives() {
    sessions.world.is_holding_commits = false;
    sessions.run(closed());
    if (owns_directory_) std::filesystem::remove_all(directory);
  }

  void put(SessionId id, std::string path, std::string content) {
    const auto made = sessions.run(put_task(id, std::move(path), std::move(content)));
    EXPECT_TRUE(made) << made.error().detail;
  }
  void remove(SessionId id, std::string path, std::optional<std::uint64_t> version = {}) {
    const auto removed = sessions.run(artifacts->remove(id, std::move(path), version, "somebody"));
    EXPECT_TRUE(removed) << removed.error().detail;
  }
  model::ToolCallId start_tool(SessionId id, std::string tool) {
    const auto made = sessions.run(calls->start(
        id, {.id = {}, .tool_name = std::move(tool), .input_summary = {}, .by = "agent"}));
    EXPECT_TRUE(made) << made.error().detail;
    return made->id;
  }
  void run_tool(SessionId id, std::string tool) {
    const auto call = start_tool(id, std::move(tool));
    EXPECT_TRUE(sessions.run(calls->finish(id, {.id = call,
                                                .status = model::ToolCallStatus::kSuccess,
                                                .output_summary = {},
                                                .error = {},
                                                .by = {}})));
  }
  model::InteractionId ask(SessionId id, std::optional<std::uint64_t> deadline_ms = {}) {
    model::Ask ask;
    ask.id = model::InteractionId::make(sessions.world.time.now(), sessions.random);
    ask.kind = model::InteractionKind::kWaitForInput;
    ask.prompt = "Which colour?";
    ask.deadline_ms = deadline_ms;
    const auto asked = sessions.command(id, ask);
    EXPECT_TRUE(asked) << asked.error().detail;
    return ask.id;
  }
  void answer(SessionId id, model::InteractionId question) {
    const auto answered = sessions.command(id, model::Respond{.id = question, .input = "\"blue\""});
    EXPECT_TRUE(answered) << answered.error().detail;
  }

  void save(SessionId id, std::string name, std::string data) {
    const auto saved = sessions.run(
        checkpoints->put(id, {.name = std::move(name), .data = std::move(data), .by = "agent"}));
    EXPECT_TRUE(saved) << saved.error().detail;
  }
  void submit(SessionId id, std::string data, model::WhenBusy when_busy) {
    const auto taken = sessions.run(inputs->submit(
        id, {.id = {}, .data = std::move(data), .when_busy = when_busy, .by = "person"}));
    EXPECT_TRUE(taken) << taken.error().detail;
  }

  // A session in which everything happened that can: a reset, questions, tool calls, artifacts with
  // versions, some of them deleted, checkpoints, inputs and one that was rolled back.
  SessionView lively_session(std::string name = "lively") {
    model::Create create = new_session(std::move(name));
    create.owner_agent = "agent-7";
    create.ttl_seconds = 3'600;
    create.metadata = R"({"team":"blue","ratio":1.50})";
    const SessionId id = sessions.create(create).state.id;
    EXPECT_TRUE(sessions.append(id, 3));
    run_tool(id, "click");
    answer(id, ask(id));
    put(id, "workspace/before.txt", "before the reset");
    put(id, "tmp/gone.txt", "goes with the reset");
    sessions.world.time.advance(Millis{5'000});
    EXPECT_TRUE(sessions.run(sessions.service->reset(id, "again")));
    EXPECT_TRUE(sessions.append(id, 2));
    put(id, "workspace/a.txt", "one");
    put(id, "workspace/a.txt", "two");
    put(id, "workspace/a.txt", "three");
    remove(id, "workspace/a.txt", 3);
    put(id, "workspace/copy.txt", "one");
    put(id, "workspace/deleted.txt", "x");
    remove(id, "workspace/deleted.txt");
    put(id, "workspace/empty", "");
    put(id, "tmp/scratch", "still here");
    save(id, "plan", R"({"step":1})");
    save(id, "plan", R"({"step":2})");
    save(id, "scratch", "[1,2]");
    submit(id, "\"first\"", model::WhenBusy::kEnqueue);
    save(id, "plan", R"({"step":3})");
    submit(id, "\"instead\"", model::WhenBusy::kRollback);
    submit(id, "\"later\"", model::WhenBusy::kEnqueue);
    run_tool(id, "type");
    start_tool(id, "wait");
    answer(id, ask(id));
    ask(id, 60'000);
    EXPECT_TRUE(sessions.call(id, MergePatch{.metadata = R"({"step":2})"}));
    sessions.world.time.advance(Millis{1'000});
    EXPECT_TRUE(sessions.call(id, Touch{.is_explicit = true}));
    return *sessions.get(id);
  }

  Result<std::string> exported(SessionId id) { return sessions.run(export_task(id)); }
  rt::Task<Result<SessionView>> import_task(std::string bytes, ImportTerms terms) {
    REPRISE_CO_TRY(auto archive, co_await service->begin_import());
    constexpr std::size_t kPiece = 10'000;
    for (std::size_t at = 0; at < bytes.size(); at += kPiece)
      REPRISE_CO_CHECK(co_await service->write(*archive, bytes.substr(at, kPiece)));
    co_return co_await service->import_session(std::move(archive), std::move(terms));
  }
  Result<SessionView> import(std::string bytes, ImportTerms terms = {}) {
    return sessions.run(import_task(std::move(bytes), std::move(terms)));
  }

  // Everything that time would do.
  void sweep() {
    EXPECT_TRUE(sessions.run(service->sweep()));
    EXPECT_TRUE(sessions.sweep());
    EXPECT_TRUE(sessions.run(artifacts->sweep()));
  }
  std::size_t file_count() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory))
      count += entry.is_regular_file() ? 1 : 0;
    return count;
  }
  // Records by the first letters of their keys.
  std::size_t records(std::string_view table) {
    std::size_t count = 0;
    for (const auto& record : sessions.records()) count += record.key.starts_with(table) ? 1 : 0;
    return count;
  }
  // Nothing but apps, which outlive their sessions.
  void expect_nothing_left() {
    sweep();
    std::string left;
    for (const auto& record : sessions.records())
      if (record.key[0] != 'N') left += to_hex(record.key) + '\n';
    EXPECT_EQ(left, "");
    EXPECT_EQ(file_count(), 0U);
  }

  Sessions sessions;
  std::string directory;
  std::optional<store::BlobFiles> files;
  std::optional<ArtifactService> artifacts;
  std::optional<ToolCalls> calls;
  std::optional<Checkpoints> checkpoints;
  std::optional<Inputs> inputs;
  std::optional<ArchiveService> service;

 private:
  rt::Task<Result<ArtifactPut>> put_task(SessionId id, std::string path, std::string content) {
    REPRISE_CO_TRY(auto upload, co_await artifacts->begin(id, {.path = std::move(path),
                                                               .content_type = "text/plain",
                                                               .by = "somebody"}));
    REPRISE_CO_CHECK(co_await artifacts->write(*upload, std::move(content)));
    co_return co_await artifacts->finish(std::move(upload));
  }
  rt::Task<Result<std::string>> export_task(SessionId id) {
    REPRISE_CO_TRY(const auto archive, co_await service->export_session(id));
    std::string bytes(archive->size(), '\0');
    REPRISE_CO_CHECK(co_await archive->read(0, bytes));
    co_return bytes;
  }
  rt::Task<bool> closed() {
    co_await artifacts->close();
    co_return true;
  }
  bool owns_directory_;
};

}  // namespace reprise::session::testing
