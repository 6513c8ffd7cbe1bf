import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../../../store/open.ts';
import { openService, type Service } from '../../fixtures/service.ts';
import { detailWeight, ScanCache } from './scan-cache.ts';

describe('responses of the list and the detail', () => {
  let service: Service;
  let scanId = '';
  beforeEach(async () => {
    service = await openService();
    scanId = await service.submit('first');
  });
  afterEach(() => service.close());

  const detail = async () => (await service.app.inject({ url: `/api/v1/scans/${scanId}` })).json();
  const names = async () => {
    const { data } = (await service.app.inject({ url: '/api/v1/scans' })).json();
    return { total: data.total, names: data.scans.map((scan: { name: string }) => scan.name) };
  };

  it('show every change at once, whoever made it', async () => {
    expect([(await detail()).data.status, await names()]).toEqual([
      'pending',
      { total: 1, names: ['first'] },
    ]);
    await service.store.scans.update(scanId, { status: 'running' });
    expect((await detail()).data.status).toBe('running');
    const other = await openStore(service.workspace.storeFile);
    await other.scans.update(scanId, { status: 'completed', name: 'renamed' });
    await other.close();
    await sleep(20);
    expect([(await detail()).data.status, await names()]).toEqual([
      'completed',
      { total: 1, names: ['renamed'] },
    ]);
    await service.submit('second');
    expect((await names()).total).toBe(2);
    await service.app.inject({ method: 'DELETE', url: `/api/v1/scans/${scanId}` });
    expect([(await detail()).error.code, (await names()).names]).toEqual(['not_found', ['second']]);
  });

  it('are no older than what was committed in a transaction that was under way', async () => {
    let seen = Promise.resolve<unknown>(null);
    await service.store.transaction(async (inside) => {
      await inside.scans.update(scanId, { status: 'running' });
      seen = detail();
      await inside.scans.update(scanId, { status: 'completed' });
    });
    expect(((await seen) as { data: { status: string } }).data.status).toBe('completed');
    expect((await detail()).data.status).toBe('completed');
  });
});

describe('ScanCache', () => {
  it('reads once for a version, and holds a bounded number of scans', async () => {
    const cache = new ScanCache();
    let reads = 0;
    const read = (key: string, version: string, scans: number, targets: string[] = []) =>
      cache.read(
        key,
        version,
        async () => ++reads,
        () => scans * detailWeight({ targets, warnings: [] } as never),
      );
    expect([await read('a', '1', 1), await read('a', '1', 1), await read('a', '2', 1)]).toEqual([1, 1, 2]);
    for (let i = 0; i < 6; i++) await read(`list ${i}`, '2', 1000);
    expect(await read('list 5', '2', 1000)).toBe(8);
    expect(await read('a', '2', 1)).toBe(9);
    for (let i = 0; i < 6000; i++) await read(`empty ${i}`, '2', 0);
    expect(await read('empty 0', '2', 0)).toBe(6010);
    // Two million characters of targets count as a thousand scans.
    const long = Array(10_000).fill('x'.repeat(200));
    for (let i = 0; i < 5; i++) await read(`long ${i}`, '2', 1, long);
    expect(await read('long 4', '2', 1, long)).toBe(6015);
    expect(await read('long 0', '2', 1, long)).toBe(6016);
  });
});
