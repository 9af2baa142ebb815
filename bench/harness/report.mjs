// The run as Markdown: the goals first, then a table per load. The terminal gets the same text.
import {cpuMicrosPerCall, deliveriesPerCpuSecond} from "./results.mjs";

const order = [
  "reprise", "reprise, captured", "redis-always", "redis-everysec", "durable-streams", "durable-streams-memory",
  "playwright-mcp", "bare protocol", "chromium"
];
const whole = (value) => Math.round(value).toLocaleString("en-US");
const fraction = (value) => value.toFixed(value < 0.1 ? 3 : 2);
const micros = (value) =>
    (value >= 10_000 ? `${(value / 1000).toFixed(1)} ms` : `${Math.round(value)} µs`);

// A column: what of a sample is shown, how, and whether ours is set in relation to the peers' by
// it.
const perSecond = {
  title: "per second",
  of: "perSecond",
  show: whole,
  isRatio: true
};
const cpu = {
  title: "server CPU µs each",
  of: cpuMicrosPerCall,
  show: (value) => value.toFixed(1)
};
const p50 = {
  title: "p50",
  of: "latencyP50Us",
  show: micros
};
const p99 = {
  title: "p99",
  of: "latencyP99Us",
  show: micros
};
const slowness = {
  ...p50,
  isRatio: true
};
const mebibytes = (value) => `${(value / 1048576).toFixed(0)} MiB`;
const loadShare = {
  title: "generator busy",
  of: (sample) => (100 * sample.loadCpuSeconds) / sample.seconds,
  show: (value) => `${value.toFixed(0)} %`,
};

const tables = [
  {
    load: "append",
    title: "Durable append, 300 bytes, 64 connections",
    columns: [perSecond, cpu, p50, p99, loadShare]
  },
  {
    load: "latency",
    title: "Append latency at half the peak (open loop)",
    columns: [{...perSecond, isRatio: false}, p50, p99]
  },
  {load: "create", title: "Creation, 64 connections", columns: [perSecond, cpu, p50, p99]},
  {
    load: "replay",
    title: "Replay from the first event, one connection",
    columns: [perSecond, loadShare]
  },
  {
    load: "fanout",
    title: "Fan-out: one writer, live SSE readers",
    columns: [
      {...perSecond, title: "deliveries/s"},
      {title: "per server CPU second", of: deliveriesPerCpuSecond, show: whole, isRatio: true},
      p50,
      p99,
      loadShare,
    ],
  },
  {
    load: "streams-append",
    title: "Durable Streams: append, 300 bytes, 64 connections",
    columns: [perSecond, cpu, p50, p99, loadShare]
  },
  {
    load: "streams-read",
    title: "Durable Streams: catch-up from the first append, one connection",
    columns: [{...perSecond, title: "messages/s"}, loadShare]
  },
  {
    load: "streams-tail",
    title: "Durable Streams: one writer, live=sse readers of one stream (the ratio is of the p99)",
    columns: [
      {
        title: "appends/s",
        of: (sample) => sample.calls / sample.seconds,
        show: (value) => value.toPrecision(3)
      },
      {...perSecond, title: "deliveries/s", isRatio: false},
      p50,
      {...p99, isRatio: true},
      loadShare,
    ],
  },
  {
    load: "idle",
    title: "Memory of an idle subscriber",
    columns: [{title: "bytes", of: "bytesPerReader", show: whole, isRatio: true}],
  },
  {load: "history", title: "Cost as one session's history grows", columns: [cpu, p50, p99]},
  {
    load: "population",
    title: "Cost as the number of sessions grows",
    columns: [
      {title: "start", of: "startSeconds", show: (value) => `${value.toFixed(3)} s`},
      {
        title: "resident",
        of: "residentBytes",
        show: mebibytes
      },
      cpu,
      p50,
      p99,
    ],
  },
  {
    load: "browser-ready",
    title: "A new session's context and tab, ready and durable, in a warm pool",
    columns: [slowness, p99]
  },
  {load: "browser-tools", title: "Tool calls, one session (the ratio is of the median)", columns: [slowness, p99]},
  {load: "browser-twenty", title: "Twenty sessions, one call a second each", columns: [slowness, p99]},
  {
    load: "browser-late",
    title: "Does the next snapshot show what a click set off, 0 to 400 ms later?",
    columns: [{title: "shown", of: "shown", show: (value) => `${(100 * value).toFixed(0)} %`}]
  },
  {
    load: "browser-density",
    title: "Memory of sessions with one light page each (PSS)",
    columns: [
      {title: "with all browsers", of: "treeBytes", show: mebibytes},
      {title: "the server alone", of: "ownBytes", show: mebibytes}
    ]
  },
  {
    load: "browser-soak",
    title: "Sessions at work, one action in five seconds each",
    columns: [
      {title: "failed", of: "errors", show: whole}, p50, p99,
      {title: "memory, last minute / first", of: "growth", show: fraction}
    ]
  },
  {
    load: "browser-left",
    title: "What a closed session leaves (PSS, browsers included)",
    columns: [{title: "KiB", of: (sample) => sample.bytesLeft / 1024, show: (value) => value.toFixed(1)}]
  },
  {
    load: "cdp-trips",
    title: "The DevTools endpoint: one round trip after another",
    columns: [{...p50, isRatio: true}, {title: "p10", of: "latencyP10Us", show: micros}, p99]
  },
  {
    load: "cdp-script",
    title: "The DevTools endpoint: a Playwright script, pair by pair",
    columns: [{...p50, isRatio: true}]
  },
  {
    load: "cdp-pages",
    title: "The DevTools endpoint: Playwright's newPage beside idle clients of other sessions",
    columns: [p50]
  },
];

function table(results, {load, title, columns}) {
  const servers = order.filter((name) => results.servers(load).includes(name));
  if (servers.length === 0) return "";
  const ratioColumn = columns.find((column) => column.isRatio);
  const rows = [[
    "", "server", ...columns.map((column) => column.title),
    ...(ratioColumn ? ["ours / theirs"] : [])
  ]];
  for (const variant of results.variants(load)) {
    for (const server of servers) {
      const samples = results.select(load, variant, server);
      if (samples.length === 0) continue;
      const failed = samples.filter((sample) => sample.failed);
      const errors = samples.reduce((sum, sample) => sum + (sample.errors ?? 0), 0);
      const cells = columns.map((column) => {
        const value = results.median(load, variant, server, column.of);
        return Number.isFinite(value) ? column.show(value) : "–";
      });
      if (failed.length > 0) cells[0] = `failed: ${failed[0].failed.slice(0, 80)}`;
      if (errors > 0) cells[0] += ` (${errors} errors)`;
      let ratio = "";
      if (ratioColumn && server !== "reprise") {
        const {ratio: middle, low, high} =
            results.ratio(load, variant, "reprise", server, ratioColumn.of);
        if (Number.isFinite(middle))
          ratio = `${fraction(middle)} (${fraction(low)}–${fraction(high)})`;
      }
      rows.push([variant, server, ...cells, ...(ratioColumn ? [ratio] : [])]);
    }
  }
  return `## ${title}\n\n${align(rows)}\n`;
}

// Markdown with padded cells, so that it reads as a table in a terminal too.
function align(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length), 3));
  const line = (row) => `| ${
      row.map((cell, i) => (i < 2 ? cell.padEnd(widths[i]) : cell.padStart(widths[i])))
          .join(" | ")} |`;
  const rule = `|${
      widths.map((width, i) => (i < 2 ? "-".repeat(width + 2) : `${"-".repeat(width + 1)}:`))
          .join("|")}|`;
  return [line(rows[0]), rule, ...rows.slice(1).map(line)].join("\n");
}

export function markdown({results, verdicts, machine, settings}) {
  const marks = {reached: "x", "not reached": " ", "not measured": " "};
  const checklist = verdicts.map(
      ({text, verdict, shown}) =>
          `- [${marks[verdict]}] ${text}: ${verdict}${shown ? ` (${shown})` : ""}`);
  return [
    "# bench/run",
    "",
    `${settings}`,
    "",
    `${machine}`,
    "",
    "Figures are medians over the rounds; a ratio is the median of the rounds' ratios (low–high).",
    "",
    "## Goals",
    "",
    ...checklist,
    "",
    ...tables.map((each) => table(results, each)).filter(Boolean),
  ].join("\n");
}
