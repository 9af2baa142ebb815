#include "browser/pool.h"
#include "browser/timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace reprise::browser {

// One browser, and what is known of it.
struct Pool::Slot {
  std::shared_ptr<Browser> browser;
  std::size_t contexts = 0;  // places that are held
  std::size_t clients = 0;   // seats that are held
  std::uint64_t opened = 0;
  std::uint64_t memory_bytes = 0;
  bool is_draining = false;
  bool is_gone = false;
};

Pool::Seat::Seat(Pool& pool, std::shared_ptr<Slot> slot) : pool_(&pool), slot_(std::move(slot)) {
  ++slot_->clients;
}
Pool::Seat::~Seat() {
  if (slot_ == nullptr) return;
  --slot_->clients;
  pool_->room_.notify();
}
Pool::Seat::Seat(Seat&& other) noexcept
    : pool_(other.pool_), slot_(std::exchange(other.slot_, nullptr)) {}

Result<Pool::Seat> Pool::Place::seat() {
  if (slot_->clients < pool_->options_.max_clients_per_browser) return Seat(*pool_, slot_);
  Error error{
      Code::kTooManyRequests,
      fmt::format("{} clients are attached to the browser, which is the most", slot_->clients)};
  error.retry_after_seconds = 5;
  return fail(std::move(error));
}

Pool::Place::Place(Pool& pool, std::shared_ptr<Slot> slot) : pool_(&pool), slot_(std::move(slot)) {
  ++slot_->contexts;
}
Pool::Place::~Place() { leave(); }
Pool::Place::Place(Place&& other) noexcept
    : pool_(other.pool_), slot_(std::exchange(other.slot_, nullptr)) {}
Pool::Place& Pool::Place::operator=(Place&& other) noexcept {
  if (this != &other) {
    leave();
    pool_ = other.pool_;
    slot_ = std::exchange(other.slot_, nullptr);
  }
  return *this;
}
const std::string& Pool::Place::browser_version() const { return slot_->browser->version(); }
int Pool::Place::browser_pid() const { return slot_->browser->pid(); }

void Pool::Place::leave() {
  if (slot_ == nullptr) return;
  --slot_->contexts;
  if (slot_->is_draining && slot_->contexts == 0) pool_->retire(slot_);
  slot_ = nullptr;
  pool_->room_.notify();
}

Pool::Pool(rt::Loop& loop, const Clock& clock, std::unique_ptr<Driver> driver, PoolOptions options)
    : loop_(loop),
      clock_(clock),
      driver_(std::move(driver)),
      options_(std::move(options)),
      line_(loop),
      room_(loop),
      heartbeat_at_(clock.now()) {}

Pool::~Pool() = default;

std::unexpected<Error> Pool::full() {
  ++probe_.refused;
  Error error{Code::kPoolFull,
              fmt::format("pool '{}' has {} contexts, which is the most, and {} callers wait",
                          options_.key, contexts(), line_.waiting())};
  error.retry_after_seconds = 5;
  return fail(std::move(error));
}

std::size_t Pool::contexts() const {
  std::size_t count = 0;
  for (const auto& slot : slots_) count += slot->contexts;
  return count;
}

std::size_t Pool::running() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(slots_, [](const auto& slot) { return !slot->is_draining; }));
}

std::vector<Pool::BrowserView> Pool::browsers() const {
  std::vector<BrowserView> views;
  for (const auto& slot : slots_)
    views.push_back({.pid = slot->browser->pid(),
                     .version = slot->browser->version(),
                     .contexts = slot->contexts,
                     .clients = slot->clients,
                     .memory_bytes = slot->memory_bytes,
                     .is_draining = slot->is_draining});
  return views;
}

std::shared_ptr<Pool::Slot> Pool::slot_with_room() const {
  std::shared_ptr<Slot> best;
  for (const auto& slot : slots_) {
    if (slot->is_draining || slot->contexts >= options_.max_contexts_per_browser) continue;
    if (slot->clients > 0 && slot->clients >= options_.max_clients_per_browser) continue;
    if (!best || slot->contexts < best->contexts) best = slot;
  }
  return best;
}

rt::Task<Result<std::shared_ptr<Pool::Slot>>> Pool::start_browser() {
  const auto slot = std::make_shared<Slot>();
  const std::weak_ptr<Slot> weak = slot;
  auto browser = co_await driver_->start([this, weak] {
    const auto gone = weak.lock();
    if (!gone) return;
    gone->is_gone = true;
    gone->is_draining = true;
    ++probe_.crashed;
    log::error("a browser is gone", {{"pool", options_.key}, {"contexts", gone->contexts}});
    if (gone->contexts == 0) retire(gone);
    room_.notify();
  });
  if (!browser) {
    last_error_ = browser.error().detail;
    log::error("a browser did not start", {{"pool", options_.key}, {"detail", last_error_}});
    co_return fail(std::move(browser).error());
  }
  last_error_.clear();
  slot->browser = std::move(*browser);
  slots_.push_back(slot);
  ++probe_.started;
  log::info("a browser started", {{"pool", options_.key},
                                  {"pid", slot->browser->pid()},
                                  {"version", slot->browser->version()}});
  co_return slot;
}

rt::Task<Result<std::shared_ptr<Pool::Slot>>> Pool::find_slot(rt::CancelScope& scope,
                                                              rt::Deadline deadline) {
  for (;;) {
    if (is_closed_) co_return fail(Code::kShuttingDown, "the server is stopping");
    if (contexts() < options_.max_contexts) {
      if (auto slot = slot_with_room()) co_return slot;
      if (running() < options_.max_browsers) co_return co_await start_browser();
    }
    const auto waited = co_await room_.wait(scope, deadline);
    if (!waited && waited.error().code == Code::kDeadline) co_return full();
    if (!waited) co_return fail(waited.error());
  }
}

rt::Task<Result<Pool::Opened>> Pool::open(ContextOptions options, ContextEvents& events,
                                          rt::CancelScope& scope) {
  if (line_.waiting() >= options_.max_waiting) co_return full();
  const rt::Nanos began = loop_.now();
  const rt::Deadline deadline = rt::Deadline::after(loop_, options_.queue_timeout);
  std::shared_ptr<Slot> slot;
  std::optional<Place> place;
  {
    auto turn = co_await line_.take(scope, deadline);
    if (!turn && turn.error().code == Code::kDeadline) co_return full();
    if (!turn) co_return fail(std::move(turn).error());
    REPRISE_CO_TRY(slot, co_await find_slot(scope, deadline));
    place.emplace(*this, slot);
  }
  const auto queued = std::chrono::duration_cast<Millis>(loop_.now() - began);
  REPRISE_CO_TRY(auto context,
                 co_await slot->browser->new_context(std::move(options), events,
                                                     rt::Deadline::after(loop_, kPagePatience)));
  ++probe_.opened;
  if (++slot->opened >= options_.recycle_after_contexts && !slot->is_draining) {
    slot->is_draining = true;
    ++probe_.recycled;
  }
  co_return Opened{.context = std::move(context), .place = std::move(*place), .queued = queued};
}

void Pool::retire(const std::shared_ptr<Slot>& slot) {
  const auto found = std::ranges::find(slots_, slot);
  if (found == slots_.end()) return;
  slots_.erase(found);
  rt::spawn(stopping_, stop_slot(slot));
  room_.notify();
}

rt::Task<> Pool::stop_slot(std::shared_ptr<Slot> slot) {
  // Not from within the browser's own events.
  co_await rt::yield(loop_);
  co_await slot->browser->stop();
}

rt::Task<> Pool::look_after(std::shared_ptr<Slot> slot) {
  const auto memory = co_await slot->browser->memory();
  if (memory) slot->memory_bytes = *memory;
  const bool is_heavy = slot->memory_bytes > options_.recycle_above_bytes;
  if (is_heavy && !slot->is_draining) {
    log::warning("a browser takes much memory and gets no new contexts",
                 {{"pid", slot->browser->pid()}, {"bytes", slot->memory_bytes}});
    slot->is_draining = true;
    ++probe_.recycled;
  }
  if (slot->is_draining && slot->contexts == 0) retire(slot);
}

rt::Task<> Pool::run(rt::CancelScope& scope) {
  while (co_await rt::sleep_for(loop_, kPoolInterval, scope)) {
    heartbeat_at_ = clock_.now();
    const auto slots = slots_;
    for (const auto& slot : slots)
      if (!slot->is_gone) co_await look_after(slot);
  }
}

rt::Task<> Pool::close() {
  is_closed_ = true;
  room_.notify();
  const auto slots = std::exchange(slots_, {});
  for (const auto& slot : slots) rt::spawn(stopping_, stop_slot(slot));
  co_await stopping_.empty();
}

}  // namespace reprise::browser
