/** Durations: two units; estimates one. Milliseconds in. */
import { absent } from './numbers.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** From the largest, with the number of milliseconds. */
const units: [string, number][] = [
  ['d', day],
  ['h', hour],
  ['min', minute],
  ['s', second],
];

/** `8 min 52 s`, `1 h 2 min`, `31 s`, `4.2 s` below ten seconds, `12 ms` below one. Rounded down. */
export function duration(milliseconds: number | null | undefined): string {
  if (milliseconds === null || milliseconds === undefined || !Number.isFinite(milliseconds)) return absent;
  const span = Math.max(0, milliseconds);
  if (span < second) {
    return `${Math.floor(span)} ms`;
  }
  if (span < 10 * second) {
    return `${(Math.floor(span / 100) / 10).toFixed(1).replace('.0', '')} s`;
  }
  const first = units.findIndex(([, size]) => span >= size);
  const [name, size] = units[first] as [string, number];
  const next = units[first + 1];
  const large = `${Math.floor(span / size)} ${name}`;
  const rest = next === undefined ? 0 : Math.floor((span % size) / next[1]);
  return rest === 0 || next === undefined ? large : `${large} ${rest} ${next[0]}`;
}

/** An estimate has one unit: `about 3 min`, `less than a minute`. Rounded to the nearest. */
export function estimate(milliseconds: number): string {
  if (milliseconds < minute) return 'less than a minute';
  // 59.6 minutes are about an hour.
  const [name, size] = units.find(([, unit]) => Math.round(milliseconds / unit) >= 1 && unit >= minute) ?? [
    'min',
    minute,
  ];
  return `about ${Math.round(milliseconds / size)} ${name}`;
}
