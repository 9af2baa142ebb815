// SubscriptionService: keeps subscriptions, notices what is new in their streams, wakes who must
// know, and hands out leases.
//
// Everything here happens on one loop, the first: there are few subscriptions beside what flows
// through the streams. A change is told to a caller once it is durable.
//
// What is new arrives as news from the streams. News that got lost (too many at once, a disk that
// was full, a crash between an append and what it meant here) are made up for by looking at every
// stream that is subscribed to: at the start, and after a loss.
//
// Threads: every member may be called on any of the loops, except where it says otherwise.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "rt/cancel.h"
#include "rt/gate.h"
#include "rt/mailbox.h"
#include "stream/limits.h"
#include "stream/log/service.h"
#include "stream/subscription/links.h"
#include "stream/subscription/sender.h"
#include "stream/subscription/signing.h"
#include "stream/subscription/subscription.h"
#include "stream/subscription/subscription_probe.h"

namespace reprise::stream {

// A subscription as callers see it.
struct SubscriptionView {
  Subscription subscription;
  std::map<std::string, SubscriptionLink> links;
  bool is_new = false;
};

// What a worker presents.
struct WakeClaim {
  std::string token;
  std::uint64_t generation = 0;
  std::string wake_id;
};

struct SubscriptionOptions {
  std::size_t max_subscriptions = kMaxSubscriptions;
  std::size_t max_news = kMaxSubscriptionNews;
  std::size_t max_webhooks_in_flight = kMaxWebhooksInFlight;
};

class SubscriptionService {
 public:
  SubscriptionService(rt::Loop& home, LogService& logs, store::AsyncStore& store,
                      const Clock& clock, Random& random, WebhookSender& sender,
                      SubscriptionOptions options = {});
  ~SubscriptionService();

  // Before the first call, on the home loop: reads what is stored.
  rt::Task<Result<>> load();
  // Leases that end, webhooks to be tried again, until the scope is cancelled. On the home loop.
  rt::Task<> run(rt::CancelScope& scope);
  // One round of it.
  rt::Task<Result<>> tick();
  // Webhooks that are being called are given up; they are told again after the next start. On the
  // home loop.
  rt::Task<> close();

  // `base_url` is where this server is reached: callbacks are told below it. kConflict where there
  // is one of that id with another configuration, kTooManyRequests where there are too many.
  rt::Task<Result<SubscriptionView>> put(std::string id, SubscriptionConfig config,
                                         std::string base_url);
  rt::Task<Result<SubscriptionView>> get(std::string id);
  rt::Task<Result<>> remove(std::string id);
  rt::Task<Result<>> add_streams(std::string id, std::vector<std::string> paths);
  rt::Task<Result<>> remove_stream(std::string id, std::string path);

  struct Claimed {
    enum class Kind : std::uint8_t { kClaimed, kHeldByAnother, kNothingPending };
    Kind kind = Kind::kClaimed;
    std::string holder;
    std::uint64_t generation = 0;
    // Of what was claimed.
    std::string wake_id;
    std::string token;
    std::string streams;  // JSON (stream/subscription/messages.h)
    std::uint64_t lease_ttl_ms = 0;
  };
  // kInvalid for a webhook's subscription.
  rt::Task<Result<Claimed>> claim(std::string id, std::string worker);
  // Whether a next wake is out already. kUnauthorized for a token that is not ours, kForbidden for
  // one that has expired, kFenced for one of an earlier wake.
  rt::Task<Result<bool>> acknowledge(std::string id, WakeClaim claim, std::vector<Ack> acks,
                                     bool is_done);
  rt::Task<Result<>> release(std::string id, WakeClaim claim);

  // On the home loop: whether news of this path would be anybody's, and of how many paths that is
  // remembered.
  bool concerns_anybody(const std::string& path) { return !concerned(path).empty(); }
  std::size_t remembered_paths() const { return concerned_.size(); }

  // After load().
  const SubscriptionKeys& keys() const { return keys_; }
  const WebhookSender& sender() const { return sender_; }
  const SubscriptionProbe& probe() const { return probe_; }

 private:
  struct Entry;
  class Held;
  struct News {
    std::string path;
    StreamId stream;
    Seq tail;
    bool is_removed = false;
    bool is_doubtful = false;  // nothing is known to have happened, but it may have
    bool is_merged = false;    // a later one says it too
  };
  struct NewLinks;

  template <typename T>
  rt::Task<Result<T>> at_home(rt::Task<Result<T>> work);
  rt::Task<Result<SubscriptionView>> put_here(std::string id, SubscriptionConfig config,
                                              std::string base_url);
  rt::Task<Result<SubscriptionView>> get_here(std::string id);
  rt::Task<Result<>> remove_here(std::string id);
  rt::Task<Result<>> add_streams_here(std::string id, std::vector<std::string> paths);
  rt::Task<Result<>> remove_stream_here(std::string id, std::string path);
  rt::Task<Result<Claimed>> claim_here(std::string id, std::string worker);
  rt::Task<Result<bool>> acknowledge_here(std::string id, WakeClaim claim, std::vector<Ack> acks,
                                          bool is_done);
  rt::Task<Result<>> release_here(std::string id, WakeClaim claim);

  // One change of a subscription at a time. kNotFound.
  rt::Task<Result<Held>> hold(std::string id);
  rt::Task<Result<Held>> hold_entry(std::shared_ptr<Entry> entry);
  rt::Task<Result<>> save(Entry& entry, Subscription next, LinkChanges changes = {});
  void count();
  void forget(const std::string& id);

  rt::Task<Result<>> load_keys();
  rt::Task<Result<>> load_links(Entry& entry);
  // Links what a pattern should have, and looks at every tail.
  rt::Task<Result<>> look_at_everything();
  rt::Task<Result<>> link_first(Entry& entry);
  rt::Task<Result<>> add_link(const Entry& entry, std::string path, bool is_explicit,
                              NewLinks& links);

  void take_news(std::vector<News> news);
  rt::Task<> work_off_news();
  // What had arrived when this was called has been dealt with.
  rt::Task<> news_settled();
  rt::Task<Result<>> take(News news);
  rt::Task<Result<>> take_for(Entry& entry, const News& news);
  const std::vector<std::shared_ptr<Entry>>& concerned(const std::string& path);

  rt::Task<Result<>> end_lease_if_over(const std::shared_ptr<Entry>& entry);
  // Wakes who must know, if a wake is due.
  rt::Task<Result<>> wake_if_due(const std::shared_ptr<Entry>& entry);
  bool must_be_told(const Entry& entry) const;
  rt::Task<Result<>> tell(const std::shared_ptr<Entry>& entry);
  rt::Task<Result<>> announce(Entry& entry);
  void call_next_webhooks();
  rt::Task<> deliver(std::shared_ptr<Entry> entry);
  rt::Task<Result<>> note_reply(Entry& entry, const Result<WebhookReply>& reply);
  Subscription failed_to_tell(const Entry& entry);
  std::string token_for(const Subscription& subscription) const;
  Result<> check_claim(const Subscription& subscription, const WakeClaim& claim);

  rt::Loop& home_;
  LogService& logs_;
  store::AsyncStore& store_;
  const Clock& clock_;
  Random& random_;
  WebhookSender& sender_;
  const SubscriptionOptions options_;
  SubscriptionKeys keys_;
  SubscriptionProbe probe_;
  rt::Gate gate_;
  rt::CancelScope calls_;
  std::map<std::string, std::shared_ptr<Entry>> entries_;

  std::atomic<bool> has_any_{false};
  std::atomic<bool> has_lost_news_{false};
  TimePoint looked_at_everything_at_;
  bool is_stopping_ = false;
  rt::Mailbox<News> inbox_;
  std::vector<News> news_;
  std::uint64_t news_received_ = 0;
  std::uint64_t news_taken_ = 0;
  rt::Signal news_progress_;
  bool is_working_ = false;
  // Who a path's news concern; forgotten when a subscription comes, goes or changes its links.
  std::unordered_map<std::string, std::vector<std::shared_ptr<Entry>>> concerned_;

  std::deque<std::shared_ptr<Entry>> to_call_;
  std::size_t calls_in_flight_ = 0;
};

}  // namespace reprise::stream
