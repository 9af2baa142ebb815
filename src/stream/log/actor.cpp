#include "stream/log/actor.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "stream/limits.h"
#include "stream/log/offset.h"

namespace reprise::stream {
namespace {

Error too_many_races() {
  Error error{Code::kOverloaded, "too many callers change this stream at once"};
  error.retry_after_seconds = 1;
  return error;
}

}  // namespace

struct LogActor::Waiting {
  LogActor& actor;
  std::optional<AppendLog> append;  // none: just a look
  bool is_use = false;
  std::optional<Result<Answer>> outcome = std::nullopt;
  std::coroutine_handle<> handle{};

  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    handle = waiting;
    actor.queue_.push_back(this);
    if (actor.is_running_) return;
    actor.is_running_ = true;
    actor.context_.start_later(actor.shared_from_this());
  }
  Result<Answer> await_resume() { return std::move(*outcome); }
};

// One commit in the making.
struct LogActor::Batch {
  std::optional<LogRecord> record;
  Seq head;
  TimePoint now;
  bool writes_record = false;
  std::vector<Waiting*> calls;
  std::vector<Result<Answer>> answers;
  std::vector<std::string> entries;
  std::size_t entry_bytes = 0;
  std::unordered_map<std::string, std::optional<ProducerState>> producers;  // changed ones
  store::Commit commit;
  std::shared_ptr<stream::Batch> published;
};

void LogContext::start_later(std::shared_ptr<LogActor> actor) {
  ready.push_back(std::move(actor));
  if (ready.size() == 1) hub.loop().post([this] { start_ready(); });
}

void LogContext::start_ready() {
  const store::AsyncStore::Together together(store);
  // An actor that starts may have others called.
  for (const auto& actor : std::exchange(ready, {})) actor->start();
}

void LogActor::start() {
  if (rt::spawn(context_.gate, run())) return;
  is_running_ = false;
  for (Waiting* one : std::exchange(queue_, {})) {
    one->outcome = fail(Code::kShuttingDown, "the server is stopping");
    one->handle.resume();
  }
}

LogActor::LogActor(LogContext& context, std::string path)
    : context_(context), path_(std::move(path)), knows_uses_since_(context.clock.now()) {}

LogActor::~LogActor() { REPRISE_ASSERT(queue_.empty(), queue_.size()); }

LogView LogActor::view() const {
  return {*record_, Seq{record_->base + head_.value}, context_.hub.index()};
}

Result<> LogActor::check_living(const std::optional<LogRecord>& record) const {
  const bool is_over =
      record && !record->is_deleted && readers_ == 0 && record->is_expired(context_.clock.now());
  if (!record || is_over)
    return fail(Code::kStreamNotFound, fmt::format("there is no stream '{}'", path_));
  if (record->is_deleted)
    return fail(Code::kGone, fmt::format("the stream '{}' was deleted", path_));
  return {};
}

void LogActor::changed(std::optional<StreamId> removed) {
  is_loaded_ = false;
  producers_.clear();
  if (removed) context_.hub.publish_removed(*removed, "deleted");
}

void LogActor::remove_reader() {
  --readers_;
  if (record_) record_->used_at = std::max(record_->used_at, context_.clock.now());
}

rt::Task<Result<LogView>> LogActor::look(bool is_use) {
  const auto self = shared_from_this();
  REPRISE_CO_TRY(Answer answer, co_await enqueue(std::nullopt, is_use));
  co_return std::move(*answer.view);
}

rt::Task<Result<AppendOutcome>> LogActor::append(AppendLog append) {
  const auto self = shared_from_this();
  REPRISE_CO_TRY(Answer answer, co_await enqueue(std::move(append), true));
  co_return *answer.append;
}

rt::Task<Result<LogActor::Answer>> LogActor::enqueue(std::optional<AppendLog> append, bool is_use) {
  if (queue_.size() >= kMaxQueuedPerLog) {
    ++context_.probe.refused;
    co_return fail(Code::kTooManyRequests,
                   fmt::format("{} calls wait for this stream already", queue_.size()));
  }
  Waiting waiting{*this, std::move(append), is_use};
  co_return co_await waiting;
}

rt::Task<> LogActor::run() {
  const auto self = shared_from_this();
  int lost_races = 0;
  while (!queue_.empty()) {
    Result<> ready;
    if (!is_loaded_) ready = co_await load();
    if (ready && record_) ready = co_await load_producers();
    if (!ready) {
      for (Waiting* waiting : std::exchange(queue_, {})) {
        waiting->outcome = fail(ready.error());
        waiting->handle.resume();
      }
      continue;
    }
    if (!is_loaded_) continue;  // changed while the producers were read
    Batch batch{.record = record_, .head = head_, .now = context_.clock.now()};
    decide(batch);
    fill_commit(batch);
    if (batch.commit.is_empty()) {
      if (record_ && batch.record) record_->used_at = batch.record->used_at;
    } else {
      auto committed = co_await context_.store.commit(std::move(batch.commit));
      if (committed) {
        lost_races = 0;
        apply(batch, *committed);
      } else {
        is_loaded_ = false;
        producers_.clear();
        const bool is_race = committed.error().code == Code::kWrongSequence ||
                             committed.error().code == Code::kWrongVersion;
        if (is_race) ++context_.probe.lost_races;
        if (is_race && ++lost_races < kMaxLogRaces) {
          queue_.insert(queue_.begin(), batch.calls.begin(), batch.calls.end());
          continue;
        }
        Error error = committed.error();
        if (is_race) error = too_many_races();
        lost_races = 0;
        for (auto& answer : batch.answers) answer = fail(error);
      }
    }
    for (std::size_t i = 0; i < batch.calls.size(); ++i)
      batch.calls[i]->outcome = std::move(batch.answers[i]);
    for (Waiting* waiting : batch.calls) waiting->handle.resume();
  }
  is_running_ = false;
}

rt::Task<Result<>> LogActor::load() {
  is_loaded_ = true;  // unless changed() says otherwise meanwhile
  auto found = co_await context_.store.get(log_key(path_));
  if (!found) {
    is_loaded_ = false;
    co_return fail(std::move(found).error());
  }
  if (!*found) {
    record_.reset();
    co_return Result<>{};
  }
  auto decoded = decode_log((*found)->value);
  if (!decoded) {
    is_loaded_ = false;
    co_return fail(std::move(decoded).error());
  }
  LogRecord record = std::move(*decoded);
  auto head = co_await context_.store.head(record.stream);
  if (!head) {
    is_loaded_ = false;
    co_return fail(std::move(head).error());
  }
  version_ = (*found)->version;
  head_ = *head;
  used_at_written_ = record.used_at;
  if (record_ && record_->stream == record.stream) {
    // Uses that were not written down and are known here stay known.
    record.used_at = std::max(record.used_at, record_->used_at);
  } else if (record.ttl_seconds) {
    // Uses are written down once per tenth of the window: what may not have been is granted.
    const Millis tenth(*record.ttl_seconds * 100);
    record.used_at = std::max(record.used_at, std::min(knows_uses_since_, record.used_at + tenth));
  }
  record_ = std::move(record);
  co_return Result<>{};
}

rt::Task<Result<>> LogActor::load_producers() {
  if (producers_.size() > kMaxCachedProducers) producers_.clear();
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    const Waiting& waiting = *queue_[i];
    if (!waiting.append || !waiting.append->producer) continue;
    const std::string id = waiting.append->producer->id;
    if (producers_.contains(id)) continue;
    REPRISE_CO_TRY(const auto found,
                   co_await context_.store.get(producer_key(record_->stream, id)));
    std::optional<ProducerState> state;
    if (found) {
      REPRISE_CO_TRY(state, decode_producer(found->value));
    }
    if (!is_loaded_) co_return Result<>{};
    producers_.emplace(id, state);
  }
  co_return Result<>{};
}

void LogActor::decide(Batch& batch) {
  batch.calls.swap(queue_);
  batch.answers.reserve(batch.calls.size());
  std::size_t decided = 0;
  for (; decided < batch.calls.size(); ++decided) {
    const Waiting& waiting = *batch.calls[decided];
    // Came while the producers were read: it waits for its own.
    if (waiting.append && waiting.append->producer && batch.record &&
        !producers_.contains(waiting.append->producer->id))
      break;
    // A commit that is too large for the store's queue would never be taken.
    if (batch.entry_bytes >= kMaxLogBatchBytes) break;
    batch.answers.push_back(decide_one(batch, waiting));
  }
  queue_.assign(batch.calls.begin() + static_cast<std::ptrdiff_t>(decided), batch.calls.end());
  batch.calls.resize(decided);
}

Result<LogActor::Answer> LogActor::decide_one(Batch& batch, const Waiting& waiting) {
  REPRISE_CHECK(check_living(batch.record));
  LogRecord& record = *batch.record;
  Answer answer;
  const Seq tail{record.base + batch.head.value};
  if (waiting.append) {
    std::optional<ProducerState> known;
    if (waiting.append->producer) {
      const std::string& id = waiting.append->producer->id;
      const auto changed = batch.producers.find(id);
      known = changed != batch.producers.end() ? changed->second : producers_.at(id);
    }
    REPRISE_TRY(AppendDecision decision, decide_append(record, tail, known, *waiting.append));
    if (decision.entry) {
      batch.entry_bytes += decision.entry->size();
      batch.entries.push_back(std::move(*decision.entry));
      batch.head = batch.head.next();
    }
    if (decision.producer) batch.producers[waiting.append->producer->id] = decision.producer;
    // A deletion erases the producers it has seen: one more must make it look again.
    if (decision.producer && !known) batch.writes_record = true;
    batch.writes_record = batch.writes_record || decision.writes_record;
    answer.append = decision.outcome;
  }
  if (waiting.is_use) {
    record.used_at = std::max(record.used_at, batch.now);
    const Millis tenth(record.ttl_seconds.value_or(0) * 100);
    if (record.ttl_seconds && batch.now - used_at_written_ >= tenth) batch.writes_record = true;
  }
  // Who follows it uses it all the time; the janitor writes that down once per window.
  if (readers_ > 0) record.used_at = std::max(record.used_at, batch.now);
  if (!waiting.append)
    answer.view = LogView{record, Seq{record.base + batch.head.value}, context_.hub.index()};
  return answer;
}

void LogActor::fill_commit(Batch& batch) {
  store::Commit& commit = batch.commit;
  if (!batch.record) return;
  const LogRecord& record = *batch.record;
  const bool is_watched = context_.hub.has_subscribers(record.stream);
  if (!batch.entries.empty()) {
    if (is_watched) {
      batch.published = std::make_shared<stream::Batch>();
      batch.published->stream = record.stream;
      batch.published->first = head_.next();
      batch.published->entries = batch.entries;
      batch.published->is_end = record.is_closed;
      if (record.is_closed)
        batch.published->end_reason = offset_text(Seq{record.base + batch.head.value});
    }
    commit.appends.push_back(
        {.stream = record.stream, .expected_head = head_, .entries = std::move(batch.entries)});
    batch.entries.clear();
  }
  for (const auto& [id, state] : batch.producers)
    commit.puts.push_back(
        {.key = producer_key(record.stream, id), .value = encode_producer(*state), .only_if = {}});
  if (batch.writes_record) {
    commit.puts.push_back({.key = log_key(path_),
                           .value = encode_log(record),
                           .only_if = store::Precondition::version(version_)});
  } else if (!commit.is_empty() && head_.value == 0) {
    // Nothing but the record tells that an empty log is still there.
    commit.checks.push_back(
        {.key = log_key(path_), .only_if = store::Precondition::version(version_)});
  }
}

void LogActor::apply(Batch& batch, const store::Durable<store::Committed>& durable) {
  const bool was_closed = record_->is_closed;
  const bool has_entries = batch.head > head_;
  context_.probe.appends.fetch_add(batch.head.value - head_.value, std::memory_order_relaxed);
  // Changed by somebody else while this was written: what was written stands, the rest is loaded.
  if (batch.writes_record) {
    version_ = durable->versions.back();
    used_at_written_ = batch.record->used_at;
  }
  record_ = std::move(batch.record);
  head_ = batch.head;
  for (auto& [id, state] : batch.producers) producers_[id] = state;
  Hub& hub = context_.hub;
  if (has_entries && context_.listener)
    context_.listener(path_, record_->stream, Seq{record_->base + head_.value},
                      LogChange::kAppended);
  if (batch.published)
    hub.publish(durable.with<std::shared_ptr<const stream::Batch>>(std::move(batch.published)));
  else if (has_entries)
    hub.publish_gap(record_->stream);
  // Also after a batch that carried it: who came while it was in flight has read the entries, but
  // not that they are the last.
  if (record_->is_closed && !was_closed)
    hub.publish_end(record_->stream, head_, offset_text(Seq{record_->base + head_.value}));
}

}  // namespace reprise::stream
