// What a process and all it has started take, shared pages divided among those who share them (PSS).
import {readFileSync, readdirSync} from "node:fs";

function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";  // it has just ended
  }
}

export function ownPssBytes(pid) {
  return Number(/^Pss:\s+(\d+) kB/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) * 1024;
}

export function treePssBytes(root) {
  const children = new Map();
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const parent = Number(read(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ")[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(pid)]);
  }
  const sum = (pid) => ownPssBytes(pid) + (children.get(pid) ?? []).reduce((total, child) => total + sum(child), 0);
  return sum(root);
}
