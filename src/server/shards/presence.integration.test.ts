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
      { id: 'own', poolTags: {}, settings: () => '{}' },
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
