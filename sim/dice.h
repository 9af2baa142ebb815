// The only source of chance in a simulation: a seed decides every throw.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace reprise::sim {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    // splitmix64
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  // 0 to count - 1.
  std::uint64_t below(std::uint64_t count) { return next() % count; }
  std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    return low + below(high - low + 1);
  }
  bool one_in(std::uint64_t count) { return below(count) == 0; }
  bool percent(std::uint64_t chance) { return below(100) < chance; }
  template <typename T>
  T& pick(std::vector<T>& from) {
    return from[below(from.size())];
  }
  template <typename T>
  T one_of(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }

 private:
  std::uint64_t state_;
};

}  // namespace reprise::sim
