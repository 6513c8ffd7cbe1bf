const units = new Map([
  ['KB', 1000],
  ['MB', 1000 ** 2],
  ['GB', 1000 ** 3],
  ['TB', 1000 ** 4],
  ['KiB', 1024],
  ['MiB', 1024 ** 2],
  ['GiB', 1024 ** 3],
  ['TiB', 1024 ** 4],
]);

const pattern = /^(\d{1,15}(?:\.\d{1,9})?)([KMGT]i?B)$/;

/**
 * Parses `512MB`, `20GB` (decimal: powers of 1000) and `64KiB`, `1.5GiB` (binary: powers of 1024).
 *
 * @returns whole bytes, or null if the text is not a size, has no unit or is too large to represent exactly
 */
export function parseByteSize(text: string): number | null {
  const [, amount, unit] = pattern.exec(text) ?? [];
  if (amount === undefined || unit === undefined) return null;
  const exact = Number(amount) * (units.get(unit) as number);
  const bytes = Math.round(exact);
  if (!Number.isSafeInteger(bytes) || (bytes === 0 && exact > 0)) return null;
  return bytes;
}

/** Formats bytes for people, in a form that `parseByteSize` reads: `20GB`, `64MiB`, otherwise `1.5KB`. */
export function formatByteSize(bytes: number): string {
  const largestFirst = [...units].toSorted(([, a], [, b]) => b - a);
  const [unit, length] = largestFirst.find(([, size]) => bytes > 0 && bytes % size === 0) ?? ['KB', 1000];
  return `${bytes / length}${unit}`;
}
