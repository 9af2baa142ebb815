// Creating and forking logs: commits that may touch several of them.
#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "stream/limits.h"
#include "stream/log/append_entry.h"
#include "stream/log/content.h"
#include "stream/log/reader.h"
#include "stream/log/service.h"
#include "stream/log/service_parts.h"

namespace reprise::stream {
namespace {

constexpr std::string_view kDefaultContentType = "application/octet-stream";

// Whether a log that is there is what a creation asks for.
bool is_as_asked(const LogRecord& record, const CreateLog& create) {
  const bool is_fork = create.fork.has_value();
  if (record.is_closed != create.is_closed || record.origin.has_value() != is_fork) return false;
  if (is_fork) {
    const ForkOrigin& origin = *record.origin;
    if (origin.path != create.fork->path || origin.sub_offset != create.fork->sub_offset ||
        (create.fork->offset && create.fork->offset->value != origin.offset))
      return false;
  }
  // What a fork leaves out it has inherited.
  const bool may_inherit_type = is_fork && !create.content_type;
  if (!may_inherit_type &&
      !is_same_media_type(record.content_type,
                          create.content_type.value_or(std::string(kDefaultContentType))))
    return false;
  const bool may_inherit_expiry = is_fork && !create.ttl_seconds && !create.expires_at;
  return may_inherit_expiry ||
         (record.ttl_seconds == create.ttl_seconds && record.expires_at == create.expires_at);
}

// The parts of a source that a fork at `offset` has in common with it.
std::vector<Inherited> inherited_by_fork(const LogRecord& source, std::uint64_t offset) {
  std::vector<Inherited> parts;
  for (Inherited part : source.inherited) {
    if (part.base >= offset) break;
    part.until = std::min(part.until, offset);
    parts.push_back(part);
  }
  if (offset > source.base) parts.push_back({source.stream, source.base, offset});
  return parts;
}

}  // namespace

rt::Task<Result<LogService::Found>> LogService::find(std::string path) {
  REPRISE_CO_TRY(const auto record, co_await store_here().get(log_key(path)));
  Found found;
  found.only_if = store::Precondition::absent();
  if (record) {
    found.only_if = store::Precondition::version(record->version);
    REPRISE_CO_TRY(found.record, decode_log(record->value));
  }
  co_return found;
}

rt::Task<Result<CreatedLog>> LogService::create(std::string path, CreateLog create) {
  for (int tries = 0; tries < kMaxLogRaces; ++tries) {
    auto created = co_await try_create(path, create);
    if (created || !is_log_race(created.error())) co_return created;
  }
  co_return lost_log_races();
}

rt::Task<Result<CreatedLog>> LogService::try_create(const std::string& path,
                                                    const CreateLog& create) {
  REPRISE_CO_TRY(Found found, co_await find(path));
  if (found.record) {
    // Whether it is past its time, its actor knows.
    auto living = co_await look(path, false);
    if (living && is_as_asked(living->record, create))
      co_return CreatedLog{.view = std::move(*living), .is_new = false};
    if (living)
      co_return fail(Code::kConflict,
                     fmt::format("the stream '{}' is there with another configuration", path));
    const bool is_gone = living.error().code == Code::kGone;
    if (!is_gone && living.error().code != Code::kStreamNotFound)
      co_return fail(std::move(living).error());
    if (is_gone || found.record->forks > 0)
      co_return fail(Code::kConflict,
                     fmt::format("the stream '{}' was deleted, but its forks are there", path));
    // It goes by itself first: a commit that removes a fork and makes another of the same source
    // would count that source's forks twice.
    REPRISE_CO_CHECK(co_await remove_expired(path, std::move(found)));
    REPRISE_CO_TRY(found, co_await find(path));
    if (found.record) co_return fail(Code::kWrongVersion, "another one came meanwhile");
  }
  const TimePoint now = clock_.now();
  Change change;
  LogRecord record;
  record.stream = StreamId::make(now, random_);
  record.content_type = create.content_type.value_or(std::string(kDefaultContentType));
  record.ttl_seconds = create.ttl_seconds;
  record.expires_at = create.expires_at;
  record.created_at = record.used_at = now;
  record.is_closed = create.is_closed;
  store::StreamAppend first{
      .stream = record.stream, .expected_head = Seq{0}, .entries = {}, .is_new_stream = true};
  if (create.fork) {
    change.commit.appends.push_back(std::move(first));
    REPRISE_CO_CHECK(co_await add_fork(path, create, record, change));
    first = std::move(change.commit.appends.back());
    change.commit.appends.pop_back();
  }
  REPRISE_CO_TRY(auto content, encode_content(record.is_json(), create.body));
  if (content) first.entries.push_back(std::move(*content));
  const Seq tail{record.base + first.entries.size()};
  if (!first.entries.empty()) change.commit.appends.push_back(std::move(first));

  file_log_expiry(change.commit, path, record);
  change.commit.puts.push_back(
      {.key = log_key(path), .value = encode_log(record), .only_if = found.only_if});
  REPRISE_CO_CHECK(co_await store_here().commit(std::move(change.commit)));
  co_await tell(path, std::nullopt);
  for (const Change::Touched& other : change.touched) co_await tell(other.path, other.removed);
  ++probe_.created;
  if (listener_) listener_(path, record.stream, tail, LogChange::kCreated);
  co_return CreatedLog{.view = {std::move(record), tail, home_index(path)}, .is_new = true};
}

// Completes the fork's record, takes a reference on its source, and adds the part of an append that
// its sub-offset asks for.
rt::Task<Result<>> LogService::add_fork(const std::string& path, const CreateLog& create,
                                        LogRecord& record, Change& change) {
  const ForkRequest& fork = *create.fork;
  if (fork.path == path) co_return fail(Code::kConflict, "a stream cannot be its own fork");
  REPRISE_CO_TRY(Found source, co_await find(fork.path));
  auto living = co_await look(fork.path, false);
  if (!living && living.error().code == Code::kGone)
    co_return fail(Code::kConflict, fmt::format("the source '{}' was deleted", fork.path));
  if (!living) co_return fail(std::move(living).error());
  if (!source.record || source.record->stream != living->record.stream)
    co_return co_await be_told(fork.path);
  if (create.content_type && !is_same_media_type(*create.content_type, source.record->content_type))
    co_return fail(Code::kConflict, "a fork has the content type of its source");
  record.content_type = source.record->content_type;
  if (create.content_type) record.content_type = *create.content_type;
  if (!create.ttl_seconds && !create.expires_at) {
    record.ttl_seconds = source.record->ttl_seconds;
    record.expires_at = source.record->expires_at;
  }
  const Seq tail = living->tail;
  const Seq offset = fork.offset.value_or(tail);
  if (offset > tail) co_return fail(Code::kBadParameter, "the fork's offset is beyond the tail");
  if (fork.sub_offset > 0) {
    if (offset == tail)
      co_return fail(Code::kBadParameter, "no append follows the fork's offset, so it has no part");
    REPRISE_CO_TRY(const std::string next, co_await entry_at(*source.record, offset.next()));
    REPRISE_CO_TRY(std::string part, first_part(next, fork.sub_offset));
    change.commit.appends.back().entries.push_back(std::move(part));
  }
  const std::uint64_t depth = source.record->origin ? source.record->origin->depth + 1 : 1;
  if (depth > kMaxForkDepth)
    co_return fail(Code::kInvalid,
                   fmt::format("'{}' has {} sources above it already, which is the limit",
                               fork.path, kMaxForkDepth));
  record.base = offset.value;
  record.inherited = inherited_by_fork(*source.record, offset.value);
  record.origin = ForkOrigin{fork.path, offset.value, fork.sub_offset, depth};
  ++source.record->forks;
  change.commit.puts.push_back(
      {.key = log_key(fork.path), .value = encode_log(*source.record), .only_if = source.only_if});
  change.touched.push_back({fork.path, std::nullopt});
  co_return Result<>{};
}

rt::Task<Result<std::string>> LogService::entry_at(const LogRecord& record, Seq number) {
  struct First final : store::EntryVisitor {
    std::string bytes;
    bool visit(Seq, std::string_view entry) override {
      bytes = entry;
      return false;
    }
  } first;
  for (const LogPart& part : parts_of(record, number)) {
    if (number.value <= part.base || number.value > part.until) continue;
    REPRISE_CO_CHECK(co_await store_here().read(
        {.stream = part.stream, .after = Seq{number.value - part.base - 1}, .limit = 1}, first));
    co_return std::move(first.bytes);
  }
  co_return fail(Code::kCorrupt, "an inherited append is missing");
}

}  // namespace reprise::stream
