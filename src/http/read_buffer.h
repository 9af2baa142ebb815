// ReadBuffer: bytes read from a connection and not parsed yet. Its memory is not cleared before a
// read: clearing 4 KiB costs as much as parsing a request.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "base/assert.h"

namespace reprise::http {

class ReadBuffer {
 public:
  bool empty() const { return from_ == until_; }
  std::string_view unread() const { return {bytes_.get() + from_, until_ - from_}; }
  void skip(std::size_t count) { from_ += count; }
  std::size_t capacity() const { return capacity_; }

  // Where the next read may put up to `size` bytes; only while nothing is unread.
  std::span<char> room(std::size_t size) {
    REPRISE_ASSERT(empty(), unread().size());
    if (capacity_ < size) {
      bytes_ = std::make_unique_for_overwrite<char[]>(size);
      capacity_ = size;
    }
    from_ = until_ = 0;
    return {bytes_.get(), size};
  }
  // That many bytes were put there.
  void fill(std::size_t count) { until_ = count; }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t capacity_ = 0;
  std::size_t from_ = 0;
  std::size_t until_ = 0;
};

}  // namespace reprise::http
