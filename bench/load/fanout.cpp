// One writer, many live readers; and readers that only wait.
#include <unistd.h>

#include "http_reader.h"
#include "readers.h"

namespace reprise::load {
namespace {

constexpr double kDrainSeconds = 30;

// The writer's connection: one call at a time.
class Writer {
 public:
  Writer(const Options& options, Poller& poller, std::uint64_t index)
      : options_(options),
        poller_(poller),
        index_(index),
        requests_(options.target, options.port, options.size),
        fd_(connect_loopback(options.port)) {
    poller_.add(fd_, index_);
  }
  ~Writer() { close(fd_); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  bool is_idle() const { return is_idle_; }
  std::uint64_t calls() const { return calls_; }
  const Histogram& latencies() const { return latencies_; }

  void send() {
    is_idle_ = false;
    ++calls_;
    sent_at_ = now_ns();
    requests_.put_append(outbox_.bytes(), options_.ids[0], options_.batch, sent_at_);
    flush();
  }

  void take() {
    if (!outbox_.is_empty()) flush();
    auto received = receive(fd_);
    // Node.js closes a connection that was silent for five seconds, which a slow pace is.
    if (received.is_closed && is_idle_) return reconnect();
    if (received.is_closed) die("the server closed the writer");
    http_.feed(received.bytes, body_);
    if (!http_.is_complete()) return;
    if (http_.status() / 100 != 2) die("the writer was answered: " + body_.text);
    latencies_.add(now_ns() - sent_at_);
    if (http_.is_last()) reconnect();
    http_.reset();
    body_.text.clear();
    is_idle_ = true;
  }

 private:
  void reconnect() {
    close(fd_);
    fd_ = connect_loopback(options_.port);
    poller_.add(fd_, index_);
  }
  void flush() {
    if (!outbox_.flush(fd_)) die("the server closed the writer");
    poller_.watch_writing(fd_, index_, !outbox_.is_empty());
  }

  const Options& options_;
  Poller& poller_;
  std::uint64_t index_;
  Requests requests_;
  int fd_;
  Outbox outbox_;
  HttpReader http_;
  StringSink body_;
  Histogram latencies_;
  std::uint64_t sent_at_ = 0;
  std::uint64_t calls_ = 0;
  bool is_idle_ = true;
};

}  // namespace

// Lockstep: with a window of 1 the next call leaves when every reader has had the last one, so that
// every event is delivered by itself and the server cannot save work by coalescing; a larger window
// lets it. With --rate, calls leave at that rate or, if that is later, when the window lets them.
void run_fanout(const Options& options) {
  Poller poller;
  Readers readers(options, poller);
  readers.open_all();
  Writer writer(options, poller, options.readers);
  Histogram latencies;
  readers.measure(&latencies);

  Stopwatch watch(options.server);
  const auto start = now_ns();
  const auto end = start + static_cast<std::uint64_t>(options.seconds * 1e9);
  const auto per_call = options.batch * options.readers;
  while (true) {
    const auto now = now_ns();
    const bool is_over = options.count > 0 ? writer.calls() >= options.count : now >= end;
    const auto sent = writer.calls() * per_call;
    if (is_over && writer.is_idle() && readers.delivered() >= sent) break;
    if (now > end + static_cast<std::uint64_t>(kDrainSeconds * 1e9)) {
      die("deliveries are missing: " + std::to_string(readers.delivered()) + " of " +
          std::to_string(sent));
    }
    std::int64_t patience = 100'000'000;
    const bool has_room = sent + per_call <= readers.delivered() + options.window * per_call;
    if (!is_over && writer.is_idle() && has_room) {
      const auto due = options.rate <= 0
                           ? now
                           : start + static_cast<std::uint64_t>(
                                         static_cast<double>(writer.calls()) * 1e9 / options.rate);
      if (due <= now)
        writer.send();
      else
        patience = static_cast<std::int64_t>(due - now);
    }
    for (const auto& event : poller.wait(patience)) {
      if (event.data.u64 == options.readers)
        writer.take();
      else
        readers.take(event.data.u64);
    }
  }
  watch.stop();
  if (readers.gaps() > 0) die("readers saw gaps");

  Report report;
  report.number("readers", static_cast<double>(options.readers));
  report.number("calls", static_cast<double>(writer.calls()));
  report.number("deliveries", static_cast<double>(readers.delivered()));
  report.number("perSecond", static_cast<double>(readers.delivered()) / watch.seconds());
  report.number("deliveriesPerRead",
                static_cast<double>(readers.delivered()) / static_cast<double>(readers.reads()));
  report.number("bytes", static_cast<double>(readers.bytes()));
  report.latency("latency", latencies);
  report.latency("append", writer.latencies());
  watch.report(report);
  report.print();
}

void run_idle(const Options& options) {
  Poller poller;
  Readers readers(options, poller);
  readers.open_all();
  Report report;
  report.number("readers", static_cast<double>(options.readers));
  report.print();
  // Whoever started this closes our standard input when it has looked at the server.
  constexpr std::uint64_t kInput = ~std::uint64_t{0};
  poller.add(STDIN_FILENO, kInput);
  while (true) {
    for (const auto& event : poller.wait(-1)) {
      if (event.data.u64 == kInput) return;
      readers.take(event.data.u64);
    }
  }
}

}  // namespace reprise::load
