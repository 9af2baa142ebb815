// What the project set out to reach, each judged on the run at hand: reached, not reached, or not
// measured.
import {cpuMicrosPerCall, deliveriesPerCpuSecond} from "./results.mjs";

const MiB = 1024 * 1024;
const atLeast = (limit) => (value) => value >= limit;
const under = (limit) => (value) => value < limit;
const withinTwentyPercent = (value) => value <= 1.2;

const times = (value) => `${value.toFixed(2)} ×`;
const perSecond = (value) => `${Math.round(value).toLocaleString("en-US")}/s`;

export const goals = [
  {
    text: "durable appends, 10,000 sessions: at least Redis Streams with appendfsync always",
    figure: (results) => results.ratio("append", "10000 sessions", "reprise", "redis-always").ratio,
    isReached: atLeast(1),
    show: times,
  },
  {
    text: "durable appends, 10,000 sessions: at least 20 × the Node peer",
    figure: (results) =>
        results.ratio("append", "10000 sessions", "reprise", "durable-streams").ratio,
    isReached: atLeast(20),
    show: times,
  },
  {
    text: "session creation: at least half the append rate",
    figure: (results) =>
        results.ratio("create", "unnamed", "reprise", "reprise", "perSecond", "append beside")
            .ratio,
    isReached: atLeast(0.5),
    show: times,
  },
  {
    text: "named session creation: at least half the append rate",
    figure: (results) =>
        results.ratio("create", "named", "reprise", "reprise", "perSecond", "append beside named")
            .ratio,
    isReached: atLeast(0.5),
    show: times,
  },
  {
    text: "warm replay on one connection: 500,000 events/s",
    figure: (results) => results.median("replay", "warm", "reprise"),
    isReached: atLeast(500_000),
    show: perSecond,
  },
  ...["append", "open"].map(
      (call) => ({
        text:
            `${call} cost with a long history (1M events) within 20 % of a short one (server CPU)`,
        figure: (results) => results
                                 .ratio(
                                     "history", `${call}, long`, "reprise", "reprise",
                                     cpuMicrosPerCall, `${call}, short`)
                                 .ratio,
        needs: (scale) => scale.historyEvents >= 1_000_000,
        isReached: withinTwentyPercent,
        show: times,
      })),
  ...["append", "open"].map(
      (call) => ({
        text: `${call} cost with 1M sessions within 20 % of 1,000 (server CPU)`,
        figure: (results) => results
                                 .ratio(
                                     "population", `${call}, 1000000`, "reprise", "reprise",
                                     cpuMicrosPerCall, `${call}, 1000 beside 1000000`)
                                 .ratio,
        isReached: withinTwentyPercent,
        show: times,
      })),
  {
    text:
        "one core delivers 200,000 single-event frames/s (1,000 readers, per server CPU second)",
    figure: (results) =>
        results.median("fanout", "single, 1000 readers", "reprise", deliveriesPerCpuSecond),
    isReached: atLeast(200_000),
    show: perSecond,
  },
  {
    text: "one core delivers 1M events/s when writers burst (1,000 readers, per server CPU second)",
    figure: (results) =>
        results.median("fanout", "burst, 1000 readers", "reprise", deliveriesPerCpuSecond),
    isReached: atLeast(1_000_000),
    show: perSecond,
  },
  {
    text: "1M sessions at rest: start in under 2 s",
    figure: (results) => results.median("population", "start, 1000000", "reprise", "startSeconds"),
    isReached: under(2),
    show: (value) => `${value.toFixed(2)} s`,
  },
  {
    text: "1M sessions at rest: under 300 MiB resident",
    figure: (results) => results.median("population", "start, 1000000", "reprise", "residentBytes"),
    isReached: under(300 * MiB),
    show: (value) => `${(value / MiB).toFixed(0)} MiB`,
  },
  {
    text: "an idle subscriber costs under 4 KiB (5,000 readers)",
    figure: (results) => results.median("idle", "5000 readers", "reprise", "bytesPerReader"),
    isReached: under(4096),
    show: (value) => `${Math.round(value)} bytes`,
  },
  {
    text: "p99 of an append at half the peak load under 5 × its median",
    figure: (results) => results.median(
        "latency", "half of peak", "reprise",
        (sample) => sample.latencyP99Us / sample.latencyP50Us),
    isReached: under(5),
    show: times,
  },
];

export function judge(results, scale) {
  return goals.map(({text, figure, isReached, show, needs}) => {
    const value = needs && !needs(scale) ? NaN : figure(results);
    if (!Number.isFinite(value)) return {text, verdict: "not measured", value: null, shown: ""};
    return {text, verdict: isReached(value) ? "reached" : "not reached", value, shown: show(value)};
  });
}
