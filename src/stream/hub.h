// The tail hub: how an event that has just become durable reaches everybody who is watching.
//
// Every loop has a Hub. A stream's home loop publishes a batch once; the batch travels as one
// shared object to each loop that has readers of that stream, and each of those hubs hands it to
// its own readers. Nothing is lost, doubled or reordered, because of three rules:
//
//  1. A reader subscribes before it reads the store. subscribe() returns only when the home loop
//  knows, so every
//     batch published later reaches the reader, and everything earlier is in the store.
//  2. A batch carries sequence numbers. A reader takes what follows its cursor, drops what it has,
//  and goes back to
//     the store when there is a gap.
//  3. If a loop cannot take a batch (its mailbox is full), its readers are told to go back to the
//  store. What the store cannot tell them, that a stream has ended or is gone, is posted all the
//  same.
//
// Only durable entries can be published: publish() takes a store::Durable. Ephemeral events have
// their own entrance.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "rt/loop.h"
#include "rt/mailbox.h"
#include "rt/task.h"
#include "store/durable.h"

namespace reprise::stream {

// Entries of one stream that one commit made durable.
struct Batch {
  StreamId stream;
  Seq first;
  std::vector<std::string> entries;  // stored form; first, first + 1, ...
  // Whether the stream has ended with the last of these (it may be opened again by a later batch).
  bool is_end = false;
  std::string end_reason;
  Seq last() const { return {first.value + entries.size() - 1}; }
};

// How a face shows stored entries to its readers.
class FrameFormat {
 public:
  virtual ~FrameFormat() = default;
  virtual void append_entry(std::string& out, Seq seq, std::string_view entry) const = 0;
  // After the last entry of a live batch: whoever has it is up to date.
  virtual void finish_batch(std::string&, Seq) const {}
  // Whether the other would write the same bytes now, so that its readers may have these.
  virtual bool writes_like(const FrameFormat& other) const { return this == &other; }
};

using SharedBytes = std::shared_ptr<const std::string>;

// A batch as one loop sees it: encoded at most once per format for all readers there.
class LiveBatch {
 public:
  explicit LiveBatch(std::shared_ptr<const Batch> batch) : batch_(std::move(batch)) {}
  const Batch& batch() const { return *batch_; }
  struct Encoded {
    SharedBytes bytes;
    std::vector<std::size_t> starts;  // where each entry's frame begins
  };
  const Encoded& encoded(const FrameFormat& format) const;

 private:
  std::shared_ptr<const Batch> batch_;
  mutable std::vector<std::pair<const FrameFormat*, Encoded>> encodings_;
};

// Somebody who watches a stream. All calls come on the subscriber's loop.
class Subscriber {
 public:
  virtual ~Subscriber() = default;
  virtual void on_batch(const LiveBatch& batch) = 0;
  virtual void on_ephemeral(const SharedBytes& event_json) = 0;
  // Something may have been missed: read the store.
  virtual void on_gap() = 0;
  // The stream takes no more entries after this one.
  virtual void on_end(Seq, std::string_view) {}
  // The stream is gone for good.
  virtual void on_removed(std::string_view reason) = 0;
};

struct HubProbe {
  std::uint64_t batches = 0;
  std::uint64_t deliveries = 0;  // batch × subscriber
  std::uint64_t overflows = 0;
  std::uint64_t subscribers = 0;
};

class Hubs;

// One loop's hub.
class Hub {
 public:
  Hub(Hubs& all, std::size_t index, rt::Loop& loop);
  ~Hub();

  // Rule 1: when this returns true, no later batch is missed. False if the home loop is overloaded.
  // `home` is the index of the stream's home loop. The subscriber must unsubscribe before it goes.
  rt::Task<bool> subscribe(StreamId stream, std::size_t home, Subscriber& subscriber);
  void unsubscribe(StreamId stream, std::size_t home, Subscriber& subscriber);

  // On the stream's home loop only.
  void publish(store::Durable<std::shared_ptr<const Batch>> batch);
  // For a batch whose entries were not kept because nobody watched when it was made: who came since
  // reads the store.
  void publish_gap(StreamId stream);
  void publish_ephemeral(StreamId stream, SharedBytes event_json);
  void publish_removed(StreamId stream, std::string reason);
  // For a stream that ends without a further entry.
  void publish_end(StreamId stream, Seq at, std::string reason);

  rt::Loop& loop() { return loop_; }
  std::size_t index() const { return index_; }
  HubProbe probe() const;
  bool has_subscribers(StreamId stream) const { return interest_.contains(stream); }

 private:
  friend class Hubs;
  struct Message {
    enum class Kind : std::uint8_t { kBatch, kEphemeral, kGap, kEnd, kRemoved } kind;
    StreamId stream;
    std::shared_ptr<const Batch> batch;
    SharedBytes ephemeral;
    std::string reason;
    Seq at = {};
  };
  void send(StreamId stream, const Message& message);
  void deliver(const Message& message);
  void gap_everywhere();
  void add_interest(StreamId stream, std::size_t loop_index);
  void drop_interest(StreamId stream, std::size_t loop_index);

  Hubs& all_;
  const std::size_t index_;
  rt::Loop& loop_;
  std::unordered_map<StreamId, std::vector<Subscriber*>> local_;
  // For streams whose home this is: which loops watch, one bit each.
  std::unordered_map<StreamId, std::uint64_t> interest_;
  rt::Mailbox<Message> inbox_;
  std::atomic<bool> gap_is_scheduled_{false};
  std::atomic<std::uint64_t> batches_{0};
  std::atomic<std::uint64_t> deliveries_{0};
  std::atomic<std::uint64_t> overflows_{0};
  std::atomic<std::uint64_t> subscribers_{0};
};

// The hubs of all loops.
class Hubs {
 public:
  static constexpr std::size_t kMaxLoops = 64;
  explicit Hubs(const std::vector<rt::Loop*>& loops);
  Hub& at(std::size_t index) { return *hubs_[index]; }
  std::size_t size() const { return hubs_.size(); }
  HubProbe probe() const;

 private:
  std::vector<std::unique_ptr<Hub>> hubs_;
};

}  // namespace reprise::stream
