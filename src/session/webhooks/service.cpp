#include "session/webhooks/service.h"

#include <fmt/format.h>

#include "base/log.h"
#include "session/apps.h"
#include "session/webhooks/service_parts.h"

namespace reprise::session {
namespace {

std::unexpected<Error> no_such_webhook(std::string_view app, std::string_view name) {
  return fail(Code::kNotFound, fmt::format("the app '{}' has no webhook '{}'", app, name));
}

}  // namespace

// An outbox rings at most once before it is looked at, so there is room for all of them.
WebhookService::WebhookService(rt::Loop& home, SessionService& sessions, store::AsyncStore& store,
                               const Clock& clock, Random& random, stream::WebhookSender& sender,
                               WebhookOptions options)
    : home_(home),
      sessions_(sessions),
      store_(store),
      clock_(clock),
      random_(random),
      sender_(sender),
      options_(options),
      bells_(home, 2 * options.max_webhooks,
             [this](const std::vector<std::string>& apps) { take_news(apps); }),
      config_is_free_(home) {}

WebhookService::~WebhookService() = default;

template <typename T>
rt::Task<Result<T>> WebhookService::at_home(rt::Task<Result<T>> work) {
  rt::Loop& origin = *rt::Loop::current();
  if (!co_await rt::switch_to(home_))
    co_return fail(Code::kOverloaded, "too much waits for the webhooks");
  auto outcome = co_await std::move(work);
  co_await rt::return_to(origin);
  co_return outcome;
}

rt::Task<Result<WebhookView>> WebhookService::put(std::string app, std::string name,
                                                  WebhookConfig config) {
  return at_home(put_here(std::move(app), std::move(name), std::move(config)));
}
rt::Task<Result<WebhookView>> WebhookService::get(std::string app, std::string name) {
  return at_home(get_here(std::move(app), std::move(name)));
}
rt::Task<Result<std::vector<WebhookView>>> WebhookService::list(std::string app) {
  return at_home(list_here(std::move(app)));
}
rt::Task<Result<>> WebhookService::remove(std::string app, std::string name) {
  return at_home(remove_here(std::move(app), std::move(name)));
}
rt::Task<Result<WebhookView>> WebhookService::renew_secret(std::string app, std::string name) {
  return at_home(renew_here(std::move(app), std::move(name)));
}
rt::Task<Result<>> WebhookService::remove_app(std::string app) {
  return at_home(remove_app_here(std::move(app)));
}
rt::Task<Result<DeadLetterPage>> WebhookService::dead_letters(std::string app, std::string name,
                                                              Seq after, std::size_t limit) {
  return at_home(dead_letters_here(std::move(app), std::move(name), after, limit));
}
rt::Task<Result<>> WebhookService::redeliver(std::string app, std::string name, Seq place) {
  return at_home(redeliver_here(std::move(app), std::move(name), place));
}
rt::Task<Result<>> WebhookService::remove_dead_letter(std::string app, std::string name,
                                                      Seq place) {
  return at_home(remove_dead_here(std::move(app), std::move(name), place));
}

rt::Task<WebhookService::ConfigHold> WebhookService::hold_config() {
  rt::CancelScope scope;
  while (is_config_held_) (void)co_await config_is_free_.wait(scope);
  co_return ConfigHold(*this);
}

Result<std::shared_ptr<WebhookService::Hook>> WebhookService::find(const std::string& app,
                                                                   const std::string& name) const {
  const auto outbox = outboxes_.find(app);
  if (outbox == outboxes_.end()) return no_such_webhook(app, name);
  const auto hook = outbox->second->hooks.find(name);
  if (hook == outbox->second->hooks.end()) return no_such_webhook(app, name);
  return hook->second;
}

std::size_t WebhookService::count() const {
  std::size_t count = 0;
  for (const auto& [app, outbox] : outboxes_) count += outbox->hooks.size();
  return count;
}

WebhookService::Outbox& WebhookService::add_outbox(const std::string& app, StreamId stream) {
  auto outbox = std::make_unique<Outbox>();
  outbox->app = app;
  outbox->stream = stream;
  outbox->bell = std::make_shared<OutboxBell>();
  // One that finds no room stays rung, and is looked at by look_after() in a while.
  outbox->bell->on_ring = [this, app] { (void)bells_.try_send(std::string(app)); };
  return *(outboxes_[app] = std::move(outbox));
}

std::shared_ptr<WebhookService::Hook> WebhookService::add_hook(Outbox& outbox, Webhook webhook,
                                                               WebhookPosition position) {
  auto hook = std::make_shared<Hook>(home_, calls_, std::move(webhook), position);
  hook->outbox = &outbox;
  outbox.hooks[hook->webhook.name] = hook;
  probe_.webhooks = count();
  return hook;
}

// Every loop has the table when this returns.
rt::Task<> WebhookService::publish_table() {
  std::map<std::string, AppHooks, std::less<>> apps;
  for (const auto& [app, outbox] : outboxes_) {
    AppHooks told{.outbox = outbox->stream, .hooks = {}, .bell = outbox->bell};
    for (const auto& [name, hook] : outbox->hooks)
      if (!hook->webhook.config.is_disabled)
        told.hooks.push_back({hook->webhook.id, hook->webhook.config});
    if (!told.hooks.empty()) apps.emplace(app, std::move(told));
  }
  std::shared_ptr<const HookTable> table;
  if (!apps.empty()) table = std::make_shared<const HookTable>(std::move(apps));
  co_await sessions_.set_hooks(std::move(table));
}

rt::Task<Result<WebhookView>> WebhookService::view_of(std::shared_ptr<Hook> hook, bool is_new) {
  Seq head;
  if (hook->outbox != nullptr) {
    REPRISE_CO_TRY(head, co_await store_.head(hook->outbox->stream));
  }
  WebhookView view{.webhook = hook->webhook,
                   .position = hook->stored,
                   .delivered_at = hook->delivered_at,
                   .last_error = hook->last_error,
                   .is_new = is_new};
  view.lag = head > hook->stored.cursor ? head.value - hook->stored.cursor.value : 0;
  co_return view;
}

rt::Task<Result<WebhookView>> WebhookService::get_here(std::string app, std::string name) {
  REPRISE_CO_TRY(auto hook, find(app, name));
  co_return co_await view_of(std::move(hook), false);
}

rt::Task<Result<std::vector<WebhookView>>> WebhookService::list_here(std::string app) {
  REPRISE_CO_CHECK(co_await sessions_.app(app));
  std::vector<std::shared_ptr<Hook>> hooks;
  if (const auto outbox = outboxes_.find(app); outbox != outboxes_.end())
    for (const auto& [name, hook] : outbox->second->hooks) hooks.push_back(hook);
  std::vector<WebhookView> views;
  for (auto& hook : hooks) {
    REPRISE_CO_TRY(auto view, co_await view_of(std::move(hook), false));
    views.push_back(std::move(view));
  }
  co_return views;
}

rt::Task<> WebhookService::close() {
  calls_.cancel();
  gate_.close();
  co_await gate_.empty();
}

}  // namespace reprise::session
