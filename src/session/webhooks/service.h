// WebhookService: keeps the webhooks of apps and delivers what they were promised.
//
// A promise is an entry of the app's outbox (session/webhooks/outbox.h), made by the commit that
// has the event. Each webhook reads the outbox at its own pace, from its durable cursor on, and
// calls its receiver for what is promised to it, in order, several calls at a time. What fails
// becomes a letter of its own, tried again later while the rest goes on, and at last a dead letter.
// The cursor passes what is delivered or kept as a letter, so a crash repeats calls but loses none:
// at least once, with the same message id each time.
//
// Nobody waits for a webhook: one that is down or hangs has only its own queue grow, and is called
// once at a time until it answers well again, so that it does not use up everybody's calls.
//
// Everything here happens on one loop, the first. Threads: every member may be called on any of the
// loops, except where it says otherwise.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "rt/cancel.h"
#include "rt/gate.h"
#include "rt/mailbox.h"
#include "session/service.h"
#include "session/webhooks/letter.h"
#include "session/webhooks/limits.h"
#include "session/webhooks/webhook.h"
#include "session/webhooks/webhook_probe.h"
#include "stream/subscription/sender.h"

namespace reprise::session {

struct WebhookOptions {
  std::size_t max_webhooks = kMaxWebhooks;
  std::size_t max_calls = kMaxWebhookCalls;
  std::size_t max_retried = kMaxLettersRetried;
  std::size_t max_dead = kMaxDeadLetters;
  std::uint64_t max_lag = kMaxWebhookLag;
};

// A webhook as callers see it.
struct WebhookView {
  Webhook webhook;
  WebhookPosition position;
  std::uint64_t lag = 0;                  // entries of the outbox after its cursor
  std::optional<TimePoint> delivered_at;  // since the start of the server
  std::string last_error;                 // empty: the last call succeeded, or there was none
  bool is_new = false;
};

struct DeadLetterPage {
  std::vector<Letter> letters;  // the oldest first
  std::optional<Seq> next;      // there are more after this place
};

class WebhookService {
 public:
  WebhookService(rt::Loop& home, SessionService& sessions, store::AsyncStore& store,
                 const Clock& clock, Random& random, stream::WebhookSender& sender,
                 WebhookOptions options = {});
  ~WebhookService();

  // Before the first call, on the home loop: reads what is stored.
  rt::Task<Result<>> load();
  // Calls to be tried again, trimming, until the scope is cancelled. On the home loop.
  rt::Task<> run(rt::CancelScope& scope);
  // One round of it.
  rt::Task<Result<>> tick();
  // Calls under way are given up; they are made again after the next start. On the home loop.
  rt::Task<> close();

  // Makes it or replaces its configuration. kAppNotFound; kInvalid for an address that may not be
  // called; kTooManyRequests where there are too many.
  rt::Task<Result<WebhookView>> put(std::string app, std::string name, WebhookConfig config);
  // kNotFound, here and below.
  rt::Task<Result<WebhookView>> get(std::string app, std::string name);
  rt::Task<Result<std::vector<WebhookView>>> list(std::string app);
  rt::Task<Result<>> remove(std::string app, std::string name);
  // A new secret; the old one signs as well for kOldSecretLifetime.
  rt::Task<Result<WebhookView>> renew_secret(std::string app, std::string name);
  // SessionService::remove_app, and its webhooks go with it.
  rt::Task<Result<>> remove_app(std::string app);

  rt::Task<Result<DeadLetterPage>> dead_letters(std::string app, std::string name, Seq after,
                                                std::size_t limit);
  // Tries it again, from the first attempt on.
  rt::Task<Result<>> redeliver(std::string app, std::string name, Seq place);
  rt::Task<Result<>> remove_dead_letter(std::string app, std::string name, Seq place);

  const stream::WebhookSender& sender() const { return sender_; }
  const WebhookProbe& probe() const { return probe_; }

 private:
  struct Hook;
  struct Outbox;
  class ConfigHold;
  class LetterHold;
  // What is to be written about a webhook's letters.
  struct Changes {
    std::vector<store::RecordPut> puts;
    std::vector<std::string> erases;
    std::int64_t retried = 0;
    std::int64_t dead = 0;
    std::uint64_t missed = 0;
    bool is_empty() const { return puts.empty() && erases.empty() && missed == 0; }
    void add(Changes more);
  };

  template <typename T>
  rt::Task<Result<T>> at_home(rt::Task<Result<T>> work);
  rt::Task<Result<WebhookView>> put_here(std::string app, std::string name, WebhookConfig config);
  rt::Task<Result<WebhookView>> put_once(const std::string& app, const std::string& name,
                                         const WebhookConfig& config);
  rt::Task<Result<WebhookView>> get_here(std::string app, std::string name);
  rt::Task<Result<std::vector<WebhookView>>> list_here(std::string app);
  rt::Task<Result<>> remove_here(std::string app, std::string name);
  rt::Task<Result<WebhookView>> renew_here(std::string app, std::string name);
  rt::Task<Result<>> remove_app_here(std::string app);
  rt::Task<Result<DeadLetterPage>> dead_letters_here(std::string app, std::string name, Seq after,
                                                     std::size_t limit);
  rt::Task<Result<>> redeliver_here(std::string app, std::string name, Seq place);
  rt::Task<Result<>> remove_dead_here(std::string app, std::string name, Seq place);

  // One change of webhooks at a time.
  rt::Task<ConfigHold> hold_config();
  // One commit about a webhook's letters at a time.
  rt::Task<LetterHold> hold_letters(std::shared_ptr<Hook> hook);
  Result<std::shared_ptr<Hook>> find(const std::string& app, const std::string& name) const;
  std::shared_ptr<Hook> add_hook(Outbox& outbox, Webhook webhook, WebhookPosition position);
  Outbox& add_outbox(const std::string& app, StreamId stream);
  rt::Task<Result<WebhookView>> view_of(std::shared_ptr<Hook> hook, bool is_new);
  std::size_t count() const;
  rt::Task<> publish_table();
  static void add_removal(store::Commit& commit, const Outbox& outbox, const Hook& hook,
                          bool is_last);
  rt::Task<> forget(std::string app, std::vector<std::shared_ptr<Hook>> hooks);
  rt::Task<Result<>> save(Hook& hook, Webhook next);
  rt::Task<> disable(std::shared_ptr<Hook> hook);

  rt::Task<Result<>> sweep(std::string id);
  rt::Task<Result<>> sweep_prefix(std::string prefix);
  rt::Task<Result<>> look_after_outboxes();
  rt::Task<Result<>> look_after(Outbox& outbox);
  rt::Task<Result<>> move_up(std::shared_ptr<Hook> hook, Seq floor);
  rt::Task<Result<>> trim(Outbox& outbox);
  void count_queues();

  void take_news(const std::vector<std::string>& apps);
  bool wants_more(const Hook& hook) const;
  void read_on(const std::shared_ptr<Hook>& hook);
  rt::Task<> read_outbox(std::shared_ptr<Hook> hook);
  rt::Task<Result<bool>> read_page(Hook& hook);
  void fetch_due(const std::shared_ptr<Hook>& hook);
  rt::Task<> fetch_letters(std::shared_ptr<Hook> hook);
  rt::Task<Result<>> fetch_page(Hook& hook);

  std::size_t width_of(const Hook& hook) const;
  bool can_call(const Hook& hook) const;
  void make_ready(const std::shared_ptr<Hook>& hook);
  void start_calls();
  rt::Task<> deliver(std::shared_ptr<Hook> hook, Letter letter, std::string taken_from);
  rt::Task<Result<stream::WebhookReply>> call(Hook& hook, const Letter& letter);
  void note(const std::shared_ptr<Hook>& hook, Letter letter, const std::string& taken_from,
            const Result<stream::WebhookReply>& reply);
  void settle(const std::shared_ptr<Hook>& hook);
  rt::Task<> settle_letters(std::shared_ptr<Hook> hook);
  rt::Task<Result<>> commit_changes(Hook& hook, Changes changes);

  rt::Loop& home_;
  SessionService& sessions_;
  store::AsyncStore& store_;
  const Clock& clock_;
  Random& random_;
  stream::WebhookSender& sender_;
  const WebhookOptions options_;
  WebhookProbe probe_;
  rt::Gate gate_;
  rt::CancelScope calls_;
  rt::Mailbox<std::string> bells_;
  rt::Signal config_is_free_;
  bool is_config_held_ = false;
  std::map<std::string, std::unique_ptr<Outbox>, std::less<>> outboxes_;
  std::deque<std::shared_ptr<Hook>> ready_;  // those that may have something to call about
  std::size_t calls_in_flight_ = 0;
  bool is_starting_calls_ = false;
  std::vector<std::string> to_sweep_;
  std::optional<TimePoint> looked_after_at_;
};

}  // namespace reprise::session
