// The hub and its readers on real loops, for the races that one thread cannot have (run under
// tsan).
#include "rt/test_loop.h"
#include "store/commit_thread.h"
#include "store/test_support.h"
#include "stream/testing.h"

namespace reprise::stream {
namespace {

constexpr std::size_t kLoops = 3;
constexpr std::size_t kStreams = 4;
constexpr std::size_t kReadersPerStream = 6;

template <typename T>
rt::Task<> fulfil(rt::Task<T> task, std::promise<T>& promise) {
  promise.set_value(co_await std::move(task));
}

TEST(StreamThreads, ReadersThatComeAndGoSeeEverySeqOnceInOrder) {
  SeededRandom seeds(testing::test_seed());
  store::MemoryEngine engine;
  store::Committer committer(engine, [] {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch());
  });
  store::Store store(engine, committer);
  std::vector<std::unique_ptr<rt::LoopThread>> threads;
  std::vector<rt::Loop*> loops;
  for (std::size_t i = 0; i < kLoops; ++i) {
    threads.push_back(std::make_unique<rt::LoopThread>());
    loops.push_back(&threads.back()->loop());
  }
  auto pool = std::make_unique<rt::ThreadPool>(2);
  auto hubs = std::make_unique<Hubs>(loops);
  std::vector<rt::Gate> gates(kLoops);
  auto commits = std::make_unique<store::CommitThread>(committer);
  auto async = std::make_unique<store::AsyncStore>(store, *loops[0], *pool);

  std::vector<std::unique_ptr<SeededRandom>> randoms;  // each is used by one loop at a time
  const auto random = [&]() -> Random& {
    randoms.push_back(std::make_unique<SeededRandom>(seeds.next_u64()));
    return *randoms.back();
  };
  const auto start = [&]<typename T>(std::size_t loop, rt::Task<T> task, std::promise<T>& promise) {
    loops[loop]->post([&gate = gates[loop],
                       whole = std::make_shared<rt::Task<>>(fulfil(std::move(task), promise))] {
      rt::spawn(gate, std::move(*whole));
    });
  };
  std::vector<testing::SharedEnd> ends(kStreams);
  std::vector<std::promise<std::uint64_t>> written(kStreams);
  std::vector<std::promise<std::vector<std::uint64_t>>> read(kStreams * kReadersPerStream);
  for (std::size_t s = 0; s < kStreams; ++s) {
    const StreamId stream = store::testing::stream_id(s + 1);
    for (std::size_t r = 0; r < kReadersPerStream; ++r) {
      const std::size_t loop = (s + r) % kLoops;
      start(loop,
            testing::read_with_breaks(*loops[loop], *hubs, loop, store, *pool, stream, random(),
                                      ends[s]),
            read[s * kReadersPerStream + r]);
    }
    start(0, testing::write_stream(*hubs, *async, stream, 400, random(), ends[s]), written[s]);
  }
  // Reads that must go to the pool, and reads that need not, in turn.
  for (std::size_t s = 0; s < kStreams; ++s) {
    engine.set_cold(s % 2 == 0);
    const std::uint64_t total = rt::await(written[s].get_future());
    for (std::size_t r = 0; r < kReadersPerStream; ++r)
      EXPECT_EQ(rt::await(read[s * kReadersPerStream + r].get_future()), testing::numbers(1, total))
          << "stream " << s << ", reader " << r;
  }
  for (rt::Loop* loop : loops) rt::call_on(*loop, [] {});
  EXPECT_EQ(hubs->probe().subscribers, 0U);
  commits.reset();
  pool.reset();
  for (auto& thread : threads) thread->stop();
}

}  // namespace
}  // namespace reprise::stream
