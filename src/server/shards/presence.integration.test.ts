import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { numberedScanRequest } from '../../store/fixtures/numbered-scan.ts';
import { openStore, type Store } from '../../store/open.ts';
import { Presence } from './presence.ts';
import { takeOverNotifications } from './take-over-scans.ts';

describe('owners that are gone', () => {
  let dir: string;
  let store: Store;
  let presence: Presence;
  /** Of the database and of this machine, milliseconds. */
  let time = 0;
  const log = { info: () => undefined, warn: () => undefined };

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'portolan-presence-'));
    store = await openStore(join(dir, 'service.db'));
    time = 1_000_000;
    presence = new Presence(
      store,
      async () => time,
      { id: 'own', poolTags: {}, settings: () => '{}', leaseMs: 30_000 },
      log,
      () => time,
    );
    const request = numberedScanRequest(1);
    await store.scans.insert(request);
    await store.scanQueue.insert({ scanId: request.scan_id, pool: 'default', owner: 'other' }, time);
  });
  afterEach(async () => {
    await store.close();
    await rm(dir, { recursive: true });
  });

  const otherSigns = () =>
    store.hosts.saveServer({ server_id: 'other', url: 'u', version: '0.0.0', last_seen: time });
  /** Heartbeats of this server, one each five seconds. */
  const sign = async (forMs: number) => {
    for (const end = time + forMs; time < end; time += 5000) {
      await presence.sign('u', '0.0.0', null);
      await presence.lookForScans();
    }
  };
  const gone = () => presence.absentOwners(30_000);

  it('are those without a heartbeat for as long as a lease', async () => {
    await otherSigns();
    await sign(25_000);
    expect(await gone()).toEqual([]);
    await sign(10_000);
    expect(await gone()).toEqual(['other']);
    await otherSigns();
    await sign(5000);
    expect(await gone()).toEqual([]);
  });

  it('are not those that are back, although the database was away when this server looked for them', async () => {
    await otherSigns();
    await sign(40_000);
    expect(await gone()).toEqual(['other']);
    await otherSigns();
    expect(await gone()).toEqual([]);
  });

  it('leave their notifications to another server', async () => {
    const { executor } = store;
    const notice = { event: 'alert', payload: {}, channels: ['webhook://siem'], tenant: null };
    for (const owner of ['server:other', 'server:own', 'cli:7:own'])
      await store.outbox.addNotice({ ...notice, owner }, time);
    const owners = async () => (await store.outbox.owners()).toSorted();
    const takeOver = () =>
      takeOverNotifications({ store, log } as never, { presence, line: { leaseMs: 30_000 } } as never);
    await otherSigns();
    await sign(25_000);
    await takeOver();
    expect(await owners()).toEqual(['cli:7:own', 'server:other', 'server:own']);
    await sign(10_000);
    await takeOver();
    expect(await owners()).toEqual(['cli:7:own', executor, 'server:own'].toSorted());
  });

  it('are unknown to a server that has just started, or was without the database itself', async () => {
    time += 3_600_000;
    await sign(5000);
    expect(await gone()).toEqual([]);
    await sign(30_000);
    expect(await gone()).toEqual(['other']);
    await otherSigns();
    // A minute without the database: nobody has given a heartbeat.
    time += 60_000;
    await sign(10_000);
    expect(await gone()).toEqual([]);
    await otherSigns();
    await sign(30_000);
    expect(await gone()).toEqual([]);
    await sign(10_000);
    expect(await gone()).toEqual(['other']);
  });
});

describe('scans that wait although a worker of their pool is idle', () => {
  let dir: string;
  let store: Store;
  let presence: Presence;
  let time = 0;
  const scanId = numberedScanRequest(1).scan_id;
  const worker = { active: 0, pools: ['far'] };

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'portolan-presence-'));
    store = await openStore(join(dir, 'service.db'));
    time = 1_000_000;
    Object.assign(worker, { active: 0, pools: ['far'] });
    const log = { info: () => undefined, warn: () => undefined };
    const own = { id: 'own', poolTags: {}, settings: () => '{}', leaseMs: 30_000 };
    presence = new Presence(
      store,
      async () => time,
      own,
      log,
      () => time,
    );
    await store.scans.insert(numberedScanRequest(1));
    await store.scanQueue.insert({ scanId, pool: 'far', owner: 'own' }, time);
  });
  afterEach(async () => {
    await store.close();
    await rm(dir, { recursive: true });
  });

  /** Heartbeats of this server and of the worker, one each five seconds. */
  const pass = async (forMs: number) => {
    for (const end = time + forMs; time < end; time += 5000) {
      await store.hosts.saveWorker({
        worker_id: 'w',
        host: 'h',
        tags: [],
        version: '0.0.0',
        capacity: 1,
        started_at: '2026-01-01T00:00:00.000Z',
        last_seen: time,
        ...worker,
      });
      await presence.sign('u', '0.0.0', null);
      await presence.lookForWorkers();
      await presence.lookForScans();
    }
  };

  it('are counted by pool once no lease of a dead worker can be the reason, until one begins', async () => {
    await pass(200_000);
    expect(presence.stuckPools).toEqual([]);
    await pass(60_000);
    expect(presence.stuckPools).toEqual([{ pool: 'far', scans: 1 }]);
    await store.scans.update(scanId, { status: 'running' });
    await pass(5000);
    expect(presence.stuckPools).toEqual([]);
  });

  it('are not those whose worker has had work, nor those that a client has paused', async () => {
    await pass(200_000);
    worker.active = 1;
    await pass(5000);
    worker.active = 0;
    await pass(100_000);
    expect(presence.stuckPools).toEqual([]);
    await store.scanPauses.pause(scanId, time);
    await pass(200_000);
    expect(presence.stuckPools).toEqual([]);
  });

  it('are unknown after a time without the database', async () => {
    await pass(150_000);
    time += 200_000;
    await pass(60_000);
    expect(presence.stuckPools).toEqual([]);
    await pass(100_000);
    expect(presence.stuckPools).toEqual([{ pool: 'far', scans: 1 }]);
  });
});
