// Logs against a model that holds everything in plain containers: chance operations, time and
// restarts; every answer and every content must be the model's, and at the end nothing is left.
#include <map>
#include <set>

#include "stream/log/testing.h"

namespace reprise::stream {
namespace {

using testing::Logs;
using testing::World;
using Kind = AppendOutcome::Kind;

constexpr Code kFine = Code::kInternal;  // what Logs::code says of a success

struct ModelLog {
  std::vector<std::string> appends;
  bool is_closed = false;
  bool is_deleted = false;
  std::optional<std::uint64_t> ttl_seconds;
  TimePoint used_at;
  int grants = 0;  // restarts since the last use: each may grant a tenth of the window
  std::optional<ForkRequest> origin;
  int forks = 0;
  std::optional<std::string> writer_seq;
  std::map<std::string, ProducerState> producers;
  std::optional<ProducerClaim> closed_by;
};

class Model {
 public:
  explicit Model(std::uint64_t seed) : dice_(seed), logs_(std::make_unique<Logs>()) {}

  void step() {
    const std::uint64_t choice = dice_.next_u64() % 100;
    if (choice < 40) return append(path());
    if (choice < 55) return create(path());
    if (choice < 70) return fork(path(), path());
    if (choice < 80) return remove(path());
    if (choice < 85) return use(path());
    if (choice < 93) return pass_time();
    if (choice < 98) return tidy_up();
    restart();
  }

  void compare() {
    for (const std::string& path : kPaths) {
      const Code expected = state(path);
      ASSERT_EQ(code(logs_->look(path)), expected) << path;
      if (expected != kFine) continue;
      std::string content;
      for (const std::string& one : known_.at(path).appends) content += one + "|";
      ASSERT_EQ(logs_->content(path), content) << path;
      ASSERT_EQ(logs_->look(path)->record.is_closed, known_.at(path).is_closed) << path;
    }
  }

  void expect_nothing_left_once_all_is_deleted() {
    for (const std::string& path : kPaths) remove(path);
    tidy_up();  // what had run out of time could not be deleted
    tidy_up();
    EXPECT_EQ(logs_->record_count(), 0U);
    for (const StreamId stream : incarnations_)
      EXPECT_EQ(*logs_->world.store.head(stream, store::ReadMode::kBlocking), Seq{0});
  }

 private:
  inline static const std::vector<std::string> kPaths = {"a", "b", "c", "d", "e"};

  std::string path() { return kPaths[dice_.next_u64() % kPaths.size()]; }
  bool one_in(std::uint64_t count) { return dice_.next_u64() % count == 0; }
  TimePoint now() { return logs_->world.time.now(); }
  template <typename T>
  static Code code(const Result<T>& result) {
    return result ? kFine : result.error().code;
  }
  // From a loop of chance, in an order of chance.
  template <typename T>
  T run(rt::Task<T> task) {
    auto place = logs_->world.start(logs_->world.loop(dice_.next_u64() % 3), std::move(task));
    logs_->world.settle_shuffled(dice_);
    REPRISE_ASSERT(place->has_value());
    return std::move(**place);
  }

  bool is_expired(const std::string& path) {
    const ModelLog& log = known_.at(path);
    if (!log.ttl_seconds) return false;
    const Millis window(*log.ttl_seconds * 1'000);
    if (now() < log.used_at + window) return false;
    if (now() >= log.used_at + window + window / 10 * log.grants) return true;
    return code(logs_->look(path)) == Code::kStreamNotFound;  // either is right
  }
  // What a look at it says.
  Code state(const std::string& path) {
    if (!known_.contains(path)) return Code::kStreamNotFound;
    if (known_.at(path).is_deleted) return Code::kGone;
    return is_expired(path) ? Code::kStreamNotFound : kFine;
  }
  void mark_used(ModelLog& log) {
    log.used_at = now();
    log.grants = 0;
  }
  void take_out(std::string path) {
    for (;;) {
      ModelLog& log = known_.at(path);
      if (log.forks > 0) {
        log.is_deleted = true;
        return;
      }
      const auto origin = log.origin;
      known_.erase(path);
      if (!origin) return;
      path = origin->path;
      ModelLog& source = known_.at(path);
      --source.forks;
      if (!source.is_deleted) return;
    }
  }

  CreateLog some_log() {
    CreateLog create;
    // With steps of 50 s, no use falls into the tenth of a window that is not written down.
    constexpr std::array<std::uint64_t, 3> kWindows = {35, 85, 135};
    if (one_in(3)) create.ttl_seconds = kWindows[dice_.next_u64() % kWindows.size()];
    create.is_closed = one_in(8);
    if (one_in(2)) create.body = next_body();
    return create;
  }
  std::string next_body() { return fmt::format("<{}>", ++bodies_); }

  void create(const std::string& path) {
    CreateLog create = some_log();
    create.content_type = "text/plain";
    finish_create(path, create);
  }
  void fork(const std::string& path, const std::string& source) {
    CreateLog create = some_log();
    create.fork = ForkRequest{.path = source};
    const auto found = known_.find(source);
    const std::uint64_t tail = found == known_.end() ? 0 : found->second.appends.size();
    if (one_in(2)) create.fork->offset = Seq{dice_.next_u64() % (tail + 2)};
    if (one_in(3)) create.fork->sub_offset = dice_.next_u64() % 6;
    finish_create(path, create);
  }

  bool is_as_asked(const ModelLog& log, const CreateLog& create) {
    if (log.is_closed != create.is_closed || log.origin.has_value() != create.fork.has_value())
      return false;
    if (!create.fork) return log.ttl_seconds == create.ttl_seconds;
    return log.origin->path == create.fork->path &&
           log.origin->sub_offset == create.fork->sub_offset &&
           (!create.fork->offset || create.fork->offset == log.origin->offset) &&
           (!create.ttl_seconds || log.ttl_seconds == create.ttl_seconds);
  }
  // What creating it gives, and the log as it then is.
  Code expect_create(const std::string& path, const CreateLog& create, bool& is_new,
                     ModelLog& made) {
    if (known_.contains(path)) {
      const Code there = state(path);
      if (there == kFine) return is_as_asked(known_.at(path), create) ? kFine : Code::kConflict;
      if (there == Code::kGone || known_.at(path).forks > 0) return Code::kConflict;
      take_out(path);
    }
    made.is_closed = create.is_closed;
    made.ttl_seconds = create.ttl_seconds;
    if (create.fork) {
      if (create.fork->path == path) return Code::kConflict;
      const Code there = state(create.fork->path);
      if (there != kFine) return there == Code::kGone ? Code::kConflict : there;
      const ModelLog& source = known_.at(create.fork->path);
      const Seq tail{source.appends.size()};
      const Seq offset = create.fork->offset.value_or(tail);
      if (offset > tail) return Code::kBadParameter;
      made.appends.assign(source.appends.begin(),
                          source.appends.begin() + static_cast<std::ptrdiff_t>(offset.value));
      if (const std::uint64_t part = create.fork->sub_offset; part > 0) {
        if (offset == tail || source.appends[offset.value].size() < part)
          return Code::kBadParameter;
        made.appends.push_back(source.appends[offset.value].substr(0, part));
      }
      if (!create.ttl_seconds) made.ttl_seconds = source.ttl_seconds;
      made.origin = create.fork;
      made.origin->offset = offset;
    }
    if (!create.body.empty()) made.appends.push_back(create.body);
    is_new = true;
    return kFine;
  }
  void finish_create(const std::string& path, const CreateLog& create) {
    bool is_new = false;
    ModelLog made;
    const Code expected = expect_create(path, create, is_new, made);
    const auto created = run(logs_->service->create(path, create));
    ASSERT_EQ(code(created), expected) << path;
    if (!created) return;
    ASSERT_EQ(created->is_new, is_new) << path;
    incarnations_.insert(created->view.record.stream);
    if (!is_new) return;
    ASSERT_EQ(created->view.tail, Seq{made.appends.size()});
    mark_used(made);
    if (made.origin) ++known_.at(made.origin->path).forks;
    known_[path] = std::move(made);
  }

  AppendLog some_append() {
    AppendLog append;
    append.content_type = "text/plain";
    append.closes = one_in(12);
    if (!append.closes || one_in(2)) append.body = next_body();
    if (one_in(3))
      append.producer =
          ProducerClaim{one_in(2) ? "p" : "q", dice_.next_u64() % 3, dice_.next_u64() % 4};
    if (one_in(6)) append.writer_seq = std::to_string(dice_.next_u64() % 10);
    return append;
  }
  Kind expect_append(ModelLog& log, const AppendLog& append) {
    std::optional<ProducerState> known;
    if (append.producer && log.producers.contains(append.producer->id))
      known = log.producers.at(append.producer->id);
    if (log.is_closed) {
      const auto& by = log.closed_by;
      const bool is_same = by && append.producer && by->id == append.producer->id &&
                           by->epoch == append.producer->epoch && by->seq == append.producer->seq;
      if (is_same) return Kind::kDuplicate;
      if (append.body.empty() && !append.producer) return Kind::kClosed;
      const bool is_stale = known && append.producer->epoch < known->epoch;
      return is_stale ? Kind::kStaleEpoch : Kind::kAlreadyClosed;
    }
    if (append.producer) {
      const ProducerClaim& claim = *append.producer;
      if (!known && claim.seq > 0) return Kind::kGap;
      if (known && claim.epoch < known->epoch) return Kind::kStaleEpoch;
      if (known && claim.epoch > known->epoch && claim.seq > 0) return Kind::kBadStart;
      if (known && claim.epoch == known->epoch && claim.seq <= known->last_seq)
        return Kind::kDuplicate;
      if (known && claim.epoch == known->epoch && claim.seq > known->last_seq + 1)
        return Kind::kGap;
    }
    if (append.writer_seq && log.writer_seq && *append.writer_seq <= *log.writer_seq)
      return Kind::kOldWriterSeq;
    if (append.producer)
      log.producers[append.producer->id] = {append.producer->epoch, append.producer->seq};
    if (append.writer_seq) log.writer_seq = append.writer_seq;
    if (append.closes) log.closed_by = append.producer;
    log.is_closed = append.closes;
    if (append.body.empty()) return Kind::kClosed;
    log.appends.push_back(append.body);
    return Kind::kAppended;
  }
  void append(const std::string& path) {
    const AppendLog append = some_append();
    const Code expected = state(path);
    const auto outcome = run(logs_->service->append(path, append));
    ASSERT_EQ(code(outcome), expected) << path;
    if (!outcome) return;
    ModelLog& log = known_.at(path);
    ASSERT_EQ(outcome->kind, expect_append(log, append)) << path;
    ASSERT_EQ(outcome->tail, Seq{log.appends.size()}) << path;
    ASSERT_EQ(outcome->is_closed, log.is_closed) << path;
    mark_used(log);
  }

  void remove(const std::string& path) {
    const Code expected = state(path);
    ASSERT_EQ(code(run(logs_->service->remove(path))), expected) << path;
    if (expected == kFine) take_out(path);
  }
  void use(const std::string& path) {
    const Code expected = state(path);
    ASSERT_EQ(code(run(logs_->service->look(path, true))), expected) << path;
    if (expected == kFine) mark_used(known_.at(path));
  }
  void pass_time() { logs_->world.time.advance(std::chrono::seconds{50}); }
  void tidy_up() {
    std::vector<std::string> over;
    for (const std::string& path : kPaths)
      if (known_.contains(path) && !known_.at(path).is_deleted && is_expired(path))
        over.push_back(path);
    ASSERT_TRUE(run(logs_->service->expire_due()));
    for (const std::string& path : over) take_out(path);
  }
  void restart() {
    auto contents = logs_->world.engine->copy();
    const TimePoint at = now();
    logs_.reset();
    logs_ = std::make_unique<Logs>(std::move(contents), at);
    logs_->random = SeededRandom(++restarts_ + 1'000'000);  // identifiers are not made twice
    for (auto& [path, log] : known_) ++log.grants;
  }

  SeededRandom dice_;
  std::unique_ptr<Logs> logs_;
  std::map<std::string, ModelLog> known_;
  std::set<StreamId> incarnations_;
  std::uint64_t bodies_ = 0;
  std::uint64_t restarts_ = 0;
};

TEST(LogModel, EveryAnswerAndContentIsTheModels) {
  const std::uint64_t seed = testing::test_seed();
  for (std::uint64_t round = 0; round < 60; ++round) {
    SCOPED_TRACE(fmt::format("seed {}", seed + round));
    Model model(seed + round);
    for (int step = 0; step < 250; ++step) {
      SCOPED_TRACE(fmt::format("step {}", step));
      model.step();
      if (::testing::Test::HasFatalFailure()) return;
      if (step % 10 == 0) model.compare();
      if (::testing::Test::HasFatalFailure()) return;
    }
    model.expect_nothing_left_once_all_is_deleted();
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace reprise::stream
