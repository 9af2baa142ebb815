// Memory for coroutine frames, kept per thread.
//
// A request makes and ends some ten coroutines whose frames are often over 1 KiB, which is where
// glibc's malloc leaves its fast path: a third of the instructions of an append were spent there.
// Frames have few distinct sizes and live briefly, so a free list per size serves nearly all of
// them. What a thread keeps is bounded (kMaxPooledBytes); the rest goes back to malloc. Under a
// sanitizer every frame comes from malloc, so that its errors are found.
//
// Threads: any. A frame may be freed on another thread than it was made on; it then stays there.
#pragma once

#include <cstddef>

namespace reprise::rt {

void* allocate_frame(std::size_t size);
void free_frame(void* frame, std::size_t size);

}  // namespace reprise::rt
