#include "rt/frame_pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "rt/limits.h"

namespace reprise::rt {
namespace {

TEST(FramePool, GivesMemoryOfEverySizeUpToAndBeyondThePooledOnes) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{64}, std::size_t{65}, kMaxPooledFrame,
                                 kMaxPooledFrame + 1, std::size_t{100'000}}) {
    for (int round = 0; round < 3; ++round) {
      void* frame = allocate_frame(size);
      std::memset(frame, 0xab, size);
      free_frame(frame, size);
    }
  }
}

TEST(FramePool, TwoFramesInUseNeverShareMemory) {
  std::vector<char*> frames;
  for (int i = 0; i < 100; ++i) {
    frames.push_back(static_cast<char*>(allocate_frame(500)));
    std::memset(frames.back(), i, 500);
  }
  for (int i = 0; i < 100; ++i) {
    for (int at = 0; at < 500; ++at) ASSERT_EQ(frames[static_cast<std::size_t>(i)][at], i);
    free_frame(frames[static_cast<std::size_t>(i)], 500);
  }
}

TEST(FramePool, TakesBackMoreThanItKeeps) {
  // Past kMaxPooledBytes frames go to malloc: a leak checker would see one that went nowhere.
  std::vector<void*> frames;
  for (std::size_t bytes = 0; bytes < 2 * kMaxPooledBytes; bytes += 1024)
    frames.push_back(allocate_frame(1024));
  for (void* frame : frames) free_frame(frame, 1024);
}

TEST(FramePool, FreesOnAnotherThreadWhatOneMade) {
  void* frame = allocate_frame(300);
  std::thread([frame] { free_frame(frame, 300); }).join();
  void* next = allocate_frame(300);
  free_frame(next, 300);
}

}  // namespace
}  // namespace reprise::rt
