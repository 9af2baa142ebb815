// The loads that are calls and answers: appends and creations.
#include <fstream>

#include "calls.h"
#include "net.h"

namespace reprise::load {
namespace {

void report(const CallResult& result, const Stopwatch& watch, std::uint64_t events_per_call) {
  Report out;
  const auto events = static_cast<double>(result.calls * events_per_call);
  out.number("calls", static_cast<double>(result.calls));
  out.number("events", events);
  out.number("perSecond", events / watch.seconds());
  out.number("errors", static_cast<double>(result.errors));
  if (result.errors > 0) out.text("firstError", result.first_error);
  out.latency("latency", result.latencies);
  watch.report(out);
  out.print();
}

}  // namespace

// Calls go over the ids in a fixed scattered order (a step that shares no factor with most counts),
// so that every log gets the same number of events and neighbours in time are not neighbours in the
// key space.
void run_append(const Options& options) {
  if (options.ids.empty()) die("append needs --ids");
  constexpr std::uint64_t kStep = 7919;
  Requests requests(options.target, options.port, options.size);
  CallPlan plan;
  plan.write = [&](std::string& out, std::uint64_t index) {
    const auto& id = options.ids[(index * kStep) % options.ids.size()];
    requests.put_append(out, id, options.batch, now_ns());
  };
  plan.answers_per_call = options.target == Target::kRedis ? options.batch : 1;
  Stopwatch watch(options.server);
  const auto result = run_calls(options, plan, watch);
  report(result, watch, options.batch);
}

void run_create(const Options& options) {
  if (options.target == Target::kRedis) die("Redis has nothing to create");
  Requests requests(options.target, options.port, options.size);
  std::ofstream ids;
  if (!options.out.empty()) ids.open(options.out, std::ios::app);
  CallPlan plan;
  plan.write = [&](std::string& out, std::uint64_t index) {
    const auto name = options.prefix + std::to_string(index);
    requests.put_create(out, name, options.is_named);
    // Durable Streams' answer has no body; the path is ours to choose, so it is known before.
    if (options.target == Target::kDurableStreams && ids)
      ids << "/v1/stream/bench/" << name << '\n';
  };
  if (options.target == Target::kReprise) {
    plan.answered = [&](std::string_view body) {
      constexpr std::string_view kMark = R"("id":")";
      constexpr std::size_t kUuidSize = 36;
      const auto at = body.find(kMark);
      if (at == body.npos || body.size() < at + kMark.size() + kUuidSize) {
        die("the new session has no id");
      }
      if (ids) ids << body.substr(at + kMark.size(), kUuidSize) << '\n';
    };
  }
  Stopwatch watch(options.server);
  const auto result = run_calls(options, plan, watch);
  report(result, watch, 1);
}

}  // namespace reprise::load
