// Logs: a LogService on three loops over one engine in memory, for tests of this folder.
//
//     Logs logs;
//     ASSERT_TRUE(logs.create("a", text()));
//     EXPECT_EQ(logs.append("a", body("one"))->tail, Seq{1});
//
// Included by *_test.cpp only.
#pragma once

#include <memory>
#include <string>

#include "base/bytes.h"
#include "stream/log/reader.h"
#include "stream/log/service.h"
#include "stream/testing.h"

namespace reprise::stream::testing {

// Three loops, one engine; a second one over a copy of the first one's engine is a restart.
struct Logs {
  explicit Logs(std::unique_ptr<store::MemoryEngine> contents = nullptr,
                TimePoint start = rt::ManualTime().now(), LogOptions options = {})
      : world(3, std::move(contents)), hubs(world.loops()) {
    world.time.advance(start - world.time.now());
    service = std::make_unique<LogService>(world.loops(), world.store, hubs, world.pool, world.time,
                                           random, options);
  }
  ~Logs() {
    world.is_holding_commits = false;
    world.run(closed());
  }
  rt::Task<bool> closed() {
    co_await service->close();
    co_return true;
  }
  Result<CreatedLog> create(std::string path, CreateLog log = {}) {
    return world.run(service->create(std::move(path), std::move(log)));
  }
  Result<AppendOutcome> append(std::string path, AppendLog append) {
    if (!append.body.empty() && !append.content_type) append.content_type = "text/plain";
    return world.run(service->append(std::move(path), std::move(append)));
  }
  Result<LogView> look(std::string path, bool is_use = false) {
    return world.run(service->look(std::move(path), is_use));
  }
  Result<> remove(std::string path) { return world.run(service->remove(std::move(path))); }
  // Everything a reader sees, appends separated by bars.
  std::string content(const std::string& path) {
    struct Collector final : AppendVisitor {
      std::string text;
      bool visit(Seq, std::string_view entry) override {
        ByteReader reader(entry);
        std::uint64_t count = 0;
        reader.varint(count);
        text += std::string(reader.rest()) + "|";
        return true;
      }
    } collector;
    const LogView view = *look(path);
    store::AsyncStore async(world.store, world.loop(0), world.pool);
    const auto read =
        world.run(read_parts(async, parts_of(view.record, view.tail), {0}, 1 << 20, collector));
    EXPECT_TRUE(read && *read);
    return collector.text;
  }
  Code code(const auto& result) { return result ? Code::kInternal : result.error().code; }
  std::size_t record_count() {
    return world.store.scan({.begin = {}, .end = {}, .limit = 1'000}, store::ReadMode::kBlocking)
        ->records.size();
  }

  World world;
  Hubs hubs;
  SeededRandom random{1};
  std::unique_ptr<LogService> service;
};

inline CreateLog text() { return {.content_type = "text/plain"}; }
inline AppendLog body(std::string bytes) { return {.body = std::move(bytes)}; }

}  // namespace reprise::stream::testing
