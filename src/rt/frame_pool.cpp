#include "rt/frame_pool.h"

#include <array>
#include <new>
#include <utility>

#include "rt/limits.h"

namespace reprise::rt {
namespace {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kIsPooled = false;
#else
constexpr bool kIsPooled = true;
#endif
#else
constexpr bool kIsPooled = true;
#endif

constexpr std::size_t kStep = 16;
constexpr std::size_t kClasses = kMaxPooledFrame / kStep;

struct FreeFrame {
  FreeFrame* next;
};

// What one thread keeps. Frames freed after the thread's end go to malloc: `is_over` outlives the
// lists, because it is never destroyed.
thread_local bool is_over = false;
struct Lists {
  std::array<FreeFrame*, kClasses> first{};
  std::size_t bytes = 0;
  ~Lists() {
    is_over = true;
    for (FreeFrame* frame : first)
      while (frame != nullptr) ::operator delete(std::exchange(frame, frame->next));
  }
};
thread_local Lists lists;

std::size_t class_of(std::size_t size) { return (size - 1) / kStep; }
std::size_t size_of(std::size_t size_class) { return (size_class + 1) * kStep; }

}  // namespace

void* allocate_frame(std::size_t size) {
  if (!kIsPooled || size > kMaxPooledFrame || is_over) return ::operator new(size);
  const std::size_t size_class = class_of(size);
  FreeFrame*& first = lists.first[size_class];
  if (first == nullptr) return ::operator new(size_of(size_class));
  lists.bytes -= size_of(size_class);
  return std::exchange(first, first->next);
}

void free_frame(void* frame, std::size_t size) {
  if (!kIsPooled || size > kMaxPooledFrame || is_over || lists.bytes + size > kMaxPooledBytes) {
    ::operator delete(frame);
    return;
  }
  const std::size_t size_class = class_of(size);
  lists.bytes += size_of(size_class);
  lists.first[size_class] = new (frame) FreeFrame{lists.first[size_class]};
}

}  // namespace reprise::rt
