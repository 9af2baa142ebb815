// Checkpoints that are there: read, listed and removed.
#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "session/checkpoints.h"

namespace reprise::session {
namespace {

std::unexpected<Error> no_checkpoint(std::string_view name, std::optional<std::uint64_t> number) {
  return fail(Code::kCheckpointNotFound,
              number ? fmt::format("there is no version {} of the checkpoint '{}'", *number, name)
                     : fmt::format("there is no checkpoint '{}'", name));
}

}  // namespace

rt::Task<Result<SavedCheckpoint>> Checkpoints::get(SessionRef session, std::string name,
                                                   std::optional<std::uint64_t> number) {
  REPRISE_CO_CHECK(model::check_checkpoint_name(name));
  for (int tries = 0; tries < kMaxKeyRaces; ++tries) {
    REPRISE_CO_TRY(const SessionView view, co_await sessions_.get(session));
    REPRISE_CO_TRY(const auto row,
                   co_await read_checkpoint(sessions_.store_here(), view.stream, name));
    if (!row) co_return no_checkpoint(name, std::nullopt);
    REPRISE_CO_TRY(const Sorted sorted, co_await sort(view, *row));
    if (sorted.live.empty()) co_return no_checkpoint(name, std::nullopt);
    const auto asked = number
                           ? std::find_if(sorted.live.begin(), sorted.live.end(),
                                          [&](const auto& one) { return one.version == *number; })
                           : std::prev(sorted.live.end());
    if (asked == sorted.live.end()) co_return no_checkpoint(name, number);
    REPRISE_CO_TRY(auto data, co_await sessions_.store_here().get(
                                  checkpoint_data_key(view.stream, name, asked->version)));
    if (data)
      co_return SavedCheckpoint{.view = {.name = std::move(name), .version = *asked},
                                .data = std::move(data->value)};
    // It went between the two reads.
  }
  co_return fail(Code::kOverloaded, "the checkpoint is written again and again");
}

rt::Task<Result<CheckpointPage>> Checkpoints::list(SessionRef session, std::string after,
                                                   std::size_t limit) {
  REPRISE_CO_TRY(const SessionView view, co_await sessions_.get(std::move(session)));
  const std::string prefix = checkpoint_prefix(view.stream);
  std::string begin = after.empty() ? prefix : prefix + after + '\0';
  const std::string end = prefix_end(prefix);
  CheckpointPage page;
  for (bool has_more = true; has_more;) {
    REPRISE_CO_TRY(const auto rows, co_await sessions_.store_here().scan(
                                        {.begin = begin, .end = end, .limit = limit + 1}));
    has_more = rows.has_more;
    for (const auto& record : rows.records) {
      begin = record.key + '\0';
      REPRISE_CO_TRY(const CheckpointRow row, decode_checkpoint(record.key, record.value));
      REPRISE_CO_TRY(const Sorted sorted, co_await sort(view, row));
      if (sorted.live.empty()) continue;
      if (page.checkpoints.size() == limit) {
        page.next = page.checkpoints.back().name;
        co_return page;
      }
      page.checkpoints.push_back({.name = row.name, .version = sorted.live.back()});
    }
    if (has_more) co_await rt::yield(*rt::Loop::current());
  }
  co_return page;
}

rt::Task<Result<>> Checkpoints::remove(SessionRef session, std::string name, std::string by,
                                       std::optional<Generation> lease) {
  REPRISE_CO_CHECK(model::check_checkpoint_name(name));
  REPRISE_CO_TRY(const SessionView view, co_await sessions_.get(std::move(session)));
  const SessionId id = view.state.id;
  rt::Loop& origin = *rt::Loop::current();
  if (!co_await rt::switch_to(home_of(id).loop()))
    co_return fail(Code::kOverloaded, "the session's loop has too much waiting");
  auto removed = co_await remove_once(id, name, by, lease);
  for (int tries = 1;
       !removed && removed.error().code == Code::kWrongVersion && tries < kMaxKeyRaces; ++tries)
    removed = co_await remove_once(id, name, by, lease);
  co_await rt::return_to(origin);
  co_return removed;
}

rt::Task<Result<>> Checkpoints::remove_once(SessionId id, const std::string& name,
                                            const std::string& by,
                                            std::optional<Generation> lease) {
  REPRISE_CO_TRY(const Holds::Held held, co_await home_of(id).take(id));
  REPRISE_CO_TRY(const SessionView view, co_await sessions_.get(id));
  const StreamId stream = view.stream;
  REPRISE_CO_TRY(const auto row, co_await read_checkpoint(sessions_.store_here(), stream, name));
  if (!row) co_return no_checkpoint(name, std::nullopt);
  REPRISE_CO_TRY(const Sorted sorted, co_await sort(view, *row));
  if (sorted.live.empty()) co_return no_checkpoint(name, std::nullopt);
  RecordChange change{
      .events = {model::checkpoint_deleted(name, sorted.live.size(), sessions_.clock().now(), by)},
      .add_records = [stream, row = *row](store::Commit& commit,
                                          Seq) { erase_checkpoint(commit, stream, row); },
      .stream = stream,
      .visible_after = view.state.visible_after,
      .void_to = view.state.inputs.void_to};
  REPRISE_CO_CHECK(co_await sessions_.call(
      id, {.action = std::move(change), .lease = lease, .wants_view = false}));
  co_return Result<>{};
}

}  // namespace reprise::session
