#include "session/checkpoints.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "model/limits.h"
#include "session/input_records.h"
#include "wire/range.h"

namespace reprise::session {
namespace {

std::string etag_of(std::uint64_t version) { return fmt::format("\"{}\"", version); }

Result<> check_conditions(const NewCheckpoint& what,
                          const std::vector<model::CheckpointVersion>& live) {
  const bool is_there = !live.empty();
  const std::string etag = is_there ? etag_of(live.back().version) : "";
  const auto names = [&](const std::string& list) {
    return is_there && wire::names_etag(list, etag, false);
  };
  if (what.if_match && !names(*what.if_match))
    return fail(Code::kPreconditionFailed,
                is_there ? fmt::format("If-Match does not name {}", etag)
                         : fmt::format("there is no checkpoint '{}' to match", what.name));
  if (what.if_none_match && names(*what.if_none_match))
    return fail(Code::kPreconditionFailed,
                fmt::format("'{}' is {}, which If-None-Match names", what.name, etag));
  return {};
}

void count(std::atomic<std::uint64_t>& counter, std::uint64_t by = 1) {
  counter.fetch_add(by, std::memory_order_relaxed);
}

}  // namespace

std::string CheckpointView::etag() const { return etag_of(version.version); }

Checkpoints::Checkpoints(SessionService& sessions) : sessions_(sessions) {
  for (std::size_t i = 0; i < sessions.hubs().size(); ++i)
    homes_.push_back(std::make_unique<Holds>(sessions.hubs().at(i).loop()));
}

rt::Task<Result<Checkpoints::Sorted>> Checkpoints::sort(const SessionView& view,
                                                        const CheckpointRow& row) {
  Sorted sorted;
  for (const model::CheckpointVersion& version : row.versions) {
    bool is_gone = version.seq <= view.state.visible_after;
    if (!is_gone) {
      REPRISE_CO_TRY(is_gone, co_await is_void(sessions_.store_here(), view.stream,
                                               view.state.inputs, version.seq));
    }
    (is_gone ? sorted.gone : sorted.live).push_back(version);
  }
  co_return sorted;
}

rt::Task<Result<CheckpointPut>> Checkpoints::put(SessionRef session, NewCheckpoint what) {
  REPRISE_CO_CHECK(model::check_checkpoint_name(what.name));
  if (what.data.size() > model::kMaxCheckpointBytes)
    co_return fail(Code::kBodyTooLarge,
                   fmt::format("a checkpoint's data has {} bytes, at most {} are allowed",
                               what.data.size(), model::kMaxCheckpointBytes));
  REPRISE_CO_TRY(const SessionView view, co_await sessions_.get(std::move(session)));
  const SessionId id = view.state.id;
  rt::Loop& origin = *rt::Loop::current();
  if (!co_await rt::switch_to(home_of(id).loop()))
    co_return fail(Code::kOverloaded, "the session's loop has too much waiting");
  auto put = co_await put_once(id, what);
  // A reset or a rollback came in between: look again.
  for (int tries = 1; !put && put.error().code == Code::kWrongVersion && tries < kMaxKeyRaces;
       ++tries)
    put = co_await put_once(id, what);
  co_await rt::return_to(origin);
  if (put) count(probe_.saved);
  if (put) count(probe_.saved_bytes, what.data.size());
  if (!put && put.error().code == Code::kQuotaExceeded) count(probe_.over_quota);
  co_return put;
}

// Before a new name: names that a reset hid go, and so do, where there is no more room, those of
// which all versions were rolled back. What is to be erased; kQuotaExceeded.
rt::Task<Result<std::vector<CheckpointRow>>> Checkpoints::make_room(const SessionView& view,
                                                                    const std::string& name) {
  std::vector<CheckpointRow> hidden;
  std::vector<CheckpointRow> rolled_back;
  std::size_t names = 0;
  std::string begin = checkpoint_prefix(view.stream);
  const std::string end = prefix_end(begin);
  for (bool has_more = true; has_more;) {
    REPRISE_CO_TRY(const auto page,
                   co_await sessions_.store_here().scan({.begin = begin, .end = end}));
    has_more = page.has_more;
    for (const auto& record : page.records) {
      begin = record.key + '\0';
      REPRISE_CO_TRY(CheckpointRow row, decode_checkpoint(record.key, record.value));
      if (row.name == name) continue;
      REPRISE_CO_TRY(const Sorted sorted, co_await sort(view, row));
      const bool is_hidden =
          row.versions.empty() || row.versions.back().seq <= view.state.visible_after;
      if (!sorted.live.empty())
        ++names;
      else
        (is_hidden ? hidden : rolled_back).push_back(std::move(row));
    }
  }
  if (names >= kMaxCheckpointsPerSession)
    co_return fail(
        Code::kQuotaExceeded,
        fmt::format("the session has {} checkpoints, which is the most: delete some", names));
  if (names + rolled_back.size() >= kMaxCheckpointsPerSession)
    std::move(rolled_back.begin(), rolled_back.end(), std::back_inserter(hidden));
  co_return hidden;
}

rt::Task<Result<CheckpointPut>> Checkpoints::put_once(SessionId id, const NewCheckpoint& what) {
  REPRISE_CO_TRY(const Holds::Held held, co_await home_of(id).take(id));
  REPRISE_CO_TRY(const SessionView view, co_await sessions_.get(id));
  const StreamId stream = view.stream;
  if (model::is_terminal(view.state.status))
    co_return fail(Code::kSessionEnded,
                   fmt::format("the session is {}", model::word(view.state.status)));
  REPRISE_CO_TRY(auto found, co_await read_checkpoint(sessions_.store_here(), stream, what.name));
  CheckpointRow row = std::move(found).value_or(CheckpointRow{.name = what.name});
  // After a reset everything begins anew, the numbers too.
  const bool is_hidden =
      !row.versions.empty() && row.versions.back().seq <= view.state.visible_after;
  REPRISE_CO_TRY(Sorted sorted, co_await sort(view, row));
  REPRISE_CO_CHECK(check_conditions(what, sorted.live));
  std::vector<CheckpointRow> swept;
  const bool is_new = sorted.live.empty();
  if (is_new) {
    REPRISE_CO_TRY(swept, co_await make_room(view, what.name));
  }
  // What is active may be rolled back: what it found here must still be here then.
  const auto& active = view.state.inputs.active;
  const auto dropped = model::drop_old_versions(sorted.live, kMaxVersionsPerCheckpoint - 1,
                                                active ? active->started : Seq{});
  row.versions = std::move(sorted.live);
  row.last_number = is_hidden ? 1 : row.last_number + 1;
  const model::CheckpointVersion made{.version = row.last_number,
                                      .seq = {},
                                      .at = sessions_.clock().now(),
                                      .size = what.data.size()};
  RecordChange change{
      .events = {model::checkpoint_saved(what.name, made.version, made.size, made.at, what.by)},
      .add_records =
          [=, gone = std::move(sorted.gone), data = what.data](store::Commit& commit, Seq first) {
            for (const CheckpointRow& one : swept) erase_checkpoint(commit, stream, one);
            erase_versions(commit, stream, row.name, gone);
            erase_versions(commit, stream, row.name, dropped);
            CheckpointRow written = row;
            written.versions.push_back(made);
            written.versions.back().seq = first;
            commit.puts.push_back({.key = checkpoint_key(stream, row.name),
                                   .value = encode_checkpoint(written),
                                   .only_if = {}});
            commit.puts.push_back({.key = checkpoint_data_key(stream, row.name, made.version),
                                   .value = data,
                                   .only_if = {}});
          },
      .stream = stream,
      .visible_after = view.state.visible_after,
      .void_to = view.state.inputs.void_to};
  REPRISE_CO_TRY(const auto answer,
                 co_await sessions_.call(
                     id, {.action = std::move(change), .lease = what.lease, .wants_view = false}));
  CheckpointPut put{.view = {.name = what.name, .version = made}, .is_new = is_new};
  put.view.version.seq = answer->first;
  co_return put;
}

}  // namespace reprise::session
