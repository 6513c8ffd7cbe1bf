/** The selection with one row more or less. */
export function toggled(selected: ReadonlySet<string>, key: string): Set<string> {
  const next = new Set(selected);
  if (!next.delete(key)) next.add(key);
  return next;
}

/** The selection with all rows of a range in it. @param keyAt undefined for a row that is not loaded */
export function withRange(
  selected: ReadonlySet<string>,
  [from, to]: readonly [number, number],
  keyAt: (index: number) => string | undefined,
): Set<string> {
  const next = new Set(selected);
  for (let index = Math.min(from, to); index <= Math.max(from, to); index++) {
    const key = keyAt(index);
    if (key !== undefined) next.add(key);
  }
  return next;
}

/** All rows, or none when all are selected. */
export function allOrNone(selected: ReadonlySet<string>, keys: readonly string[]): Set<string> {
  return keys.every((key) => selected.has(key)) ? new Set() : new Set(keys);
}
