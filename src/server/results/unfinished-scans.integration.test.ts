import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { scanRequest } from '../../domain/fixtures/scan-request.ts';
import { openStore, type Store } from '../../store/open.ts';
import { blockBytes } from '../../worker/block-bytes.ts';
import { recordIn } from '../../workspace/record/folder-record.ts';
import { UnfinishedScans } from './unfinished-scans.ts';

const scanId = '20261006-143022-a1b2c3';
const plan = { addresses: ['10.0.0.1', '10.0.0.2'], hostnames: {} };

let dir: string;
let store: Store;
let scans: UnfinishedScans;
let news: string[];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-unfinished-'));
  store = await openStore(join(dir, 'service.db'));
  news = [];
  scans = new UnfinishedScans({ store, workspace: { dir }, onRows: (id) => news.push(id) });
  await scans.clear();
  await store.scans.insert(scanRequest({ scan_id: scanId }));
});
afterEach(async () => {
  await scans.close();
  await store.close();
  await rm(dir, { recursive: true, force: true });
});

const line = (port: number, host = '10.0.0.1') =>
  `${JSON.stringify({
    type: 'port',
    timestamp: '2026-10-06T14:30:23.000Z',
    host,
    port,
    protocol: 'tcp',
    state: 'open',
    reason: '',
  })}\n`;
const held = { scanId, attempt: 1, owner: 'one' };
const put = async (first: number, ...lines: string[]) => {
  const bytes = await blockBytes(Buffer.from(lines.join('')));
  await store.transaction(async (inside) => {
    expect(await inside.undividedResults.append(held, first, { rows: lines.length, bytes })).toBeNull();
  });
};
const claimed = async () => {
  await store.scanQueue.insert({ scanId, pool: 'default', owner: 'one' }, 0);
  await store.scanQueue.claim('w', 0, 1000, { owner: 'one' });
};
const ports = async (path: string) =>
  (await recordIn({ path }).rowsAfter(0)).rows.map((row) => (JSON.parse(row.line) as { port: number }).port);

describe('a running scan of another server', () => {
  it('is copied once for all readers, grows with the rows of the database, and goes with them', async () => {
    await claimed();
    await put(0, line(1), line(2));
    const [one, two] = await Promise.all([scans.hold(scanId), scans.hold(scanId)]);
    expect(one.folder.path).toBe(two.folder.path);
    expect(await ports(one.folder.path)).toEqual([1, 2]);
    await put(2, line(3));
    await expect.poll(() => ports(two.folder.path)).toEqual([1, 2, 3]);
    expect(news).toEqual([scanId]);
    one.release();
    two.release();
    await scans.close();
    expect(existsSync(one.folder.path)).toBe(false);
  });

  it('that is divided is copied without rows of hosts that are not those of the shard', async () => {
    await store.shardJobs.insert(scanId, 'lab', plan, { line: 'shards', ids: ['job 0', 'job 1'] });
    const claim = await store.shardJobs.claim({ scanId, shard: 0 }, { id: 'job 0', retry: 0 }, 'w', {
      now: 0,
      leaseUntil: 1000,
    });
    const bytes = await blockBytes(Buffer.from(line(1) + line(2, '10.0.0.2') + line(3)));
    await store.transaction(async ({ shardResults }) => {
      const shard = { scanId, shard: 0, attempt: claim?.attempt ?? 0 };
      expect(await shardResults.append(shard, 0, { rows: 3, bytes })).toBeNull();
    });
    const { folder, release } = await scans.hold(scanId);
    expect(await ports(folder.path)).toEqual([1, 3]);
    release();
  });

  it('that nobody has begun is empty, and one that does not exist is not found', async () => {
    const { folder, release } = await scans.hold(scanId);
    expect(await ports(folder.path)).toEqual([]);
    release();
    await expect(scans.hold('20261006-143022-ffffff')).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('the rows of an undivided scan', () => {
  it('are accepted from the server that holds it only, and one after the other', async () => {
    await claimed();
    await put(0, line(1));
    const bytes = await blockBytes(Buffer.from(line(2)));
    const append = (who: typeof held, first: number) =>
      store.transaction((inside) => inside.undividedResults.append(who, first, { rows: 1, bytes }));
    expect(await append(held, 2)).toBe('gap');
    expect(await append({ ...held, attempt: 2 }, 1)).toBe('lost');
    expect(await append({ ...held, owner: 'two' }, 1)).toBe('lost');
    expect(await store.undividedResults.rowsOf(scanId)).toBe(1);
    expect(await store.undividedResults.putCheckpoint({ ...held, owner: 'two' }, bytes)).toBe(false);
    expect(await store.undividedResults.putCheckpoint(held, Buffer.from('{}'))).toBe(true);
    expect(String(await store.shardResults.checkpoint(scanId, 0))).toBe('{}');
  });
});
