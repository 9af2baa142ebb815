// The output gate, as a type.
//
// Nobody is told about a change before it is durable: not the caller, not a subscriber. So that
// forgetting this does not compile, what answers and publishes takes a Durable<T>, and only a
// store's committer can make one. map() carries the proof along to whatever is derived from the
// committed value.
#pragma once

#include <type_traits>
#include <utility>

namespace reprise::store {

class Committer;

template <typename T>
class Durable {
 public:
  const T& operator*() const& { return value_; }
  T&& operator*() && { return std::move(value_); }
  const T* operator->() const { return &value_; }

  template <typename Function>
  auto map(Function&& function) && -> Durable<std::invoke_result_t<Function, T&&>> {
    return Durable<std::invoke_result_t<Function, T&&>>(
        std::forward<Function>(function)(std::move(value_)));
  }
  // The same proof for another value that the same commit made durable.
  template <typename U>
  Durable<U> with(U other) const {
    return Durable<U>(std::move(other));
  }

 private:
  explicit Durable(T value) : value_(std::move(value)) {}
  T value_;
  friend class Committer;
  template <typename U>
  friend class Durable;
};

}  // namespace reprise::store
