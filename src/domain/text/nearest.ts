/** Longer texts are not mistyped names. */
const longestName = 64;

/** The known name closest to a mistyped one, or null if none is close enough. */
export function nearest(name: string, known: readonly string[]): string | null {
  if (name.length > longestName) return null;
  let best: string | null = null;
  let bestDistance = Math.min(name.length, Math.max(1, Math.floor(name.length / 3)) + 1);
  for (const candidate of known) {
    const distance = editDistance(name, candidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Changes of one character, and swaps of two neighbors (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const changed = Math.min(
        (row[j] as number) + 1,
        (next[j - 1] as number) + 1,
        (row[j - 1] as number) + cost,
      );
      const isSwap = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      next.push(isSwap ? Math.min(changed, (before[j - 2] as number) + 1) : changed);
    }
    before = row;
    row = next;
  }
  return row[b.length] as number;
}
