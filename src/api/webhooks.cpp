#include "api/webhooks.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/access.h"
#include "api/body.h"
#include "api/limits.h"
#include "api/parameters.h"
#include "base/json_text.h"
#include "model/event.h"
#include "model/limits.h"
#include "model/session_state.h"

namespace reprise::api {
namespace {

using http::Exchange;
using http::Reply;
using session::WebhookService;
using session::WebhookView;

struct Named {
  std::string app;
  std::string name;
};

Result<std::string> app_of(const Exchange& exchange) {
  const std::string& app = exchange.captured.at(0);
  REPRISE_CHECK(model::check_app(app));
  REPRISE_CHECK(check_app_access(exchange, app));
  return app;
}

Result<Named> webhook_of(const Exchange& exchange) {
  REPRISE_TRY(std::string app, app_of(exchange));
  REPRISE_CHECK(session::check_webhook_name(exchange.captured.at(1)));
  return Named{std::move(app), exchange.captured.at(1)};
}

std::string json_list(const std::vector<std::string>& texts) {
  std::string json = "[";
  for (const std::string& text : texts) {
    if (json.size() > 1) json += ',';
    append_json_string(json, text);
  }
  return json + ']';
}

std::string status_words(const std::vector<model::Status>& statuses) {
  std::vector<std::string> words;
  words.reserve(statuses.size());
  for (const model::Status status : statuses) words.emplace_back(model::word(status));
  return json_list(words);
}

std::string time_or_null(std::optional<TimePoint> at) {
  return at ? '"' + format_time(*at) + '"' : "null";
}

// Never with the secret: that is shown once, by whoever makes it.
std::string webhook_members(const WebhookView& view) {
  const session::Webhook& one = view.webhook;
  return fmt::format(
      R"("name":{},"app":{},"url":{},"events":{},"statuses":{},"description":{},"disabled":{},)"
      R"("gone":{},"queue":{{"behind":{},"retrying":{},"deadLetters":{},"missed":{}}},)"
      R"("lastDeliveredAt":{},"lastError":{},"createdAt":"{}","updatedAt":"{}")",
      json_string(one.name), json_string(one.app), json_string(one.config.url),
      json_list(one.config.events), status_words(one.config.statuses),
      json_string(one.config.description), one.config.is_disabled, one.is_gone, view.lag,
      view.position.retried, view.position.dead, view.position.missed,
      time_or_null(view.delivered_at),
      view.last_error.empty() ? "null" : json_string(view.last_error), format_time(one.created_at),
      format_time(one.updated_at));
}

std::string secret_member(const WebhookView& view) {
  return fmt::format(R"("secret":"{}")", session::secret_text(view.webhook.secret));
}

// The texts of a list, or nothing where it is wrong.
std::vector<std::string> text_list(Body& body, std::string_view name, std::size_t most) {
  std::vector<std::string> texts;
  const auto list = body.value(name);
  if (!list || list->is_null()) return texts;
  const auto elements = list->elements();
  if (list->type() != wire::JsonType::kArray || elements.size() > most) {
    body.wrong(name, fmt::format("{} is a list of at most {} texts", name, most));
    return texts;
  }
  for (const wire::JsonValue& element : elements) {
    auto text = element.as_string();
    if (!text) {
      body.wrong(name, fmt::format("{} is a list of texts", name));
      return {};
    }
    if (std::ranges::find(texts, *text) == texts.end()) texts.push_back(std::move(*text));
  }
  return texts;
}

session::WebhookConfig read_config(Body& body) {
  session::WebhookConfig config;
  const auto url = body.text("url", kMaxWebhookTextBytes);
  if (!url || url->empty())
    body.wrong("url", "url is needed: whom to call");
  else
    config.url = *url;
  config.events = text_list(body, "events", session::kMaxWebhookEvents);
  for (const std::string& type : config.events)
    if (type != "*" && !model::is_well_formed_type(type))
      body.wrong("events", fmt::format("'{}' is no event type, and not *", type));
  for (const std::string& word : text_list(body, "statuses", model::kStatuses.size())) {
    const auto status = std::ranges::find_if(
        model::kStatuses, [&](model::Status one) { return model::word(one) == word; });
    if (status == model::kStatuses.end())
      body.wrong("statuses", fmt::format("'{}' is no status", word));
    else
      config.statuses.push_back(*status);
  }
  config.description = body.text("description", model::kMaxReasonBytes).value_or("");
  config.is_disabled = body.boolean("disabled").value_or(false);
  return config;
}

rt::Task<Result<Reply>> put(WebhookService& webhooks, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(Named named, webhook_of(exchange));
  REPRISE_CO_TRY(Body body, Body::parse(exchange));
  session::WebhookConfig config = read_config(body);
  REPRISE_CO_CHECK(body.done());
  REPRISE_CO_TRY(const auto view, co_await webhooks.put(std::move(named.app), std::move(named.name),
                                                        std::move(config)));
  std::string json = '{' + webhook_members(view);
  if (view.is_new) json += ',' + secret_member(view);
  co_return Reply::json(view.is_new ? 201 : 200, json + '}');
}

rt::Task<Result<Reply>> get(WebhookService& webhooks, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(Named named, webhook_of(exchange));
  REPRISE_CO_TRY(const auto view,
                 co_await webhooks.get(std::move(named.app), std::move(named.name)));
  co_return Reply::json(200, '{' + webhook_members(view) + '}');
}

rt::Task<Result<Reply>> list(WebhookService& webhooks, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(std::string app, app_of(exchange));
  REPRISE_CO_TRY(const auto views, co_await webhooks.list(std::move(app)));
  std::string json = "{\"webhooks\":[";
  for (const WebhookView& view : views) {
    if (json.back() != '[') json += ',';
    json += '{' + webhook_members(view) + '}';
  }
  co_return Reply::json(200, json + "]}");
}

rt::Task<Result<Reply>> remove(WebhookService& webhooks, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(Named named, webhook_of(exchange));
  REPRISE_CO_CHECK(co_await webhooks.remove(std::move(named.app), std::move(named.name)));
  co_return Reply::empty(204);
}

rt::Task<Result<Reply>> renew_secret(WebhookService& webhooks, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(Named named, webhook_of(exchange));
  REPRISE_CO_TRY(Body body, Body::parse(exchange));
  REPRISE_CO_CHECK(body.done());
  REPRISE_CO_TRY(const auto view,
                 co_await webhooks.renew_secret(std::move(named.app), std::move(named.name)));
  co_return Reply::json(200, fmt::format(R"({{{},"oldSecretUntil":"{}"}})", secret_member(view),
                                         format_time(view.webhook.old_secret_until)));
}

// Deletes an app with all its webhooks.
rt::Task<Result<Reply>> remove_app(WebhookService& webhooks, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(std::string app, app_of(exchange));
  REPRISE_CO_CHECK(co_await webhooks.remove_app(std::move(app)));
  co_return Reply::empty(204);
}

Result<Seq> letter_of(const Exchange& exchange) {
  const auto place = session::place_of_dead_letter(exchange.captured.at(2));
  if (place) return *place;
  return fail(Code::kNotFound,
              fmt::format("there is no dead letter '{}'", exchange.captured.at(2)));
}

std::string letter_json(const WebhookView& view, const session::Letter& letter) {
  // One that is damaged is shown as far as it can be.
  const std::string body = session::message_body(view.webhook.app, letter).value_or("null");
  return fmt::format(
      R"({{"id":"{}","webhookId":"{}","attempts":{},"failedAt":"{}","status":{},"error":{},)"
      R"("body":{}}})",
      session::dead_letter_id(letter.place), session::message_id(view.webhook.id, letter),
      letter.attempts, format_time(letter.failed_at),
      letter.status == 0 ? "null" : std::to_string(letter.status), json_string(letter.error), body);
}

rt::Task<Result<Reply>> dead_letters(WebhookService& webhooks, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({"limit", "cursor"}));
  REPRISE_CO_TRY(const Named named, webhook_of(exchange));
  REPRISE_CO_TRY(const auto limit,
                 number_parameter(exchange, "limit", 1, session::kMaxDeadLetterPageLimit));
  REPRISE_CO_TRY(const auto cursor, exchange.query("cursor"));
  Seq after;
  if (cursor) {
    const auto place = session::place_of_dead_letter(*cursor);
    if (!place) co_return fail(Code::kBadCursor, "the cursor is not one of this list");
    after = *place;
  }
  REPRISE_CO_TRY(const auto view, co_await webhooks.get(named.app, named.name));
  REPRISE_CO_TRY(const auto page, co_await webhooks.dead_letters(
                                      named.app, named.name, after,
                                      limit.value_or(session::kDefaultDeadLetterPageLimit)));
  std::string json = "{\"deadLetters\":[";
  for (const session::Letter& letter : page.letters) {
    if (json.back() != '[') json += ',';
    json += letter_json(view, letter);
  }
  json += "],\"nextCursor\":";
  json += page.next ? '"' + session::dead_letter_id(*page.next) + '"' : "null";
  co_return Reply::json(200, json + '}');
}

rt::Task<Result<Reply>> redeliver(WebhookService& webhooks, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(Named named, webhook_of(exchange));
  REPRISE_CO_TRY(const Seq place, letter_of(exchange));
  REPRISE_CO_TRY(Body body, Body::parse(exchange));
  REPRISE_CO_CHECK(body.done());
  REPRISE_CO_CHECK(co_await webhooks.redeliver(std::move(named.app), std::move(named.name), place));
  co_return Reply::json(202, "{}");
}

rt::Task<Result<Reply>> remove_letter(WebhookService& webhooks, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(Named named, webhook_of(exchange));
  REPRISE_CO_TRY(const Seq place, letter_of(exchange));
  REPRISE_CO_CHECK(
      co_await webhooks.remove_dead_letter(std::move(named.app), std::move(named.name), place));
  co_return Reply::empty(204);
}

}  // namespace

void add_webhook_routes(http::Router& router, WebhookService& webhooks) {
  using enum wire::Method;
  using http::Scope;
  using Handler = rt::Task<Result<Reply>> (*)(WebhookService&, Exchange&);
  const auto add = [&](wire::Method method, std::string path, Scope scope, Handler handler) {
    router.add(method, "/v1/apps/{id}" + std::move(path), scope,
               [&webhooks, handler](Exchange& exchange) { return handler(webhooks, exchange); });
  };
  add(kDelete, "", Scope::kWrite, remove_app);
  add(kGet, "/webhooks", Scope::kRead, list);
  add(kPut, "/webhooks/{name}", Scope::kWrite, put);
  add(kGet, "/webhooks/{name}", Scope::kRead, get);
  add(kDelete, "/webhooks/{name}", Scope::kWrite, remove);
  add(kPost, "/webhooks/{name}/secret", Scope::kWrite, renew_secret);
  add(kGet, "/webhooks/{name}/dead-letters", Scope::kRead, dead_letters);
  add(kPost, "/webhooks/{name}/dead-letters/{letter}/redeliver", Scope::kWrite, redeliver);
  add(kDelete, "/webhooks/{name}/dead-letters/{letter}", Scope::kWrite, remove_letter);
}

}  // namespace reprise::api
