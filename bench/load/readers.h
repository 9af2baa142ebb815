// Many live SSE readers on one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "frame_counter.h"
#include "net.h"
#include "options.h"

namespace reprise::load {

class Readers {
 public:
  Readers(const Options& options, Poller& poller) : options_(options), poller_(poller) {}
  ~Readers();
  Readers(const Readers&) = delete;
  Readers& operator=(const Readers&) = delete;

  // Opens the readers, spread over the ids, and returns when all of them are live. A few at a time,
  // so that the server's accept queue is not what is measured.
  void open_all();
  // Bytes for the reader the poller named.
  void take(std::uint64_t index);
  // Events all readers have had since open_all().
  std::uint64_t delivered() const { return delivered_; }
  std::uint64_t gaps() const;
  std::uint64_t reads() const { return reads_; }
  std::uint64_t bytes() const { return bytes_; }
  void measure(Histogram* latencies);

 private:
  struct Reader {
    int fd = -1;
    bool is_live = false;
    HttpReader http;
    FrameCounter frames;
  };
  const Options& options_;
  Poller& poller_;
  std::vector<std::unique_ptr<Reader>> readers_;
  std::uint64_t live_ = 0;
  std::uint64_t delivered_ = 0;
  std::uint64_t reads_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t now_ = 0;
};

}  // namespace reprise::load
