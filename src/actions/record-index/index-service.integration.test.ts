import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseQuery } from '../../domain/query/parse-query.ts';
import { openPortRow } from '../../workspace/record/fixtures/record-rows.ts';
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

describe('the index of a scan that writes faster than it follows', () => {
  it('responds with what is in it, and follows between the requests', async () => {
    // Without time of its own a request adds one slice of rows.
    service = new IndexService(() => undefined, undefined, 0);
    const folder = new ScanFolder(join(dir, 'scan'));
    await mkdir(folder.path);
    const scan = { record: recordIn(folder).place, file: join(dir, 'index', 'a.db') };
    const total = async () => {
      const request = { kind: 'rows', query: parseQuery(''), type: 'port', keys: [] } as const;
      const page = { ...request, offset: 0, limit: 10, after: null };
      return (await service.run(scan, page, new Turns(60_000))).total;
    };
    const writer = await openRecord(folder);
    const append = async (from: number, to: number) => {
      for (let port = from; port <= to; port++) await writer.append(openPortRow('10.0.0.1', port));
      await writer.seal();
    };
    await append(1, 10);
    expect(await total()).toBe(10);
    await append(11, 4000);
    const [first, second] = await Promise.all([total(), total()]);
    expect(first).toBeGreaterThan(10);
    expect(second).toBeLessThan(4000);
    await vi.waitFor(async () => expect(await total()).toBe(4000), { timeout: 120_000 });
    await writer.close();
  });
});
