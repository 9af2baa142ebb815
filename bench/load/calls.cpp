#include "calls.h"

#include <unistd.h>

#include <memory>
#include <vector>

#include "http_reader.h"
#include "net.h"
#include "resp_reader.h"

namespace reprise::load {
namespace {

// After the last call, answers may take this long before the run is called broken.
constexpr double kDrainSeconds = 30;

struct Connection {
  int fd = -1;
  Outbox outbox;
  HttpReader http;
  RespReader resp;
  StringSink body;
  std::uint64_t due = 0;       // when the call under way was to be sent
  std::uint64_t answers = 0;   // RESP replies before this call
  std::uint64_t failures = 0;  // RESP errors before this call
  bool is_busy = false;
  bool is_waiting_to_write = false;
};

class Run {
 public:
  Run(const Options& options, const CallPlan& plan, Stopwatch& watch)
      : options_(options), plan_(plan), watch_(watch), connections_(options.connections) {
    for (std::size_t i = 0; i < connections_.size(); ++i) {
      connections_[i].fd = connect_loopback(options_.port);
      poller_.add(connections_[i].fd, i);
      free_.push_back(i);
    }
  }
  ~Run() {
    for (const auto& connection : connections_) close(connection.fd);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  CallResult go() {
    watch_ = Stopwatch(options_.server);
    start_ = now_ns();
    end_ = options_.count > 0 ? ~std::uint64_t{0}
                              : start_ + static_cast<std::uint64_t>(options_.seconds * 1e9);
    while (true) {
      send_due();
      if (is_over() && free_.size() == connections_.size()) break;
      for (const auto& event : poller_.wait(time_to_wait())) take(event.data.u64);
      if (is_over() && now_ns() > last_sent_ + static_cast<std::uint64_t>(kDrainSeconds * 1e9)) {
        die("answers are missing");
      }
    }
    watch_.stop();
    return std::move(result_);
  }

 private:
  bool is_over() const { return options_.count > 0 ? sent_ >= options_.count : now_ns() >= end_; }
  std::uint64_t due_time(std::uint64_t index) const {
    return start_ + static_cast<std::uint64_t>(static_cast<double>(index) * 1e9 / options_.rate);
  }

  void send_due() {
    while (!free_.empty() && !is_over()) {
      const auto now = now_ns();
      const auto due = options_.rate > 0 ? due_time(sent_) : now;
      if (due > now) return;
      send(free_.back(), due);
    }
  }

  std::int64_t time_to_wait() const {
    constexpr std::int64_t kPatience = 100'000'000;
    if (options_.rate <= 0 || free_.empty() || is_over()) return kPatience;
    const auto now = now_ns();
    const auto due = due_time(sent_);
    return due <= now ? 0 : static_cast<std::int64_t>(due - now);
  }

  void send(std::size_t index, std::uint64_t due) {
    free_.pop_back();
    auto& connection = connections_[index];
    connection.is_busy = true;
    connection.due = due;
    connection.answers = connection.resp.completed();
    connection.failures = connection.resp.errors();
    plan_.write(connection.outbox.bytes(), sent_++);
    last_sent_ = due;
    flush(index);
  }

  void flush(std::size_t index) {
    auto& connection = connections_[index];
    if (!connection.outbox.flush(connection.fd)) return lose(index);
    const bool waits = !connection.outbox.is_empty();
    if (waits != connection.is_waiting_to_write) {
      connection.is_waiting_to_write = waits;
      poller_.watch_writing(connection.fd, index, waits);
    }
  }

  void take(std::size_t index) {
    auto& connection = connections_[index];
    if (connection.is_waiting_to_write) flush(index);
    auto received = receive(connection.fd);
    if (received.is_closed) return lose(index);
    if (options_.target == Target::kRedis) {
      connection.resp.feed(received.bytes);
      if (connection.is_busy &&
          connection.resp.completed() - connection.answers == plan_.answers_per_call) {
        const bool is_good = connection.resp.errors() == connection.failures;
        finish(index, is_good, connection.resp.first_error());
      }
      return;
    }
    connection.http.feed(received.bytes, connection.body);
    if (connection.http.is_broken()) die("the answer is not HTTP");
    if (!connection.http.is_complete()) return;
    const bool is_good = connection.http.status() / 100 == 2;
    if (is_good && plan_.answered) plan_.answered(connection.body.text);
    const auto error =
        is_good ? "" : std::to_string(connection.http.status()) + " " + connection.body.text;
    const bool is_last = connection.http.is_last();
    connection.http.reset();
    connection.body.text.clear();
    if (is_last) {
      close(connection.fd);
      connection.fd = connect_loopback(options_.port);
      poller_.add(connection.fd, index);
    }
    finish(index, is_good, error);
  }

  void finish(std::size_t index, bool is_good, std::string_view error) {
    auto& connection = connections_[index];
    connection.is_busy = false;
    free_.push_back(index);
    if (is_good) {
      ++result_.calls;
      result_.latencies.add(now_ns() - connection.due);
    } else {
      ++result_.errors;
      if (result_.first_error.empty()) result_.first_error = error;
    }
    // Answer by answer, not round by round: the next call leaves before the next answer is looked
    // at.
    send_due();
  }

  // The server closed the connection: an error when a call was under way; a new one takes its
  // place.
  void lose(std::size_t index) {
    auto& connection = connections_[index];
    close(connection.fd);
    const bool was_busy = connection.is_busy;
    connection = Connection{};
    connection.fd = connect_loopback(options_.port);
    poller_.add(connection.fd, index);
    if (!was_busy) return;
    ++result_.errors;
    if (result_.first_error.empty()) result_.first_error = "the server closed the connection";
    if (result_.errors > 1000 && result_.calls == 0) die("the server closes every connection");
    free_.push_back(index);
  }

  const Options& options_;
  const CallPlan& plan_;
  Stopwatch& watch_;
  Poller poller_;
  std::vector<Connection> connections_;
  std::vector<std::size_t> free_;
  CallResult result_;
  std::uint64_t start_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t last_sent_ = 0;
};

}  // namespace

CallResult run_calls(const Options& options, const CallPlan& plan, Stopwatch& watch) {
  return Run(options, plan, watch).go();
}

}  // namespace reprise::load
