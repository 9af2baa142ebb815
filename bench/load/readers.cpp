#include "readers.h"

#include <unistd.h>

namespace reprise::load {
namespace {

constexpr std::uint64_t kOpeningAtOnce = 64;
constexpr double kOpenSeconds = 60;

}  // namespace

Readers::~Readers() {
  for (const auto& reader : readers_) close(reader->fd);
}

void Readers::open_all() {
  if (options_.ids.empty()) die("readers need --ids");
  Requests requests(options_.target, options_.port, options_.size);
  const auto deadline = now_ns() + static_cast<std::uint64_t>(kOpenSeconds * 1e9);
  while (live_ < options_.readers) {
    while (readers_.size() < options_.readers && readers_.size() - live_ < kOpeningAtOnce) {
      auto reader = std::make_unique<Reader>();
      reader->fd = connect_loopback(options_.port);
      Outbox outbox;
      requests.put_stream(outbox.bytes(), options_.ids[readers_.size() % options_.ids.size()],
                          options_.after);
      if (!outbox.flush(reader->fd) || !outbox.is_empty()) die("a reader could not be opened");
      poller_.add(reader->fd, readers_.size());
      readers_.push_back(std::move(reader));
    }
    for (const auto& event : poller_.wait(100'000'000)) take(event.data.u64);
    if (now_ns() > deadline) die("readers do not become live");
  }
  delivered_ = 0;
  reads_ = 0;
  bytes_ = 0;
}

void Readers::take(std::uint64_t index) {
  auto& reader = *readers_[index];
  const auto received = receive(reader.fd);
  if (received.is_closed) die("the server closed a reader");
  if (received.bytes.empty()) return;
  // The time is read after the bytes, so that the copy out of the kernel is part of the latency.
  now_ = now_ns();
  ++reads_;
  bytes_ += received.bytes.size();
  const auto before = reader.frames.events();
  auto bytes = received.bytes;
  reader.http.feed(bytes, reader.frames);
  if (reader.http.has_head() && reader.http.status() != 200) {
    die("a reader was answered " + std::to_string(reader.http.status()));
  }
  delivered_ += reader.frames.events() - before;
  if (!reader.is_live && reader.frames.is_live()) {
    reader.is_live = true;
    ++live_;
  }
}

std::uint64_t Readers::gaps() const {
  std::uint64_t sum = 0;
  for (const auto& reader : readers_) sum += reader->frames.gaps();
  return sum;
}

void Readers::measure(Histogram* latencies) {
  for (const auto& reader : readers_) reader->frames.measure(latencies, &now_);
}

}  // namespace reprise::load
