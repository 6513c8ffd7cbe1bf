import { groupedNumber } from '../../../domain/text/grouped-number.ts';

/** `65,536` */
export function amountText(amount: number): string {
  return groupedNumber(amount);
}

/** `1 scan`, `1,204 scans`, `2 addresses` */
export function countText(amount: number, one: string, many = `${one}s`): string {
  return `${amountText(amount)} ${amount === 1 ? one : many}`;
}

const units = ['kB', 'MB', 'GB', 'TB'];

/** `512 bytes`, `4.1 MB`, `79 GB`: powers of 1000, one decimal below ten. */
export function bytesText(bytes: number): string {
  if (bytes < 1000) return countText(bytes, 'byte');
  let size = bytes / 1000;
  let unit = 0;
  // What rounds to 1000 is 1.0 of the next unit.
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1000;
    unit++;
  }
  return `${size < 9.95 ? size.toFixed(1) : amountText(Math.round(size))} ${units[unit]}`;
}
