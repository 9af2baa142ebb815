// What the project set out to reach, each judged on the run at hand: reached, not reached, or not
// measured.
import {cpuMicrosPerCall, deliveriesPerCpuSecond} from "./results.mjs";
import {pacedFor} from "./streams.mjs";

const MiB = 1024 * 1024;
const atLeast = (limit) => (value) => value >= limit;
const under = (limit) => (value) => value < limit;
const withinTwentyPercent = (value) => value <= 1.2;

const times = (value) => `${value.toFixed(2)} ×`;
const perSecond = (value) => `${Math.round(value).toLocaleString("en-US")}/s`;

// Durable Streams over HTTP: ours, always durable, beside both modes of the npm server.
const streamGoals = [
  ...[["durable-streams", "the npm server on files", 20],
      ["durable-streams-memory", "the npm server in memory", 3]]
      .flatMap(
          ([peer, name, factor]) => [1, 100].map(
              (count) => ({
                text: `/v1/stream appends, ${count} streams: at least ${factor} × ${name}`,
                figure: (results) =>
                    results.ratio("streams-append", `${count} streams`, "reprise", peer).ratio,
                isReached: atLeast(factor),
                show: times,
              }))),
  ...[["durable-streams", "the npm server's on files"],
      ["durable-streams-memory", "the npm server's in memory"]]
      .map(
          ([peer, name]) => ({
            text: `/v1/stream tail, 2,000 readers, same pace: p99 under a third of ${name}`,
            figure: (results) =>
                results
                    .ratio("streams-tail", pacedFor(peer, 2000), "reprise", peer, "latencyP99Us")
                    .ratio,
            isReached: under(1 / 3),
            show: (value) => `${value.toFixed(3)} ×`,
          })),
];

const slower = (load, variant, peer, mine = "reprise") => (results) =>
    1 / results.ratio(load, variant, mine, peer, "latencyP50Us").ratio;

// Browsers: beside the bare protocol and npm's @playwright/mcp in the same Chromium.
const browserGoals = [
  {
    text: "a new browser session, warm pool: at most 1.2 × the bare protocol calls",
    figure: (results) => results.ratio("browser-ready", "warm pool", "reprise", "bare protocol", "latencyP50Us").ratio,
    isReached: (value) => value <= 1.2,
    show: times,
  },
  ...[["click", 5], ["type", 5], ["type and submit", 5], ["navigate", 1.5], ["snapshot", 1]].map(([tool, factor]) => ({
    text: `browser_${tool}: at least ${factor} × as fast as @playwright/mcp`,
    figure: slower("browser-tools", tool, "playwright-mcp"),
    isReached: atLeast(factor),
    show: times,
  })),
  {
    text: "twenty sessions, one click a second each: at least 3 × as fast as @playwright/mcp",
    figure: slower("browser-twenty", "click", "playwright-mcp"),
    isReached: atLeast(3),
    show: times,
  },
  ...["timer", "fetch", "chain", "navigation"].map((kind) => ({
    text: `what a click sets off late (${kind}): shown at least as often as by @playwright/mcp`,
    figure: (results) => results.median("browser-late", kind, "reprise", "shown") -
        results.median("browser-late", kind, "playwright-mcp", "shown"),
    isReached: atLeast(0),
    show: (value) => `${(100 * value).toFixed(0)} points`,
  })),
  {
    text: "300 sessions with a light page each within 8 GB (PSS, browsers included)",
    figure: (results) => results.median("browser-density", "300 sessions", "reprise", "treeBytes"),
    isReached: under(8e9),
    show: (value) => `${(value / 1e9).toFixed(2)} GB`,
  },
  {
    text: "50 sessions at work for five minutes: no failed command",
    figure: (results) => results.median("browser-soak", "50 active", "reprise", "errors"),
    isReached: (value) => value === 0,
    show: (value) => String(value),
  },
  {
    text: "50 sessions at work for five minutes: our memory within 5 % of the first minute's",
    figure: (results) => results.median("browser-soak", "50 active", "reprise", "growth"),
    isReached: (value) => value <= 1.05,
    show: times,
  },
  {
    text: "a closed browser session leaves at most 50 KB",
    figure: (results) => results.median("browser-left", "per closed session", "reprise", "bytesLeft"),
    needs: (scale) => scale.browserCycles >= 100,
    isReached: (value) => value <= 50_000,
    show: (value) => `${(value / 1000).toFixed(1)} KB`,
  },
];

// Programs that speak DevTools, through us and directly.
const cdpGoals = [
  {
    text: "a round trip through the DevTools endpoint: under 100 µs more at the median (Browser.getVersion)",
    figure: (results) => results.median("cdp-trips", "Browser.getVersion", "reprise", "latencyP50Us") -
        results.median("cdp-trips", "Browser.getVersion", "chromium", "latencyP50Us"),
    isReached: under(100),
    show: (value) => `${Math.round(value)} µs`,
  },
  {
    text: "a Playwright script through the DevTools endpoint: at most 1.10 × Chromium directly",
    figure: (results) => results.ratio("cdp-script", "connect to close", "reprise", "chromium", "latencyP50Us").ratio,
    isReached: (value) => value <= 1.1,
    show: times,
  },
  {
    text: "a new page with 100 idle DevTools clients of other sessions, 50 in a browser at most (the default): at most 2 × alone",
    figure: (results) => results
                             .ratio("cdp-pages", "100 idle clients, 50 clients a browser", "reprise", "reprise",
                                    "latencyP50Us", "alone, 50 clients a browser")
                             .ratio,
    isReached: (value) => value <= 2,
    show: times,
  },
];

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
  ...streamGoals,
  ...browserGoals,
  ...cdpGoals,
];

export function judge(results, scale) {
  return goals.map(({text, figure, isReached, show, needs}) => {
    const value = needs && !needs(scale) ? NaN : figure(results);
    if (!Number.isFinite(value)) return {text, verdict: "not measured", value: null, shown: ""};
    return {text, verdict: isReached(value) ? "reached" : "not reached", value, shown: show(value)};
  });
}
