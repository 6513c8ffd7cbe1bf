import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseQuery } from '../../domain/query/parse-query.ts';
import { openPortRow, summaryRow } from '../../workspace/record/fixtures/record-rows.ts';
import { recordIn } from '../../workspace/record/folder-record.ts';
import { openRecord } from '../../workspace/record/record-writer.ts';
import { ScanFolder } from '../../workspace/scan-folder.ts';
import { IndexService } from './index-service.ts';
import { Turns } from './turns.ts';

let dir: string;
let service: IndexService;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-index-service-'));
});
afterEach(async () => {
  await service.close();
  await rm(dir, { recursive: true, force: true });
});

/** A scan that is being recorded, and a request for its ports. */
async function openScan() {
  const folder = new ScanFolder(join(dir, 'scan'));
  await mkdir(folder.path);
  const scan = { record: recordIn(folder).place, file: join(dir, 'index', 'a.db') };
  const writer = await openRecord(folder);
  return {
    writer,
    async append(from: number, to: number) {
      for (let port = from; port <= to; port++) await writer.append(openPortRow('10.0.0.1', port));
      await writer.seal();
    },
    async rows() {
      const request = { kind: 'rows', query: parseQuery(''), type: 'port', keys: [] } as const;
      const page = { ...request, offset: 0, limit: 10, after: null };
      const { total, share } = await service.run(scan, page, new Turns(60_000));
      return { total, share };
    },
  };
}

describe('the index of a scan that writes faster than it follows', () => {
  it('responds with what is in it, and follows between the requests', async () => {
    // Without time of its own a request adds one slice of rows.
    service = new IndexService(() => undefined, undefined, 0);
    const { writer, append, rows } = await openScan();
    await append(1, 10);
    expect((await rows()).total).toBe(10);
    await append(11, 4000);
    const [first, second] = await Promise.all([rows(), rows()]);
    expect(first.total).toBeGreaterThan(10);
    expect(second.total).toBeLessThan(4000);
    await vi.waitFor(async () => expect((await rows()).total).toBe(4000), { timeout: 120_000 });
    await writer.close();
  });
});

describe('the index of a scan that has ended since the last request', () => {
  async function endScan(early: number) {
    service = new IndexService(() => undefined, early);
    const { writer, append, rows } = await openScan();
    await append(1, 10);
    await vi.waitFor(async () => expect(await rows()).toEqual({ total: 10, share: null }));
    await append(11, 4000);
    await writer.finish(summaryRow);
    await writer.close();
    return rows;
  }

  it('has all rows, if it is built soon', async () => {
    const rows = await endScan(120_000);
    expect(await rows()).toEqual({ total: 4000, share: null });
  });

  it('says that rows may be missing until it is built', async () => {
    const rows = await endScan(0);
    expect((await rows()).share).toEqual(expect.any(Number));
    await vi.waitFor(async () => expect(await rows()).toEqual({ total: 4000, share: null }), {
      timeout: 120_000,
    });
  });
});
