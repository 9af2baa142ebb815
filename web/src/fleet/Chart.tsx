// A plot of values over time.
import { useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { color, themeEpoch } from '../ui/theme';
import { clockTime } from '../ui/times';

export interface Series {
  label: string;
  color: string;  // the name of a variable
  values: (number | null)[];
}

interface Props {
  title: string;
  times: number[];  // seconds
  series: Series[];
  format: (value: number) => string;
}

const height = 150;
const shortestSpan = 60;  // seconds, also when there is less to show

export function Chart({ title, times, series, format }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const data = useRef<uPlot.AlignedData>([[]]);
  data.current = [times, ...series.map(({ values }) => values)];

  const make = () => {
    const element = box.current;
    if (!element) return;
    plot.current?.destroy();
    const axis = { stroke: color('text-faint'), grid: { stroke: color('line'), width: 1 }, ticks: { show: false }, font: '11px sans-serif' };
    plot.current = new uPlot({
      width: element.clientWidth,
      height,
      padding: [8, 8, 0, 0],
      cursor: { y: false },
      legend: { show: false },
      scales: { x: { range: (_, first, last) => [Math.min(first, last - shortestSpan), last] }, y: { range: (_, __, most) => [0, Math.max(most * 1.15, 1e-4)] } },
      axes: [{ ...axis, space: 90, size: 26, values: (_, ticks) => ticks.map((tick) => clockTime(tick * 1000)) }, { ...axis, size: 62, values: (_, ticks) => ticks.map((tick) => format(tick)) }],
      series: [{}, ...series.map((one) => ({
        label: one.label, stroke: color(one.color), width: 1.5, points: { show: false }, spanGaps: true,
      }))],
    }, data.current, element);
  };
  useSignalEffect(() => {
    void themeEpoch.value;
    make();
  });
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, []);
  useEffect(() => plot.current?.setData(data.current), [times.length, times.at(-1)]);
  return (
    <figure class="chart">
      <figcaption>
        <h3>{title}</h3>
        {series.map((one) => {
          const last = one.values.findLast((value) => value !== null);
          return (
            <span key={one.label} class={`chart-key chart-${one.color}`}>
              {one.label} <b>{last === undefined || last === null ? '–' : format(last)}</b>
            </span>
          );
        })}
      </figcaption>
      <div ref={box} class="chart-box" role="img" aria-label={`${title} over the last minutes`} />
    </figure>
  );
}
