// Coroutine constructs that g++ 12.2 miscompiles: each case counts constructions and destructions
// of what a co_await expression makes for its own duration. The exit status is the number of the
// first case that is wrong.
#include <coroutine>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

namespace {

int alive = 0;

struct Counted {
  Counted() { ++alive; }
  Counted(const Counted&) { ++alive; }
  Counted(Counted&&) noexcept { ++alive; }
  Counted& operator=(const Counted&) = default;
  Counted& operator=(Counted&&) = default;
  ~Counted() { --alive; }
};

struct Aggregate {
  Counted counted;
  std::string text = "long enough not to be stored inside the object itself";
};

struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::abort(); }
  };
};

struct Ready {
  bool is_ready = true;
  bool await_ready() const { return is_ready; }
  void await_suspend(std::coroutine_handle<> handle) const { handle.resume(); }
  int await_resume() const { return 1; }
};

Ready take_aggregate(const Aggregate&, bool ready) { return Ready{ready}; }
template <typename Function>
Ready take_function(Function function, bool ready) {
  function();
  return Ready{ready};
}

Task aggregate_temporary(bool ready) { co_await take_aggregate(Aggregate{.counted = {}}, ready); }

Task capturing_lambda(bool ready) {
  auto shared = std::make_shared<Counted>();
  co_await take_function([shared, counted = Counted{}] { (void)shared; }, ready);
}

Task conditional(bool ready) {
  const int value = ready ? co_await take_aggregate(Aggregate{}, true)
                          : co_await take_aggregate(Aggregate{}, false);
  (void)value;
}

}  // namespace

int main() {
  for (const bool ready : {true, false}) {
    aggregate_temporary(ready);
    if (alive != 0) return 1;
    capturing_lambda(ready);
    if (alive != 0) return 2;
    conditional(ready);
    if (alive != 0) return 3;
  }
  return 0;
}
