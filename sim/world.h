// A world in one thread: the real sessions and streams under seeded chaos.
//
// The world owns the clock, the disk (sim/disk.h), the network (sim/network.h) and the clients. One
// Process at a time runs the real SessionService with its hubs, tails, monitors and janitor over
// several manual loops. Each step throws the dice for one small thing: a loop runs one function,
// the committer drains, a read of the disk comes back, time passes, a connection takes some bytes
// or is lost, a client does something, the disk fills up, the process dies.
//
// At a crash the disk freezes, so that nothing written later counts, and whatever the dying process
// still says is not listened to; it is then unwound by cancelling and running it dry, so that no
// frame leaks, and the next process starts from what was durable.
//
//     const auto broken = World(seed, {.steps = 2000}).run();   // the first broken promise, if any
//
// The same seed and options do the same again, in any process. Promises are checked where they are
// made (sim/clients.cpp, sim/followers.cpp) and over the whole store (sim/audit.cpp).
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"
#include "rt/gate.h"
#include "rt/manual_loop.h"
#include "session/janitor.h"
#include "session/monitor.h"
#include "session/service.h"
#include "sim/dice.h"
#include "sim/disk.h"
#include "sim/network.h"
#include "store/committer.h"

namespace reprise::sim {

struct WorldOptions {
  std::size_t steps = 2'000;
};

// One life of the server.
struct Process {
  Process(Disk& disk, rt::ManualTime& time, Random& random, std::size_t loop_count,
          session::ServiceOptions options);

  std::vector<std::unique_ptr<rt::ManualLoop>> loops;
  SlowPool pool;
  store::Committer committer;
  store::Store store;
  session::SessionService service;
  session::Janitor janitor;
  rt::CancelScope scope;
  rt::Gate gate;  // clients' calls
  Connections connections;
  bool is_dead = false;

  bool is_quiet() const;
};

// An append as a client knows it. Its events are unlike any other's, so that one stored twice
// shows.
struct AppendCall {
  std::uint64_t number = 0;
  SessionId session;
  bool is_keyed = false;
  std::optional<Seq> expected;
  std::vector<model::Event> events;
  std::optional<std::pair<Seq, Seq>> answer;
  bool is_refused = false;
  bool is_unknown = false;  // no answer, or one that leaves it open
  int in_flight = 0;
};

// Somebody who reads one session's stream, over as many connections as it takes.
struct Reader {
  SessionId session;
  Seq last;  // received
  bool is_connected = false;
  bool was_connected = false;
  bool is_done = false;  // told that the stream has ended or is gone
};

// Somebody who watches the list of sessions.
struct Watcher {
  session::Filter filter;
  std::map<SessionId, std::string> rows;
  std::string last_id;  // empty before the first snapshot was complete
  bool is_connected = false;
};

class World {
 public:
  World(std::uint64_t seed, WorldOptions options);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // The first promise that was broken, with the step; nullopt if all were kept.
  std::optional<std::string> run();

 private:
  // --- sim/world.cpp: what happens ---
  void start();
  void crash();
  void step();
  void step_of_network();
  void step_of_disk();
  bool run_something();
  void run_dry();
  void settle(Millis duration);
  void finish();
  rt::ManualLoop& some_loop();
  void broken(std::string promise);

  // --- sim/clients.cpp: calls and what their answers promise ---
  void act();
  std::optional<SessionId> some_session();
  void start_task(rt::Task<> task);
  void start_append();
  void send(AppendCall& call);
  model::Create some_creation(bool has_key);
  rt::Task<> create(Process& process, model::Create create, bool may_find);
  rt::Task<> append(Process& process, AppendCall& call);
  rt::Task<> move(Process& process, SessionId id, model::Command command, std::string mark);
  rt::Task<> patch(Process& process, SessionId id, session::MergePatch patch);
  rt::Task<> reset(Process& process, SessionId id, std::string mark);
  rt::Task<> remove(Process& process, SessionId id);
  rt::Task<> touch(Process& process, SessionId id, bool is_explicit);
  rt::Task<> whisper(Process& process, SessionId id, std::uint64_t number);
  rt::Task<> read_page(Process& process, SessionId id, Seq after, std::size_t limit);
  void know(SessionId id);
  void check_append(AppendCall& call, const session::Answer& answer);
  void check_mark(SessionId id, Seq at, const std::string& mark);

  // --- sim/followers.cpp: readers and monitors ---
  void connect(Reader& reader);
  void connect(Watcher& watcher);
  rt::Task<> follow(Process& process, Reader& reader, rt::ManualLoop& loop);
  rt::Task<> watch(Process& process, Watcher& watcher, rt::ManualLoop& loop);
  void check_pushed(StreamId stream, SessionId id, Seq& pushed, std::string_view frame);
  void receive(Reader& reader, StreamId stream, Seq& expected, std::string_view frame);
  void receive(Watcher& watcher, std::string_view frame);

  // --- sim/audit.cpp: what must be true of the store ---
  // At any moment.
  void audit();
  void audit_session(const session::StoredSession& stored,
                     std::map<std::string, std::string>& expected_indexes,
                     std::map<std::string, std::int64_t>& expected_counters);
  void audit_history(StreamId stream);
  void audit_removals();
  // Once everything has come to rest.
  void audit_rest();
  rt::Task<> audit_followers(Process& process);
  void audit_swept();
  struct Fold {
    model::SessionState state;
    std::size_t folded = 0;
    std::map<std::string, Seq> seen;  // payloads of clients
  };
  Fold& fold_of(StreamId stream);
  std::optional<session::StoredSession> stored(SessionId id) const;
  std::optional<StreamId> stream_of(SessionId id) const;

  const std::uint64_t seed_;
  const WorldOptions options_;
  Dice dice_;
  SeededRandom random_;
  rt::ManualTime time_;
  Disk disk_;
  std::size_t loop_count_;
  std::vector<model::Status> statuses_{model::kStatuses.begin(), model::kStatuses.end()};
  session::ServiceOptions service_options_;
  std::unique_ptr<Process> process_;

  std::uint64_t next_number_ = 1;
  std::vector<SessionId> sessions_;
  std::set<SessionId> removal_asked_;
  std::set<SessionId> removal_told_;
  std::set<SessionId> ttl_changed_;
  // The latest activity that a touch was answered with, and the head it was answered at.
  struct Touched {
    TimePoint at;
    Seq head;
  };
  std::map<SessionId, Touched> touched_;
  std::deque<AppendCall> appends_;
  std::vector<std::unique_ptr<Reader>> readers_;
  std::vector<std::unique_ptr<Watcher>> watchers_;
  std::map<StreamId, Fold> folds_;
  std::size_t at_step_ = 0;
  std::optional<std::string> broken_;
};

}  // namespace reprise::sim
