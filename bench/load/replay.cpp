// Reading a log from its beginning, opening a live stream, and what the disk under it can do.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <vector>

#include "frame_counter.h"
#include "net.h"
#include "options.h"
#include "resp_reader.h"

namespace reprise::load {
namespace {

constexpr int kPatienceMs = 60'000;

// The next bytes of a socket, waited for.
std::string_view next_bytes(int fd) {
  while (true) {
    const auto received = receive(fd);
    if (received.is_closed) return {};
    if (!received.bytes.empty()) return received.bytes;
    pollfd wanted{fd, POLLIN, 0};
    if (poll(&wanted, 1, kPatienceMs) == 0) die("nothing arrives");
  }
}

void send_all(int fd, Outbox& outbox) {
  while (true) {
    if (!outbox.flush(fd)) die("the server closed the connection");
    if (outbox.is_empty()) return;
    pollfd wanted{fd, POLLOUT, 0};
    poll(&wanted, 1, kPatienceMs);
  }
}

struct Replayed {
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
};

// Until the stream says that it is live.
Replayed read_stream(const Options& options, Requests& requests, std::string_view id) {
  const int fd = connect_loopback(options.port);
  Outbox outbox;
  requests.put_stream(outbox.bytes(), id, options.after);
  send_all(fd, outbox);
  HttpReader http;
  FrameCounter frames;
  while (!frames.is_live()) {
    auto bytes = next_bytes(fd);
    if (bytes.empty()) die("the stream ended before it was live");
    http.feed(bytes, frames);
    if (http.is_broken() || (http.has_head() && http.status() != 200)) {
      die("the stream was answered " + std::to_string(http.status()));
    }
  }
  if (frames.gaps() > 0) die("the stream has gaps");
  close(fd);
  return {frames.events(), frames.bytes()};
}

// Durable Streams' catch-up: GET after GET until one says that it reached the tail.
Replayed read_catch_up(const Options& options, Requests& requests, std::string_view id) {
  const int fd = connect_loopback(options.port);
  EventCounter counter;
  std::string offset = "-1";
  while (true) {
    Outbox outbox;
    requests.put_get(outbox.bytes(), std::string(id) + "?offset=" + offset);
    send_all(fd, outbox);
    HttpReader http;
    while (!http.is_complete()) {
      auto bytes = next_bytes(fd);
      if (bytes.empty() || http.is_broken()) die("the answer broke off");
      http.feed(bytes, counter);
    }
    if (http.status() != 200) die("the read was answered " + std::to_string(http.status()));
    if (http.header("stream-up-to-date") == "true") break;
    offset = http.header("stream-next-offset");
  }
  close(fd);
  return {counter.events(), counter.bytes()};
}

Replayed read_ranges(const Options& options, std::string_view id) {
  const int fd = connect_loopback(options.port);
  RespReader reader;
  std::uint64_t total_bytes = 0;
  std::string from = "-";
  for (std::uint64_t page = 1;; ++page) {
    const auto before = reader.elements();
    Outbox outbox;
    put_command(outbox.bytes(), {"XRANGE", id, from, "+", "COUNT", "1000"});
    send_all(fd, outbox);
    while (reader.completed() < page) {
      const auto bytes = next_bytes(fd);
      if (bytes.empty()) die("the server closed the connection");
      total_bytes += bytes.size();
      reader.feed(bytes);
    }
    if (reader.errors() > 0) die(reader.first_error());
    if (reader.elements() - before < 1000) break;
    from = "(" + reader.last_entry_id();
  }
  close(fd);
  return {reader.elements(), total_bytes};
}

Replayed replay_once(const Options& options, Requests& requests, std::string_view id) {
  switch (options.target) {
    case Target::kReprise: return read_stream(options, requests, id);
    case Target::kDurableStreams: return read_catch_up(options, requests, id);
    case Target::kRedis: return read_ranges(options, id);
  }
  die("unknown target");
}

}  // namespace

void run_replay(const Options& options) {
  if (options.ids.empty()) die("replay needs --ids");
  const auto count = options.count == 0 ? 1 : options.count;
  Requests requests(options.target, options.port, options.size);
  Stopwatch watch(options.server);
  Replayed replayed;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto once = replay_once(options, requests, options.ids[0]);
    replayed.events += once.events;
    replayed.bytes += once.bytes;
  }
  watch.stop();
  Report report;
  report.number("calls", static_cast<double>(count));
  report.number("events", static_cast<double>(replayed.events));
  report.number("bytes", static_cast<double>(replayed.bytes));
  report.number("perSecond", static_cast<double>(replayed.events) / watch.seconds());
  watch.report(report);
  report.print();
}

void run_open(const Options& options) {
  if (options.ids.empty()) die("open needs --ids");
  const auto count = options.count == 0 ? 1000 : options.count;
  constexpr std::uint64_t kStep = 7919;
  Requests requests(options.target, options.port, options.size);
  Histogram latencies;
  Stopwatch watch(options.server);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto start = now_ns();
    read_stream(options, requests, options.ids[(i * kStep) % options.ids.size()]);
    latencies.add(now_ns() - start);
  }
  watch.stop();
  Report report;
  report.number("calls", static_cast<double>(count));
  report.number("perSecond", static_cast<double>(count) / watch.seconds());
  report.latency("latency", latencies);
  watch.report(report);
  report.print();
}

void run_disk(const Options& options) {
  std::string path = "disk-probe-XXXXXX";
  const int fd = mkstemp(path.data());
  if (fd < 0) die("cannot write here");
  unlink(path.c_str());
  const std::vector<char> page(4096, 'x');
  Histogram latencies;
  Stopwatch watch(0);
  while (watch.seconds() < options.seconds) {
    const auto start = now_ns();
    if (write(fd, page.data(), page.size()) < 0 || fdatasync(fd) != 0) die("the disk fails");
    latencies.add(now_ns() - start);
  }
  watch.stop();
  close(fd);
  Report report;
  report.number("perSecond", static_cast<double>(latencies.total()) / watch.seconds());
  report.latency("latency", latencies);
  report.print();
}

}  // namespace reprise::load
