import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storeEngines } from '../../../test/store-engines.ts';
import { listScans } from '../../actions/scans/list-scans.ts';
import { scanRequest } from '../../domain/fixtures/scan-request.ts';
import type { ListedScan } from '../../domain/listed-scan.ts';
import type { Store } from '../open.ts';

let store: Store;

const idOf = (index: number) => `20260101-000000-${index.toString(16).padStart(6, '0')}`;

async function add(index: number): Promise<void> {
  const created_at = new Date(Date.UTC(2026, 0, 1 + index)).toISOString();
  // Long names, capitals, other scripts, equal names and none.
  const name = [null, 'Zebra', 'ärger', 'alpha', '漢字'.repeat(50)][index % 5] as string | null;
  const profile = index % 2 === 0 ? 'quick' : 'deep';
  await store.scans.insert(scanRequest({ scan_id: idOf(index), created_at, name, profile }));
  if (index % 3 === 0) return;
  await store.scans.update(idOf(index), {
    status: 'completed',
    started_at: created_at,
    completed_at: new Date(Date.parse(created_at) + (index % 7) * 1000).toISOString(),
    results: { live_hosts: 0, open_ports: 0, vulnerabilities: (index * 7) % 10 },
  });
}

const keys: Record<string, (scan: ListedScan) => number | string> = {
  created_at: ({ created_at }) => created_at,
  name: ({ name }) =>
    Buffer.from((name ?? '').replace(/[A-Z]/g, (letter) => letter.toLowerCase())).toString('hex'),
  status: ({ status }) => ['pending', 'running', 'completed', 'failed'].indexOf(status),
  duration: ({ started_at, completed_at }) =>
    started_at && completed_at ? Date.parse(completed_at) - Date.parse(started_at) : -1,
  findings: ({ results }) => results.vulnerabilities,
};

/** A cursor that no list has given. */
const forged = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');

describe.each(storeEngines())('a sorted list of scans in $name', (engine) => {
  if (engine.skip !== null) return void it.skip(engine.skip, () => {});

  beforeAll(async () => {
    await engine.begin();
    store = await engine.empty();
    for (let index = 0; index < 25; index++) await add(index);
  });
  afterAll(() => engine.end());

  it.each([
    ['name', 'a\0b'],
    ['status', 1.5],
    ['status', 2 ** 40],
    ['duration', 1e300],
    ['findings', 0.5],
    ['findings', 'many'],
  ])('by %s rejects a forged cursor (%j)', async (sort, key) => {
    const cursor = forged(sort, key, idOf(0));
    await expect(listScans(store, { sort, cursor })).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it.each(Object.keys(keys).flatMap((sort) => [sort, `-${sort}`]))(
    'by %s is complete, by offset and by cursor',
    async (sort) => {
      const all = (await listScans(store, { sort })).scans;
      expect(all).toHaveLength(25);
      const keyOf = keys[sort.replace('-', '')] as (scan: ListedScan) => number | string;
      const given = all.map((scan) => [keyOf(scan), scan.scan_id] as const);
      const sign = sort.startsWith('-') ? -1 : 1;
      const sorted = given.toSorted(([a, x], [b, y]) => sign * (a < b ? -1 : a > b ? 1 : x < y ? -1 : 1));
      expect(given).toEqual(sorted);
      const pages: ListedScan[] = [];
      for (let cursor: string | undefined; ; ) {
        const page = await listScans(store, { sort, limit: 4, ...(cursor !== undefined && { cursor }) });
        expect(page.total).toBe(25);
        pages.push(...page.scans);
        if (page.next_cursor === null) break;
        cursor = page.next_cursor;
      }
      expect(pages.map(({ scan_id }) => scan_id)).toEqual(all.map(({ scan_id }) => scan_id));
      const { scans } = await listScans(store, { sort, limit: 4, offset: 10 });
      expect(scans.map(({ scan_id }) => scan_id)).toEqual(all.slice(10, 14).map(({ scan_id }) => scan_id));
    },
  );

  it('applies the filters', async () => {
    const { scans, total } = await listScans(store, {
      sort: 'name',
      profile: 'deep',
      since: '2026-01-05',
      until: '2026-01-15',
    });
    expect(total).toBe(5);
    expect(scans.map(({ scan_id }) => scan_id).toSorted()).toEqual([5, 7, 9, 11, 13].map(idOf));
    expect((await listScans(store, { until: '2026-01-03' })).scans.map(({ scan_id }) => scan_id)).toEqual(
      [1, 0].map(idOf),
    );
    expect((await listScans(store, { profile: 'none' })).total).toBe(0);
  });

  it.each([
    [{ sort: 'age' }, 'sort'],
    [{ sort: '--name' }, 'sort'],
    [{ sort: 'name; drop table scans' }, 'sort'],
    [{ until: 'tomorrow' }, 'until'],
    [{ sort: 'name', cursor: 'x' }, 'cursor'],
    [
      { sort: 'name', cursor: Buffer.from('["-name","a","20260101-000000-abcdef"]').toString('base64url') },
      'cursor',
    ],
    [
      {
        sort: 'findings',
        cursor: Buffer.from('["findings","1 or 1=1","20260101-000000-abcdef"]').toString('base64url'),
      },
      'cursor',
    ],
    [{ sort: 'name', offset: 100_001 }, 'offset'],
  ])('rejects %j', async (query, field) => {
    await expect(listScans(store, query)).rejects.toMatchObject({ details: { fields: [{ field }] } });
  });

  it('and the unfinished jobs that name a graph, found by its exact name', async () => {
    const job = {
      type: 'scan',
      schedule: '@daily',
      pool: 'default',
      priority: 5,
      name: null,
      created_by: null,
      zone: 'UTC',
    } as const;
    const params = [
      { dag: 'a_b' },
      { dag: 'axb' },
      { dag: 'a_b2' },
      { name: '"dag":"a_b"' },
      { profile: 'a_b' },
    ];
    for (const [index, one] of params.entries()) {
      const created_at = new Date(Date.UTC(2026, 0, 1 + index)).toISOString();
      await store.clientJobs.insert({
        ...job,
        job_id: `job-abcd${index}`,
        params: one,
        next_run_at: null,
        created_at,
      });
    }
    const named = (await store.clientJobs.naming('dag', 'a_b')).map(({ job_id }) => job_id);
    expect(named).toEqual(['job-abcd0']);
    await store.clientJobs.cancel('job-abcd0', new Date().toISOString());
    expect(await store.clientJobs.naming('dag', 'a_b')).toEqual([]);
    expect(await store.clientJobs.naming('profile', 'a_b')).toHaveLength(1);
    expect(await store.scans.completedRuns({ createdAt: '9999', id: '' }, 3)).toHaveLength(3);
  });
});
