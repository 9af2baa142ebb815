#include "stream/hub.h"

#include <algorithm>

#include "base/assert.h"
#include "stream/limits.h"

namespace reprise::stream {

const LiveBatch::Encoded& LiveBatch::encoded(const FrameFormat& format) const {
  for (const auto& [known, encoded] : encodings_)
    if (known->writes_like(format)) return encoded;
  auto bytes = std::make_shared<std::string>();
  Encoded encoded;
  Seq seq = batch_->first;
  for (const std::string& entry : batch_->entries) {
    encoded.starts.push_back(bytes->size());
    format.append_entry(*bytes, seq, entry);
    seq = seq.next();
  }
  format.finish_batch(*bytes, batch_->last());
  encoded.bytes = std::move(bytes);
  encodings_.emplace_back(&format, std::move(encoded));
  return encodings_.back().second;
}

Hub::Hub(Hubs& all, std::size_t index, rt::Loop& loop)
    : all_(all),
      index_(index),
      loop_(loop),
      inbox_(loop, kMaxHubMailbox, [this](std::vector<Message> messages) {
        for (const Message& message : messages) deliver(message);
      }) {}

Hub::~Hub() = default;

rt::Task<bool> Hub::subscribe(StreamId stream, std::size_t home, Subscriber& subscriber) {
  REPRISE_ASSERT(loop_.is_current());
  auto& readers = local_[stream];
  readers.push_back(&subscriber);
  subscribers_.fetch_add(1, std::memory_order_relaxed);
  if (home == index_) {
    add_interest(stream, index_);
    co_return true;
  }
  // Also when this loop is known to watch already: that another reader's request is still on its
  // way is nothing this one may rely on.
  Hub& home_hub = all_.at(home);
  if (!co_await rt::switch_to(home_hub.loop_)) {
    unsubscribe(stream, home, subscriber);
    co_return false;
  }
  home_hub.add_interest(stream, index_);
  co_await rt::return_to(loop_);
  co_return true;
}

void Hub::unsubscribe(StreamId stream, std::size_t home, Subscriber& subscriber) {
  REPRISE_ASSERT(loop_.is_current());
  const auto found = local_.find(stream);
  if (found == local_.end()) return;
  auto& readers = found->second;
  const auto place = std::find(readers.begin(), readers.end(), &subscriber);
  if (place == readers.end()) return;
  *place = readers.back();
  readers.pop_back();
  subscribers_.fetch_sub(1, std::memory_order_relaxed);
  if (!readers.empty()) return;
  local_.erase(found);
  Hub& home_hub = all_.at(home);
  if (home == index_) {
    home_hub.drop_interest(stream, index_);
    return;
  }
  // Posts from one loop to another keep their order, so a reader that comes after this one has its
  // interest noted after this one's is dropped.
  home_hub.loop_.post(
      [&home_hub, stream, index = index_] { home_hub.drop_interest(stream, index); });
}

void Hub::add_interest(StreamId stream, std::size_t loop_index) {
  interest_[stream] |= std::uint64_t{1} << loop_index;
}

void Hub::drop_interest(StreamId stream, std::size_t loop_index) {
  const auto found = interest_.find(stream);
  if (found == interest_.end()) return;
  found->second &= ~(std::uint64_t{1} << loop_index);
  if (found->second == 0) interest_.erase(found);
}

void Hub::publish(store::Durable<std::shared_ptr<const Batch>> batch) {
  const StreamId stream = (*batch)->stream;
  if (!interest_.contains(stream)) return;
  batches_.fetch_add(1, std::memory_order_relaxed);
  send(stream, Message{Message::Kind::kBatch, stream, *batch, nullptr, {}});
}

void Hub::publish_gap(StreamId stream) {
  send(stream, Message{Message::Kind::kGap, stream, nullptr, nullptr, {}});
}

void Hub::publish_ephemeral(StreamId stream, SharedBytes event_json) {
  send(stream, Message{Message::Kind::kEphemeral, stream, nullptr, std::move(event_json), {}});
}

void Hub::publish_removed(StreamId stream, std::string reason) {
  send(stream, Message{Message::Kind::kRemoved, stream, nullptr, nullptr, std::move(reason)});
}

void Hub::publish_end(StreamId stream, Seq at, std::string reason) {
  send(stream, Message{Message::Kind::kEnd, stream, nullptr, nullptr, std::move(reason), at});
}

void Hub::send(StreamId stream, const Message& message) {
  REPRISE_ASSERT(loop_.is_current());
  const auto found = interest_.find(stream);
  if (found == interest_.end()) return;
  const std::uint64_t loops = found->second;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if ((loops >> i & 1) == 0) continue;
    Hub& hub = all_.at(i);
    if (&hub == this) {
      deliver(message);
      continue;
    }
    if (hub.inbox_.try_send(Message(message))) continue;
    overflows_.fetch_add(1, std::memory_order_relaxed);
    // An ephemeral event may be dropped; anything else sends that loop's readers back to the store.
    if (message.kind == Message::Kind::kEphemeral) continue;
    // Sessions end once in a while: these need no bound of their own.
    const bool ends = message.kind == Message::Kind::kBatch && message.batch->is_end;
    if (ends || message.kind == Message::Kind::kEnd || message.kind == Message::Kind::kRemoved) {
      hub.loop_.post([&hub, message] { hub.deliver(message); });
      continue;
    }
    if (!hub.gap_is_scheduled_.exchange(true)) hub.loop_.post([&hub] { hub.gap_everywhere(); });
  }
}

void Hub::deliver(const Message& message) {
  const auto found = local_.find(message.stream);
  if (found == local_.end()) return;
  // Subscribers do not subscribe or unsubscribe inside these calls: they note what happened and
  // write.
  auto& readers = found->second;
  deliveries_.fetch_add(readers.size(), std::memory_order_relaxed);
  switch (message.kind) {
    case Message::Kind::kBatch: {
      const LiveBatch live(message.batch);
      for (Subscriber* reader : readers) reader->on_batch(live);
      break;
    }
    case Message::Kind::kEphemeral:
      for (Subscriber* reader : readers) reader->on_ephemeral(message.ephemeral);
      break;
    case Message::Kind::kGap:
      for (Subscriber* reader : readers) reader->on_gap();
      break;
    case Message::Kind::kEnd:
      for (Subscriber* reader : readers) reader->on_end(message.at, message.reason);
      break;
    case Message::Kind::kRemoved:
      for (Subscriber* reader : readers) reader->on_removed(message.reason);
      break;
  }
}

void Hub::gap_everywhere() {
  gap_is_scheduled_ = false;
  for (auto& [stream, readers] : local_)
    for (Subscriber* reader : readers) reader->on_gap();
}

HubProbe Hub::probe() const {
  return {batches_.load(std::memory_order_relaxed), deliveries_.load(std::memory_order_relaxed),
          overflows_.load(std::memory_order_relaxed), subscribers_.load(std::memory_order_relaxed)};
}

Hubs::Hubs(const std::vector<rt::Loop*>& loops) {
  REPRISE_ASSERT(!loops.empty() && loops.size() <= kMaxLoops, loops.size());
  for (std::size_t i = 0; i < loops.size(); ++i)
    hubs_.push_back(std::make_unique<Hub>(*this, i, *loops[i]));
}

HubProbe Hubs::probe() const {
  HubProbe sum;
  for (const auto& hub : hubs_) {
    const HubProbe one = hub->probe();
    sum.batches += one.batches;
    sum.deliveries += one.deliveries;
    sum.overflows += one.overflows;
    sum.subscribers += one.subscribers;
  }
  return sum;
}

}  // namespace reprise::stream
