import { duration } from '../../format/durations.ts';
import { absent, bytes, count, sharePercent } from '../../format/numbers.ts';

interface ShownValue {
  name: string;
  label: string;
  value: string;
}

type Values = Readonly<Record<string, number | null | undefined>>;

const mebibyte = 1024 * 1024;

/** Name, words, and how the number is written; in this order. */
const known: readonly [string, string, (value: number) => string][] = [
  ['error_rate', 'Share of scans that failed, 15 min', sharePercent],
  ['scans_failed_15m', 'Scans that failed, 15 min', count],
  ['queue_length', 'Waiting scans', count],
  ['oldest_queued_seconds', 'Longest wait', (value) => (value === 0 ? '0 s' : duration(value * 1000))],
  ['workers_alive', 'Workers', count],
  ['worker_utilization', 'Workers busy', sharePercent],
  ['free_space_mb', 'Free on disk', (value) => bytes(value * mebibyte)],
  ['vulndb_age_days', 'Age of vulnerability data', (value) => duration(value * 86_400_000)],
];

/** Values of the service with words and units; those of a newer server as they are. `–` where a value is unknown. */
export function shownValues(values: Values): ShownValue[] {
  const names = new Set(known.map(([name]) => name));
  const others = Object.keys(values).filter((name) => !names.has(name));
  return [
    ...known.filter(([name]) => Object.hasOwn(values, name)),
    ...others.map((name) => [name, name, String] as const),
  ].map(([name, label, write]) => {
    const value = values[name];
    return { name, label, value: typeof value === 'number' ? write(value) : absent };
  });
}
