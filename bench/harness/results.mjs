// What was measured: samples by load, variant and server, one per round.
export function median(values) {
  const sorted = values.filter((value) => Number.isFinite(value)).sort((a, b) => a - b);
  if (sorted.length === 0) return NaN;
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export class Results {
  constructor() {
    this.samples = [];
  }

  // `round` pairs samples taken close together; ratios are made within a round, then the median is
  // taken.
  add(load, variant, server, round, sample) {
    this.samples.push({load, variant, server, round, ...sample});
  }

  select(load, variant, server) {
    return this.samples.filter(
        (sample) => sample.load === load && sample.variant === variant && sample.server === server);
  }

  median(load, variant, server, figure = "perSecond") {
    const of = typeof figure === "function" ? figure : (sample) => sample[figure];
    return median(this.select(load, variant, server).map(of));
  }

  // Ours over theirs, round by round: {ratio, low, high}.
  ratio(load, variant, ours, theirs, figure = "perSecond", theirVariant = variant) {
    const of = typeof figure === "function" ? figure : (sample) => sample[figure];
    const ratios = [];
    for (const mine of this.select(load, variant, ours)) {
      const other =
          this.select(load, theirVariant, theirs).find((sample) => sample.round === mine.round);
      if (other) ratios.push(of(mine) / of(other));
    }
    const finite = ratios.filter((value) => Number.isFinite(value));
    return {ratio: median(finite), low: Math.min(...finite), high: Math.max(...finite)};
  }

  variants(load) {
    return [...new Set(
        this.samples.filter((sample) => sample.load === load).map((sample) => sample.variant))];
  }

  servers(load) {
    return [...new Set(
        this.samples.filter((sample) => sample.load === load).map((sample) => sample.server))];
  }
}

// Figures derived from one sample.
export const cpuMicrosPerCall = (sample) => (sample.serverCpuSeconds * 1e6) / sample.calls;
export const deliveriesPerCpuSecond = (sample) => sample.deliveries / sample.serverCpuSeconds;
