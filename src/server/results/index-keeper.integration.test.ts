import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { port, summary } from '../../../test/result-rows.ts';
import { RecordIndexes } from '../../actions/record-index/record-indexes.ts';
import { openRecord } from '../../workspace/record/record-writer.ts';
import { openService, type Service } from '../fixtures/service.ts';
import { IndexKeeper } from './index-keeper.ts';

let service: Service;
let keeper: IndexKeeper;
beforeEach(async () => {
  service = await openService();
});
afterEach(async () => {
  await keeper.close();
  await service.close();
});

function keeping(maxBytes?: number): IndexKeeper {
  const { store, workspace, context } = service;
  const indexes = new RecordIndexes(workspace);
  keeper = new IndexKeeper({ store, workspace, indexes, log: context.log, ...(maxBytes && { maxBytes }) });
  return keeper;
}

const names = async () => (await readdir(service.workspace.indexDir)).sort();

it('removes the indexes of scans that are gone and what killed servers left, and no others', async () => {
  const scanId = await service.submit('one');
  const { indexDir } = service.workspace;
  await mkdir(indexDir, { recursive: true });
  const old = new Date(Date.now() - 2 * 3_600_000);
  for (const name of [`${scanId}.db`, '20200101-000000-aaaaaa.db', `${scanId}.db.ab12.new`, 'fresh.new'])
    await writeFile(join(indexDir, name), 'x');
  await utimes(join(indexDir, `${scanId}.db.ab12.new`), old, old);
  await keeping().sweep();
  expect(await names()).toEqual([`${scanId}.db`, 'fresh.new']);
});

it('removes the indexes that were used longest ago beyond a size', async () => {
  const ids = [await service.submit('one'), await service.submit('two'), await service.submit('three')];
  await mkdir(service.workspace.indexDir, { recursive: true });
  for (const [age, id] of ids.entries()) {
    const file = service.workspace.indexFile(id);
    await writeFile(file, Buffer.alloc(1000));
    const used = new Date(Date.now() - age * 60_000);
    await utimes(file, used, used);
  }
  await keeping(2000).sweep();
  expect(await names()).toEqual([`${ids[0]}.db`, `${ids[1]}.db`].sort());
});

it('builds the index of a large scan when it has ended, and none of a small one', async () => {
  const [small, large] = [await service.submit('small'), await service.submit('large')];
  for (const [id, length] of [
    [small, 10],
    [large, 30_000],
  ] as const) {
    const record = await openRecord(service.workspace.scan(id));
    for (let number = 1; number <= 100; number++)
      await record.append(port(number, { banner: 'x'.repeat(length) }));
    await record.finish({ ...summary, scan_id: id });
  }
  keeping().scanEnded(small, null);
  keeper.scanEnded(large, null);
  await vi.waitFor(async () => expect(await names()).toEqual([`${large}.db`]), { timeout: 120_000 });
});
