// Inputs: what the API can ask about the work given to sessions (model/input.h), from any loop.
//
// What changes an input goes through the session's actor; what was said about it is read from its
// events, which its record (session/input_records.h) names.
//
// Threads: each member may be awaited on any of the service's loops.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "model/input.h"
#include "session/input_records.h"
#include "session/service.h"
#include "session/write_terms.h"

namespace reprise::session {

// Counts since start; read from any thread.
struct InputProbe {
  std::atomic<std::uint64_t> submitted{0};
  std::atomic<std::uint64_t> finished{0};
  std::atomic<std::uint64_t> interrupted{0};
  std::atomic<std::uint64_t> rolled_back{0};
  std::atomic<std::uint64_t> cancelled{0};  // by a call; not with their session
  std::atomic<std::uint64_t> rejected{0};   // the session was busy
  std::atomic<std::uint64_t> refused{0};    // too many waited
};

struct InputView {
  InputRecord record;
  std::string data;  // JSON
  std::string when_busy;
  TimePoint queued_at;
  std::string queued_by;
  std::optional<TimePoint> started_at;
  std::optional<TimePoint> finished_at;
  model::InputFinished end;  // only if finished_at
  std::string finished_by;
};

struct InputPage {
  std::vector<InputView> inputs;       // in the order in which they came
  std::optional<model::InputId> next;  // there are more after this one
};

class Inputs {
 public:
  explicit Inputs(SessionService& service) : service_(service) {}

  // Gives the input its id; of a repetition the first one's.
  rt::Task<Result<model::InputId>> submit(SessionRef session, model::SubmitInput submit,
                                          WriteTerms terms = {});
  // kInputNotActive, also for one that never was.
  rt::Task<Result<>> finish(SessionRef session, model::FinishInput finish, WriteTerms terms = {});
  // kConflict, also for one that never was.
  rt::Task<Result<>> cancel(SessionRef session, model::CancelInput cancel, WriteTerms terms = {});

  // Also one that is over; kInputNotFound.
  rt::Task<Result<InputView>> get(SessionRef session, model::InputId id);
  // The active one, if there is one; kSessionEnded.
  rt::Task<Result<std::optional<InputView>>> active(SessionRef session);
  rt::Task<Result<InputPage>> list(SessionRef session, std::optional<model::InputState> state,
                                   std::optional<model::InputId> after, std::size_t limit);

  SessionService& sessions() { return service_; }
  const InputProbe& probe() const { return probe_; }

 private:
  rt::Task<Result<ActorAnswer>> call(SessionRef session, model::Command command, WriteTerms terms);
  rt::Task<Result<std::string>> entry(StreamId stream, Seq seq);
  rt::Task<Result<model::InputId>> queued_among(StreamId stream, Seq first, Seq last);
  rt::Task<Result<InputView>> read(StreamId stream, InputRecord record);
  rt::Task<Result<std::optional<InputRecord>>> record_of(StreamId stream, model::InputId id);

  SessionService& service_;
  InputProbe probe_;
};

}  // namespace reprise::session
