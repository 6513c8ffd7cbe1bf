import { describe, expect, it } from 'vitest';
import type { ResultRow, VulnerabilityRow } from '../../../domain/result.ts';
import { type SyntheticScanOptions, syntheticScan } from '../../fixtures/synthetic-scan.ts';
import { Collection } from '../collection.ts';
import { type FindingGroup, FixList } from './fix-list.ts';
import { readFinding } from './seen-finding.ts';

async function rowsOf(options: SyntheticScanOptions): Promise<{ rows: ResultRow[]; collection: Collection }> {
  const scan = syntheticScan(options);
  const collection = new Collection(scan.facts);
  const rows = await Array.fromAsync(scan.rows());
  for (const row of rows) collection.add(row);
  return { rows, collection };
}

/** The fix list from findings in groups of equal ones. */
function listed(rows: readonly ResultRow[]) {
  const findings = rows.filter((row) => row.type === 'vulnerability');
  const list = new FixList();
  const groups = new Map<FindingGroup, VulnerabilityRow[]>();
  const keyOf = ({ vulnerability }: VulnerabilityRow) => JSON.stringify({ ...vulnerability, evidence: '' });
  for (const own of Map.groupBy(findings, keyOf).values())
    groups.set(list.add(readFinding(own[0] as VulnerabilityRow, null), own.length), own);
  const hosts = (chosen: (group: FindingGroup) => number, count: number) =>
    Array.from({ length: count }, (_, number) => {
      const own = [...groups].filter(([group]) => chosen(group) === number).flatMap(([, members]) => members);
      return new Set(own.map(({ host }) => host)).size;
    });
  return list.finish(
    hosts(({ fix }) => fix, list.fixes),
    hosts(({ kind }) => kind, list.kinds),
  );
}

describe('a fix list from groups of findings', () => {
  it.each([
    { hosts: 30, findingsPerHost: 5, kinds: 60, seed: 1 },
    { hosts: 40, findingsPerHost: 3, kinds: 15, seed: 2, exploited: 0 },
    { hosts: 10, findingsPerHost: 8, kinds: 300, seed: 3, exploited: 0.5 },
  ])('is that of the report: %j', async (options) => {
    const { rows, collection } = await rowsOf(options);
    const { actions } = collection.finish();
    expect(
      listed(rows).map(({ key, text, reason, findings, hosts, severities, exploited, epss, cvss }) => {
        return { key, text, reason, findings, hosts, severities, exploited, epss, cvss };
      }),
    ).toEqual(
      actions.map(({ key, text, reason, findings, hosts, severities, exploited, epss, cvss }) => {
        return { key, text, reason, findings, hosts, severities, exploited, epss, cvss };
      }),
    );
  });
});
