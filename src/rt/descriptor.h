// Descriptor: an open file descriptor, closed when dropped.
#pragma once

#include <unistd.h>

#include <utility>

namespace reprise::rt {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}  // below zero: none
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }
  bool is_valid() const { return number_ >= 0; }
  int number() const { return number_; }
  int release() { return std::exchange(number_, -1); }
  void close() {
    if (is_valid()) ::close(release());
  }

 private:
  int number_ = -1;
};

}  // namespace reprise::rt
