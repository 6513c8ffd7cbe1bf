/** Numbers as they are shown, see the words and numbers of the design. */

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** What stands where a value is absent. */
export const absent = '–';

/** @returns `65,536`; `–` for an absent number */
export function count(number: number | null | undefined): string {
  return isNumber(number) ? whole.format(number) : absent;
}

/** For slots of a fixed width: `999`, `1.2k`, `12k`, `1.2M`. Rounded down: a slot never claims more. */
export function shortCount(number: number): string {
  const steps: [number, string][] = [
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k'],
  ];
  const [size, unit] = steps.find(([step]) => number >= step) ?? [1, ''];
  const value = number / size;
  return size === 1 || value >= 10
    ? `${Math.floor(value)}${unit}`
    : `${(Math.floor(value * 10) / 10).toFixed(1).replace('.0', '')}${unit}`;
}

/** @returns whole percent, rounded down: 100 only when everything is done; `–` without a whole */
export function percent(part: number, total: number): string {
  return total > 0 ? `${Math.floor((Math.min(part, total) / total) * 100)} %` : absent;
}

/** As `percent`, of a share between 0 and 1. */
export function sharePercent(share: number): string {
  return percent(share, 1);
}

/** Bytes in steps of 1000: `512 B`, `4.1 MB`, `240 GB`. */
export function bytes(number: number | null | undefined): string {
  if (!isNumber(number)) return absent;
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  let value = number;
  let unit = 0;
  // 999.95 would be written as 1000.0.
  while (value >= (unit === 0 ? 1000 : 999.95) && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? whole.format(value) : value.toFixed(1)} ${units[unit]}`;
}

/** `498/s`, `0.4/s`. */
export function rate(perSecond: number | null | undefined): string {
  if (!isNumber(perSecond)) return absent;
  return perSecond > 0 && perSecond < 10
    ? `${trimmed(perSecond.toFixed(1))}/s`
    : `${whole.format(perSecond)}/s`;
}

/** CVSS with one decimal. */
export function cvss(score: number | null | undefined): string {
  return isNumber(score) ? score.toFixed(1) : absent;
}

/** EPSS and confidence with two decimals. */
export function hundredths(share: number | null | undefined): string {
  return isNumber(share) ? share.toFixed(2) : absent;
}

/** A change with its sign: `+1`, `−4`, `±0`. */
export function change(difference: number): string {
  if (difference === 0) return '±0';
  return `${difference > 0 ? '+' : '−'}${whole.format(Math.abs(difference))}`;
}

function isNumber(value: number | null | undefined): value is number {
  return value !== null && value !== undefined && Number.isFinite(value);
}

function trimmed(text: string): string {
  return text.replace(/\.0$/, '');
}
