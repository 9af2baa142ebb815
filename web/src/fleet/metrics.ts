// Metrics of the server: the text format of Prometheus, and what is made of two readings of it.
export type Samples = Map<string, number>;

export function parseMetrics(text: string): Samples {
  const samples: Samples = new Map();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const space = line.lastIndexOf(' ');
    samples.set(line.slice(0, space), Number(line.slice(space + 1)));
  }
  return samples;
}

export interface Reading {
  at: number;  // milliseconds
  samples: Samples;
}

const sumOf = (samples: Samples, name: string) => {
  let sum = 0;
  for (const [key, value] of samples) if (key === name || key.startsWith(`${name}{`)) sum += value;
  return sum;
};

// What a counter grew by in a second. A restart, after which it is smaller, counts as nothing.
export function rate(before: Reading, after: Reading, name: string): number {
  const seconds = (after.at - before.at) / 1000;
  const grown = sumOf(after.samples, name) - sumOf(before.samples, name);
  return seconds <= 0 || grown < 0 ? 0 : grown / seconds;
}

// The quantile of what happened between two readings of a histogram, by its buckets; undefined if nothing did.
export function quantile(before: Reading, after: Reading, name: string, part: number): number | undefined {
  const buckets: [number, number][] = [];
  for (const [key, value] of after.samples) {
    const bound = key.startsWith(`${name}_bucket{`) ? /le="([^"]+)"/.exec(key)?.[1] : undefined;
    if (bound === undefined) continue;
    buckets.push([bound === '+Inf' ? Infinity : Number(bound), value - (before.samples.get(key) ?? 0)]);
  }
  buckets.sort(([a], [b]) => a - b);
  const total = buckets.at(-1)?.[1] ?? 0;
  if (total <= 0) return undefined;
  const wanted = part * total;
  let low = 0;
  let below = 0;
  for (const [bound, countBelow] of buckets) {
    if (countBelow >= wanted) {
      if (bound === Infinity) return low;
      return countBelow === below ? bound : low + ((wanted - below) / (countBelow - below)) * (bound - low);
    }
    low = bound;
    below = countBelow;
  }
  return low;
}
