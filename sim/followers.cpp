// Readers of streams and watchers of the list, and what they are promised: every entry once, in
// order, durable, across as many connections as it takes; and a view that ends up as the list is.
#include <fmt/format.h>

#include <charconv>

#include "session/keys.h"
#include "session/stream_end.h"
#include "sim/world.h"

namespace reprise::sim {
namespace {

constexpr rt::Nanos kHeartbeat = std::chrono::seconds{15};

// Frames are lines: a letter, then fields between blanks.
class EntryFrames final : public stream::FrameFormat {
 public:
  void append_entry(std::string& out, Seq seq, std::string_view bytes) const override {
    const auto entry = model::decode_entry(bytes);
    out += fmt::format("E {} {} {}\n", seq.value, entry ? entry->type : "?",
                       entry ? entry->data : "?");
  }
};

class ReaderFrames final : public stream::TailFrames {
 public:
  const stream::FrameFormat& format() const override { return format_; }
  void replay_complete(std::string& out, Seq at) const override {
    out += fmt::format("R {}\n", at.value);
  }
  std::string ephemeral(std::string_view json) const override {
    return fmt::format("P {}\n", json);
  }
  std::string end(std::string_view reason) const override { return fmt::format("X {}\n", reason); }
  std::string heartbeat() const override { return "H\n"; }
  void note_end(std::string_view entry, std::optional<std::string>& reason) const override {
    session::note_end(entry, reason);
  }

 private:
  EntryFrames format_;
};

std::string row(const session::StoredSession& session) {
  const auto& state = session.state;
  return fmt::format("{}/{}/{}/{}/{}/{}", session.revision, word(state.status),
                     state.pause_reasons.bits(), state.owner_agent, state.metadata,
                     state.ttl_seconds.value_or(0));
}

class WatcherFrames final : public session::MonitorFrames {
 public:
  void session(std::string& out, const session::StoredSession& session, std::size_t,
               std::string_view id) const override {
    out += fmt::format("S {} {} {}\n", id, session.state.id.to_string(), row(session));
  }
  void snapshot_complete(std::string& out, std::string_view id) const override {
    out += fmt::format("C {}\n", id);
  }
  void removed(std::string& out, SessionId session, std::string_view id) const override {
    out += fmt::format("R {} {}\n", id, session.to_string());
  }
  void deleted(std::string& out, SessionId session, std::string_view id) const override {
    out += fmt::format("D {} {}\n", id, session.to_string());
  }
  void heartbeat(std::string& out, std::string_view id) const override {
    out += fmt::format("H {}\n", id);
  }
};

const ReaderFrames kReaderFrames;
const WatcherFrames kWatcherFrames;

// The text up to the next blank, taken off.
std::string_view take_field(std::string_view& frame) {
  const std::size_t end = std::min(frame.find(' '), frame.size());
  const std::string_view field = frame.substr(0, end);
  frame.remove_prefix(std::min(end + 1, frame.size()));
  return field;
}

std::uint64_t number_of(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

void World::connect(Reader& reader) {
  reader.is_connected = true;
  Process& process = *process_;
  rt::ManualLoop& loop = some_loop();
  loop.post(
      [this, &process, &reader, &loop] { rt::spawn(process.gate, follow(process, reader, loop)); });
}

void World::connect(Watcher& watcher) {
  watcher.is_connected = true;
  Process& process = *process_;
  rt::ManualLoop& loop = some_loop();
  loop.post([this, &process, &watcher, &loop] {
    rt::spawn(process.gate, watch(process, watcher, loop));
  });
}

// One connection of a reader, step by step as the HTTP face does it.
rt::Task<> World::follow(Process& process, Reader& reader, rt::ManualLoop& loop) {
  session::SessionService& service = process.service;
  const SessionId id = reader.session;
  const auto found = co_await service.get(id);
  if (process.is_dead) co_return;
  if (!found) {
    reader.is_connected = false;
    reader.is_done = found.error().code == Code::kSessionNotFound;
    if (reader.is_done && stored(id)) broken("a stored session is not found");
    co_return;
  }
  const StreamId stream = found->stream;
  Seq pushed;
  Seq received;
  Connection connection(loop, process.scope, dice_.between(100, 3'000), process.connections,
                        {.on_pushed =
                             [&](std::string_view frame) {
                               if (!process.is_dead) check_pushed(stream, id, pushed, frame);
                             },
                         .on_received =
                             [&](std::string_view frame) {
                               if (!process.is_dead) receive(reader, stream, received, frame);
                             }});
  stream::Tail tail(service.hub_here(), service.store_here(), connection, kReaderFrames,
                    {.stream = stream,
                     .home = service.home_index(id),
                     .after = {},
                     .replay_until = {},
                     .heartbeat_interval = kHeartbeat});
  const bool is_subscribed = co_await tail.subscribe();
  const auto view = co_await service.get(id);
  if (process.is_dead) co_return;
  reader.is_connected = is_subscribed && view.has_value();
  if (!reader.is_connected) co_return;
  const Seq head = view->state.head;
  if (reader.last > head) {
    broken(fmt::format("a reader saw entry {} but the head is {}", reader.last.value, head.value));
    co_return;
  }
  const bool has_ended = model::is_terminal(view->state.status);
  if (has_ended && reader.was_connected && reader.last == head) {
    reader.is_done = true;
    reader.is_connected = false;
    co_return;
  }
  const std::string client = fmt::format("client-{}", id.to_string());
  const auto joined = co_await service.join(id, client, false);
  if (joined) {
    const Seq after = std::max(reader.last, view->state.visible_after);
    pushed = received = after;
    tail.set_replay(
        after, head,
        has_ended ? std::optional(std::string(word(view->state.status))) : std::nullopt);
    reader.was_connected = true;
    const auto outcome = co_await tail.follow(connection.scope());
    if (outcome) co_await connection.drain();
    service.leave(id, client);
    if (!process.is_dead && !outcome && outcome.error().code != Code::kClosed)
      broken(fmt::format("a reader was sent away with {}", error_row(outcome.error().code).name));
  }
  if (!process.is_dead) reader.is_connected = false;
}

// The output gate: what the server hands over is durable by then, and next in order.
void World::check_pushed(StreamId stream, SessionId id, Seq& pushed, std::string_view frame) {
  const auto& history = disk_.history(stream);
  const std::string_view kind = take_field(frame);
  if (kind == "E") {
    const Seq seq{number_of(take_field(frame))};
    if (seq != pushed.next())
      return broken(fmt::format("a reader was sent entry {} after {}", seq.value, pushed.value));
    pushed = seq;
    if (seq.value > history.size())
      return broken(fmt::format("a reader was sent entry {} before it was durable", seq.value));
    const auto entry = model::decode_entry(history[seq.value - 1]);
    if (!entry || fmt::format("{} {}", entry->type, entry->data) != frame)
      broken(fmt::format("a reader was sent another entry {} than is stored", seq.value));
  } else if (kind == "X" && frame == "deleted") {
    if (stored(id)) broken("a reader was told of a removal before it was durable");
  } else if (kind == "X") {
    // The last thing that happened to the status must be that end.
    for (std::size_t i = pushed.value; i-- > 0;) {
      const auto entry = model::decode_entry(history[i]);
      if (!entry) return broken("an entry does not decode");
      if (entry->type == model::event_type::kStatusChange &&
          entry->data.find(fmt::format("\"to\":\"{}\"", frame)) != std::string_view::npos)
        return;
      if (entry->type != model::event_type::kSessionUpdated) break;
    }
    broken(fmt::format("a reader was told of the end {} after entry {}", frame, pushed.value));
  }
}

void World::receive(Reader& reader, StreamId stream, Seq& received, std::string_view frame) {
  const std::string_view kind = take_field(frame);
  if (kind == "X") {
    reader.is_done = true;
    return;
  }
  if (kind != "E") return;
  const Seq seq{number_of(take_field(frame))};
  if (seq != received.next())
    broken(fmt::format("a reader got entry {} after {}", seq.value, received.value));
  // Over connections: only a reset may hide what lies between.
  if (seq != reader.last.next()) {
    const auto entry = model::decode_entry(disk_.history(stream)[seq.value - 1]);
    if (seq < reader.last.next() || !entry || entry->type != model::event_type::kSessionReset)
      broken(fmt::format("a reader that had {} got {}", reader.last.value, seq.value));
  }
  received = reader.last = seq;
}

rt::Task<> World::watch(Process& process, Watcher& watcher, rt::ManualLoop& loop) {
  session::MonitorRequest request{
      .filter = watcher.filter, .after = std::nullopt, .heartbeat_interval = kHeartbeat};
  if (!watcher.last_id.empty())
    request.after = *session::decode_monitor_id(watcher.last_id);
  else
    watcher.rows.clear();
  Connection connection(loop, process.scope, dice_.between(200, 4'000), process.connections,
                        {.on_pushed = [](std::string_view) {},
                         .on_received =
                             [&](std::string_view frame) {
                               if (!process.is_dead) receive(watcher, frame);
                             }});
  session::Monitor monitor(process.service, connection, kWatcherFrames, request);
  auto outcome = co_await monitor.subscribe();
  if (outcome) outcome = co_await monitor.follow(connection.scope());
  if (process.is_dead) co_return;
  watcher.is_connected = false;
  if (!outcome && outcome.error().code != Code::kClosed)
    broken(fmt::format("a watcher was sent away with {}", error_row(outcome.error().code).name));
}

void World::receive(Watcher& watcher, std::string_view frame) {
  const std::string_view kind = take_field(frame);
  const std::string_view id = take_field(frame);
  if (!id.empty()) watcher.last_id = id;
  if (kind == "C" || kind == "H") return;
  const auto session = SessionId::parse(take_field(frame));
  if (!session) return broken("a watcher got a frame without a session");
  if (kind == "S")
    watcher.rows[*session] = std::string(frame);
  else
    watcher.rows.erase(*session);
}

rt::Task<> World::audit_followers(Process& process) {
  // From the store: to ask for a session past its time would end it.
  for (const auto& reader : readers_) {
    const auto session = stored(reader->session);
    if (!session) {
      if (!reader->is_done) broken("a reader was not told that its session is gone");
      continue;
    }
    const auto& state = fold_of(session->stream).state;
    if (model::is_terminal(state.status) && !reader->is_done)
      broken("a reader was not told that its session has ended");
    // One that had its end does not come back for a session that was opened again.
    if (!reader->is_done && reader->last != state.head)
      broken(fmt::format("a reader waits at {} but the head is {}", reader->last.value,
                         state.head.value));
  }
  for (const auto& watcher : watchers_) {
    auto list = co_await process.service.list(
        {.filter = watcher->filter, .waiting_first = false, .limit = 500, .cursor = {}});
    if (!list) {
      broken("the list could not be read");
      co_return;
    }
    std::map<SessionId, std::string> rows;
    for (const auto& session : list->page.sessions) rows[session.state.id] = row(session);
    if (rows == watcher->rows) continue;
    for (const auto& [id, text] : rows) {
      const auto seen = watcher->rows.find(id);
      if (seen == watcher->rows.end() || seen->second != text)
        broken(fmt::format("a watcher sees {} as '{}' but it is '{}'", id.to_string(),
                           seen == watcher->rows.end() ? "nothing" : seen->second, text));
    }
    broken("a watcher sees a session that is not in the list");
  }
}

}  // namespace reprise::sim
