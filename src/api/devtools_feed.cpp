#include "api/devtools_feed.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/devtools.h"
#include "base/json_text.h"
#include "http/router.h"

namespace reprise::api {
namespace {

// What a monitoring system asks all day, and the feed itself.
bool is_left_out(std::string_view pattern) {
  constexpr std::array<std::string_view, 5> kLeftOut = {"/healthz", "/readyz", "/v1/health",
                                                        "/metrics", kDevtoolsPath};
  return std::find(kLeftOut.begin(), kLeftOut.end(), pattern) != kLeftOut.end();
}

void add_text(std::string& members, std::string_view name, std::string_view text) {
  members += fmt::format(",\"{}\":", name);
  append_json_string(members, text);
}

}  // namespace

DevtoolsFeed::DevtoolsFeed(rt::Loop& home, const Clock& clock, Random& random, Options options)
    : home_(home),
      clock_(clock),
      options_(options),
      ring_(fmt::format("{:016x}", random.next_u64()), options.max_kept),
      afterglow_(home.timers()),
      mailbox_(home, options.max_waiting,
               [this](std::vector<Happening> happenings) { take(std::move(happenings)); }) {}

DevtoolsFeed::~DevtoolsFeed() = default;

void DevtoolsFeed::tell(Happening happening) {
  if (mailbox_.try_send(std::move(happening))) return;
  dropped_.fetch_add(1, std::memory_order_relaxed);
  untold_drops_.fetch_add(1, std::memory_order_relaxed);
}

void DevtoolsFeed::take(std::vector<Happening> happenings) {
  if (!is_recording()) return;  // what was on its way when the last listener had long gone
  for (Happening& happening : happenings) ring_.add(std::move(happening));
  // A full mailbox is one that is about to be emptied here: no drop stays untold.
  if (const std::uint64_t drops = untold_drops_.exchange(0, std::memory_order_relaxed); drops > 0)
    ring_.add({.type = DevtoolsType::kDropped,
               .at = clock_.now(),
               .session = {},
               .app = {},
               .key = {},
               .members = fmt::format(",\"count\":{}", drops)});
  told_.store(ring_.last(), std::memory_order_relaxed);
  for (const auto& listener : listeners_) {
    if (std::exchange(listener->is_told_, true)) continue;
    listener->loop_.post([listener] {
      listener->has_news = true;
      listener->news.notify();
    });
  }
}

void DevtoolsFeed::on_created(const model::SessionState& state) {
  Happening happening = happening_of(DevtoolsType::kSessionCreated, state.created_at, state);
  add_text(happening.members, "status", model::word(state.status));
  tell(std::move(happening));
}

void DevtoolsFeed::on_events(const model::SessionState& state, const stream::Batch& batch) {
  for (Happening& happening : happenings_of(state, batch)) tell(std::move(happening));
}

void DevtoolsFeed::on_removed(const model::SessionState& last) {
  if (model::is_living(last.status)) {
    // Whoever counts ends must not miss this one.
    Happening closed = happening_of(DevtoolsType::kSessionClosed, clock_.now(), last);
    add_text(closed.members, "status", model::word(model::Status::kCancelled));
    add_text(closed.members, "reason", "deleted");
    tell(std::move(closed));
  }
  tell(happening_of(DevtoolsType::kSessionDeleted, clock_.now(), last));
}

void DevtoolsFeed::on_request(const http::Exchange& exchange, int status, std::uint64_t micros) {
  if (exchange.route != nullptr && is_left_out(exchange.route->pattern)) return;
  Happening happening{.type = DevtoolsType::kRequest,
                      .at = clock_.now(),
                      .session = {},
                      .app = {},
                      .key = {},
                      .members = {}};
  if (exchange.subject) {
    happening.session = exchange.subject->session;
    happening.app = exchange.subject->app;
    happening.key = exchange.subject->key;
  }
  add_text(happening.members, "method", wire::word(exchange.request.method));
  // The pattern and not the path, which may hold what nobody should read here.
  if (exchange.route != nullptr)
    add_text(happening.members, "route", exchange.route->pattern);
  else
    happening.members += ",\"route\":null";
  happening.members += fmt::format(",\"status\":{},\"durationMs\":{}", status, micros / 1000);
  if (!exchange.principal.name.empty())
    add_text(happening.members, "client", exchange.principal.name);
  tell(std::move(happening));
}

void DevtoolsFeed::on_client(DevtoolsType type, const DevtoolsClient& client) {
  if (!is_recording()) return;
  Happening happening{.type = type,
                      .at = clock_.now(),
                      .session = client.session ? client.session->to_string() : std::string(),
                      .app = client.app,
                      .key = client.name.empty() ? std::string() : client.app + ':' + client.name,
                      .members = {}};
  add_text(happening.members, "stream", client.stream);
  if (!client.client.empty()) add_text(happening.members, "client", client.client);
  add_text(happening.members, "address", client.address);
  tell(std::move(happening));
}

void DevtoolsFeed::set_recording(bool is_recording) {
  session::Observer::set_watching(is_recording);
  http::RequestObserver::set_watching(is_recording);
}

Result<DevtoolsFeed::Opened> DevtoolsFeed::add_listener(
    rt::Loop& loop, const std::optional<std::string>& last_event_id) {
  if (listeners_.size() >= options_.max_listeners) {
    refused_.fetch_add(1, std::memory_order_relaxed);
    return fail(Code::kTooManyRequests,
                fmt::format("{} listen already, the most there may be", listeners_.size()));
  }
  REPRISE_TRY(const DevtoolsRing::Start start, ring_.start(last_event_id));
  auto listener = std::make_shared<DevtoolsListener>(loop);
  listeners_.push_back(listener);
  listening_.store(listeners_.size(), std::memory_order_relaxed);
  afterglow_.cancel();
  set_recording(true);
  return Opened{std::move(listener), start, ring_.last()};
}

rt::Task<Result<DevtoolsFeed::Opened>> DevtoolsFeed::listen(
    std::optional<std::string> last_event_id) {
  rt::Loop& origin = *rt::Loop::current();
  if (!co_await rt::switch_to(home_))
    co_return fail(Code::kOverloaded, "the feed's loop has too much waiting");
  auto opened = add_listener(origin, last_event_id);
  co_await rt::return_to(origin);
  co_return opened;
}

void DevtoolsFeed::leave(std::shared_ptr<DevtoolsListener> listener) {
  home_.post([this, listener = std::move(listener)] { remove_listener(listener); });
}

void DevtoolsFeed::remove_listener(const std::shared_ptr<DevtoolsListener>& listener) {
  std::erase(listeners_, listener);
  listening_.store(listeners_.size(), std::memory_order_relaxed);
  if (!listeners_.empty()) return;
  afterglow_.arm(home_.now() + kDevtoolsAfterglow, [this] {
    set_recording(false);
    ring_.forget();
    untold_drops_.store(0, std::memory_order_relaxed);
  });
}

rt::Task<Result<DevtoolsRing::Read>> DevtoolsFeed::read(std::shared_ptr<DevtoolsListener> listener,
                                                        std::uint64_t after,
                                                        const DevtoolsFilter& filter) {
  rt::Loop& origin = listener->loop_;
  if (!co_await rt::switch_to(home_))
    co_return fail(Code::kOverloaded, "the feed's loop has too much waiting");
  // From here on news is told again.
  listener->is_told_ = false;
  auto read = ring_.read(after, filter, kDevtoolsReadEntries);
  co_await rt::return_to(origin);
  co_return read;
}

DevtoolsProbe DevtoolsFeed::probe() const {
  const auto now = [](const std::atomic<std::uint64_t>& count) {
    return count.load(std::memory_order_relaxed);
  };
  return {.listeners = now(listening_),
          .told = now(told_),
          .dropped = now(dropped_),
          .refused = now(refused_),
          .cut = now(cut_)};
}

}  // namespace reprise::api
