import type { CveRecord } from '../cve-record.ts';

/** Precedence of the sources of one CVE: the first one with a value counts. */
const sourceOrder = ['nvd', 'cve5', 'overrides'];

/** Number of ranks of sources. */
export const sourceLocations = 4;

/** Rank of a source; unknown ones share the last. */
export function sourceLocation(source: string): number {
  const place = sourceOrder.indexOf(source);
  return place < 0 ? sourceLocations - 1 : place;
}

/**
 * Merges the records of several sources about one CVE. An override replaces the configurations; else the first source
 * with any counts, likewise for scores and weaknesses.
 *
 * @param records of one CVE, at least one, in the order of their sources
 */
export function mergeCveRecords(records: readonly CveRecord[]): CveRecord {
  const [first] = records;
  if (first === undefined) throw new TypeError('no record');
  if (records.length === 1) return first;
  const described = records.filter(({ source }) => source !== 'overrides');
  const base = described[0] ?? first;
  const firstList = <T>(read: (record: CveRecord) => T[]) =>
    records.map(read).find((list) => list.length > 0) ?? [];
  const override = records.find(({ source }) => source === 'overrides')?.configurations ?? [];
  return {
    id: base.id,
    title: described.find(({ title }) => title !== null)?.title ?? null,
    description: records.find(({ description }) => description !== '')?.description ?? '',
    published: base.published,
    modified: described.reduce(
      (latest, { modified }) => (modified > latest ? modified : latest),
      base.modified,
    ),
    cvss: firstList(({ cvss }) => cvss),
    cwe: firstList(({ cwe }) => cwe),
    references: firstList(({ references }) => references),
    configurations: override.length > 0 ? override : firstList(({ configurations }) => configurations),
    rejected: described.some(({ rejected }) => rejected),
    source: records.map(({ source }) => source).join('+'),
  };
}
