import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { postgresObstacle, storeDatabase } from '../../../test/postgres.ts';
import { isFinal, type Scan } from '../../domain/scan.ts';
import { openService, type Service } from '../fixtures/service.ts';
import { ShutdownDeadline } from '../shutdown-deadline.ts';
import { LocalWorker } from './local-worker.ts';

const skip = postgresObstacle();
const entryFile = fileURLToPath(new URL('../fixtures/recording-child.ts', import.meta.url));

describe.skipIf(skip !== null)(`the processes of shards${skip ? ` (${skip})` : ''}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-shard-processes-'));
  const file = join(folder, 'calls');
  let service: Service;
  let worker: LocalWorker;

  afterAll(async () => {
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => {
    writeFileSync(file, '');
    process.env['PORTOLAN_RECORDED_CALLS'] = file;
  });
  /** @param shardSize with less than a small scan may have, each scan here is divided, into one shard */
  const open = async (shardSize: number) => {
    const database = await storeDatabase();
    const config = { 'server.workers': 1, 'workers.shard_size': shardSize };
    service = await openService(config, { working: true, entryFile, database });
    const { context } = service;
    if (context.shards === null) throw new Error('scans are not divided');
    worker = new LocalWorker(context, context.shards);
    await worker.start();
  };
  afterEach(async () => {
    await worker.drain(new ShutdownDeadline(15_000));
    await service.close();
  });

  const calls = (): { call: string; pid: number }[] =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { call: string; pid: number });
  const pids = (call = 'execute') => calls().flatMap((made) => (made.call === call ? made.pid : []));
  const scan = async (name: string): Promise<Scan> =>
    await service.until(await service.submit(name), ({ status }) => isFinal(status));

  it('run shards and last steps one after another, with the modules initialized once', async () => {
    await open(1);
    for (let i = 0; i < 3; i++) expect((await scan('plain')).status).toBe('completed');
    // Each scan has a shard and a last step, which knows no module of the test and so runs it again.
    expect(pids().length).toBe(6);
    expect([new Set(pids()).size, pids('initialize').length]).toEqual([1, 1]);
    await worker.drain(new ShutdownDeadline(15_000));
    await service.workers.close(5000);
    expect(pids('cleanup')).toEqual(pids('initialize'));
  });

  it('run a small scan undivided, from its first packet to its report', async () => {
    await open(16);
    for (let i = 0; i < 3; i++) expect((await scan('plain')).status).toBe('completed');
    expect(pids().length).toBe(3);
    expect([new Set(pids()).size, pids('initialize').length]).toEqual([1, 1]);
  });

  it('are replaced when one dies in a shard, and the shard is retried', async () => {
    await open(1);
    await scan('plain');
    expect(await scan('crash')).toMatchObject({ status: 'failed', error: { code: 'worker_lost' } });
    expect((await scan('plain')).status).toBe('completed');
    // A shard and a last step, three attempts, a shard and a last step.
    const [first, last, crashed, second, third, fresh, ...more] = pids();
    expect([last, crashed]).toEqual([first, first]);
    expect(new Set([first, second, third, fresh]).size).toBe(4);
    expect(more).toEqual([fresh]);
  });

  it('run another scan after one that was canceled', async () => {
    await open(1);
    const scanId = await service.submit('hang');
    await expect.poll(() => pids().length, { timeout: 60_000 }).toBe(1);
    await service.app.inject({ method: 'POST', url: `/api/v1/scans/${scanId}/cancel` });
    expect(await service.until(scanId, ({ status }) => isFinal(status))).toMatchObject({
      error: { code: 'canceled' },
    });
    await scan('plain');
    expect(new Set(pids()).size).toBe(1);
  });
});
