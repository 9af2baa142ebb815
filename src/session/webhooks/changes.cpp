// Webhooks that come, change and go.
#include <fmt/format.h>

#include "base/log.h"
#include "session/apps.h"
#include "session/webhooks/service_parts.h"

namespace reprise::session {

rt::Task<Result<WebhookView>> WebhookService::put_here(std::string app, std::string name,
                                                       WebhookConfig config) {
  if (auto allowed = sender_.check(config.url); !allowed)
    co_return invalid("/url", allowed.error().detail);
  const auto hold = co_await hold_config();
  for (int tries = 0; tries < kMaxKeyRaces; ++tries) {
    auto done = co_await put_once(app, name, config);
    // The app's settings changed meanwhile, or it went.
    if (done || done.error().code != Code::kWrongVersion) co_return done;
  }
  co_return fail(Code::kOverloaded, "too many callers change this app");
}

rt::Task<Result<WebhookView>> WebhookService::put_once(const std::string& app,
                                                       const std::string& name,
                                                       const WebhookConfig& config) {
  const std::string settings_key = app_key(app);
  REPRISE_CO_TRY(const auto settings, co_await store_.get(settings_key));
  if (!settings) co_return fail(Code::kAppNotFound, fmt::format("there is no app '{}'", app));
  const TimePoint now = clock_.now();
  store::Commit commit;
  commit.checks.push_back(
      {.key = settings_key, .only_if = store::Precondition::version(settings->version)});
  if (const auto found = find(app, name)) {
    Hook& hook = **found;
    Webhook next = hook.webhook;
    next.config = config;
    next.is_gone = false;
    next.updated_at = now;
    commit.puts.push_back(
        {.key = webhook_key(app, name), .value = encode_webhook(next), .only_if = {}});
    REPRISE_CO_CHECK(co_await store_.commit(std::move(commit)));
    hook.webhook = std::move(next);
    co_await publish_table();
    read_on(*found);
    fetch_due(*found);
    make_ready(*found);
    start_calls();
    co_return co_await view_of(*found, false);
  }
  const auto outbox = outboxes_.find(app);
  const std::size_t of_app = outbox == outboxes_.end() ? 0 : outbox->second->hooks.size();
  if (of_app >= kMaxWebhooksPerApp || count() >= options_.max_webhooks) {
    ++probe_.refused;
    co_return fail(Code::kTooManyRequests, fmt::format("there are {} webhooks already, {} of them "
                                                       "of this app",
                                                       count(), of_app));
  }
  Webhook fresh;
  fresh.id = WebhookId::make(now, random_);
  fresh.app = app;
  fresh.name = name;
  fresh.config = config;
  fresh.secret = make_webhook_secret(random_);
  fresh.created_at = now;
  fresh.updated_at = now;
  WebhookPosition position;
  StreamId stream;
  if (outbox == outboxes_.end()) {
    stream = StreamId::make(now, random_);
    commit.puts.push_back(
        {.key = outbox_key(app), .value = std::string(stream.view()), .only_if = {}});
  } else {
    stream = outbox->second->stream;
    // Nothing up to here is promised to it.
    REPRISE_CO_TRY(position.cursor, co_await store_.head(stream));
  }
  commit.puts.push_back(
      {.key = webhook_key(app, name), .value = encode_webhook(fresh), .only_if = {}});
  commit.puts.push_back(
      {.key = position_key(fresh.id), .value = encode_position(position), .only_if = {}});
  REPRISE_CO_CHECK(co_await store_.commit(std::move(commit)));
  Outbox& place = outbox == outboxes_.end() ? add_outbox(app, stream) : *outbox->second;
  const auto hook = add_hook(place, std::move(fresh), position);
  co_await publish_table();
  co_return co_await view_of(hook, true);
}

rt::Task<Result<>> WebhookService::save(Hook& hook, Webhook next) {
  store::Commit commit;
  commit.puts.push_back(
      {.key = webhook_key(next.app, next.name), .value = encode_webhook(next), .only_if = {}});
  REPRISE_CO_CHECK(co_await store_.commit(std::move(commit)));
  hook.webhook = std::move(next);
  co_return Result<>{};
}

rt::Task<Result<WebhookView>> WebhookService::renew_here(std::string app, std::string name) {
  const auto hold = co_await hold_config();
  REPRISE_CO_TRY(auto hook, find(app, name));
  Webhook next = hook->webhook;
  next.old_secret = std::exchange(next.secret, make_webhook_secret(random_));
  next.updated_at = clock_.now();
  next.old_secret_until = next.updated_at + kOldSecretLifetime;
  REPRISE_CO_CHECK(co_await save(*hook, std::move(next)));
  co_return co_await view_of(std::move(hook), true);
}

// Its receiver says that it is gone for good.
rt::Task<> WebhookService::disable(std::shared_ptr<Hook> hook) {
  const auto hold = co_await hold_config();
  if (hook->is_removed || hook->webhook.config.is_disabled) co_return;
  Webhook next = hook->webhook;
  next.config.is_disabled = true;
  next.is_gone = true;
  next.updated_at = clock_.now();
  log::warning("a webhook is disabled: its receiver is gone",
               {{"app", next.app}, {"webhook", next.name}});
  ++probe_.gone;
  auto saved = co_await save(*hook, std::move(next));
  if (!saved) {
    // The next call is answered the same.
    log::warning("a webhook could not be disabled", {{"detail", saved.error().detail}});
    co_return;
  }
  co_await publish_table();
}

void WebhookService::add_removal(store::Commit& commit, const Outbox& outbox, const Hook& hook,
                                 bool is_last) {
  commit.erases.push_back({.key = webhook_key(outbox.app, hook.webhook.name), .only_if = {}});
  commit.puts.push_back({.key = removed_key(hook.webhook.id.view()), .value = "", .only_if = {}});
  if (!is_last) return;
  commit.erases.push_back({.key = outbox_key(outbox.app), .only_if = {}});
  commit.puts.push_back({.key = removed_key(outbox.stream.view()), .value = "", .only_if = {}});
}

rt::Task<Result<>> WebhookService::remove_here(std::string app, std::string name) {
  const auto hold = co_await hold_config();
  REPRISE_CO_TRY(const auto hook, find(app, name));
  {
    const auto letters = co_await hold_letters(hook);
    store::Commit commit;
    add_removal(commit, *hook->outbox, *hook, hook->outbox->hooks.size() == 1);
    REPRISE_CO_CHECK(co_await store_.commit(std::move(commit)));
    hook->is_removed = true;
  }
  std::vector<std::shared_ptr<Hook>> gone;
  gone.push_back(hook);
  co_await forget(std::move(app), std::move(gone));
  co_return Result<>{};
}

rt::Task<Result<>> WebhookService::remove_app_here(std::string app) {
  const auto hold = co_await hold_config();
  const auto outbox = outboxes_.find(app);
  if (outbox == outboxes_.end()) co_return co_await sessions_.remove_app(std::move(app));
  std::vector<std::shared_ptr<Hook>> hooks;
  for (const auto& [name, hook] : outbox->second->hooks) hooks.push_back(hook);
  {
    std::vector<LetterHold> letters;
    store::Commit commit;
    for (const auto& hook : hooks) {
      letters.push_back(co_await hold_letters(hook));
      add_removal(commit, *outbox->second, *hook, hook == hooks.back());
    }
    REPRISE_CO_CHECK(co_await sessions_.remove_app(app, std::move(commit)));
    for (const auto& hook : hooks) hook->is_removed = true;
  }
  co_await forget(std::move(app), std::move(hooks));
  co_return Result<>{};
}

// What was removed goes out of memory, and what it left behind is swept. Only once no loop promises
// anything to it any more: whatever was submitted before that is ahead of the sweep.
rt::Task<> WebhookService::forget(std::string app, std::vector<std::shared_ptr<Hook>> hooks) {
  const auto outbox = outboxes_.find(app);
  std::vector<std::string> swept;
  for (const auto& hook : hooks) {
    hook->scope.cancel();
    hook->outbox = nullptr;
    outbox->second->hooks.erase(hook->webhook.name);
    swept.emplace_back(hook->webhook.id.view());
  }
  if (outbox->second->hooks.empty()) {
    swept.emplace_back(outbox->second->stream.view());
    outboxes_.erase(outbox);
  }
  probe_.webhooks = count();
  co_await publish_table();
  for (std::string& id : swept) {
    auto done = co_await sweep(id);
    if (!done) to_sweep_.push_back(std::move(id));
  }
}

}  // namespace reprise::session
