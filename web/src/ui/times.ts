// Times and amounts as people read them.
const day = new Intl.DateTimeFormat(undefined, { day: '2-digit', month: 'short' });
const dayAndYear = new Intl.DateTimeFormat(undefined, { day: '2-digit', month: 'short', year: 'numeric' });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

const two = (n: number) => String(n).padStart(2, '0');

export function clockTime(at: number, withMillis = false): string {
  const date = new Date(at);
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return withMillis ? `${time}.${String(date.getMilliseconds()).padStart(3, '0')}` : time;
}

// Today: the time alone; this year: day and time; else with the year.
export function dateAndTime(text: string, now = Date.now()): string {
  const date = new Date(text);
  const today = new Date(now);
  const time = clockTime(date.getTime());
  if (date.toDateString() === today.toDateString()) return time;
  return `${(date.getFullYear() === today.getFullYear() ? day : dayAndYear).format(date)}, ${time}`;
}

export const fullTime = (text: string | number) => full.format(new Date(text));

export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.round(ms / 1000) % 60} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

export function ago(text: string, now = Date.now()): string {
  const ms = now - new Date(text).getTime();
  return ms < 1000 ? 'now' : `${duration(ms < 60_000 ? Math.floor(ms / 1000) * 1000 : ms).replace('.00', '')} ago`;
}

export function bytes(count: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  let amount = count;
  while (amount >= 1024 && unit < units.length - 1) {
    amount /= 1024;
    unit += 1;
  }
  return `${unit === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${units[unit]}`;
}

export const count = (n: number) => n.toLocaleString('en-US');
