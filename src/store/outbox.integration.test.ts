import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { storeEngines } from '../../test/store-engines.ts';
import type { ScanRequest } from '../domain/scan.ts';
import type { Store } from './open.ts';

let store: Store;

const first = '20261006-143022-aaaaaa';

function request(notifications: string[], scan_id = first): ScanRequest {
  return {
    scan_id,
    created_at: '2026-10-06T14:30:22.000Z',
    targets: ['10.0.0.1'],
    exclude: [],
    profile: 'quick',
    vuln: false,
    notifications,
    name: null,
    tags: [],
    ports: null,
    rate: 100,
    dag: null,
    pool: 'default',
    options: {},
    user: null,
  };
}

const owed = async (owner = 'server', now = Date.now() + 1000) => await store.outbox.due(owner, now, 10);

describe.each(storeEngines())('what is owed about a scan, in $name,', (engine) => {
  if (engine.skip !== null) return void it.skip(engine.skip, () => {});

  beforeAll(() => engine.begin());
  afterAll(() => engine.end());
  beforeEach(async () => {
    store = await engine.empty();
  });

  it('comes with its end, whoever ends it, and with it alone', async () => {
    await store.scans.insert(request(['slack://a', 'slack://a', 'email://b@c.example']));
    await store.scans.update(first, { status: 'running' });
    expect(await owed()).toEqual([]);
    await store.scans.update(first, { status: 'completed' });
    const channels = (await owed()).map(({ channel }) => channel);
    expect(channels.toSorted()).toEqual(['email://b@c.example', 'slack://a']);
    expect(await store.outbox.count()).toBe(2);
    // Ending it again has no effect.
    expect(await store.scans.update(first, { status: 'failed' })).toBe(false);
    expect(await owed()).toHaveLength(2);
    expect((await store.scans.get(first))?.notifications.map(({ status }) => status)).toEqual([
      'pending',
      'pending',
    ]);
  });

  it('is stored together with the end or not at all', async () => {
    await store.scans.insert(request(['slack://a']));
    const broken = store.transaction(async (inside) => {
      await inside.scans.update(first, { status: 'failed' });
      throw new Error('the disk is full');
    });
    await expect(broken).rejects.toThrow('the disk is full');
    expect([(await store.scans.get(first))?.status, await owed()]).toEqual(['pending', []]);
  });

  it('belongs to who runs the scan, until it is handed over, and goes with the scan', async () => {
    await store.scans.insert(request(['slack://a']), 'cli:42');
    await store.scans.update(first, { status: 'failed' });
    expect([await owed(), await store.outbox.owners()]).toEqual([[], ['cli:42']]);
    expect(await store.outbox.ofScan(first)).toHaveLength(1);
    await store.outbox.handOver('cli:42', 'server');
    expect(await owed()).toHaveLength(1);
    await store.scans.delete(first);
    expect(await store.outbox.owners()).toEqual([]);
  });

  it('waits for its turn', async () => {
    const second = '20261006-143022-bbbbbb';
    for (const id of [first, second]) {
      await store.scans.insert(request(['slack://a'], id));
      await store.scans.update(id, { status: 'failed' });
    }
    const [message] = await store.outbox.ofScan(first);
    await store.outbox.postpone(message?.id ?? '', 1, Date.now() + 60_000);
    expect((await owed()).map(({ scan_id }) => scan_id)).toEqual([second]);
    const later = await owed('server', Date.now() + 61_000);
    expect(later.map(({ scan_id, attempts }) => [scan_id, attempts])).toEqual([
      [second, 0],
      [first, 1],
    ]);
    await store.outbox.delete(message?.id ?? '');
    expect(await store.outbox.ofScan(first)).toEqual([]);
  });

  it('can be a message without a scan, once for each channel; an old one is deleted', async () => {
    const payload = { event: 'alert', message: "it's" };
    const channels = ['slack://a', 'slack://a', 'webhook://b'];
    const notice = { event: 'alert', payload, channels, owner: 'server', tenant: null };
    const now = Date.now();
    await store.outbox.addNotice(notice, now);
    await store.outbox.addNotice({ ...notice, channels: [] }, now);
    await store.scans.insert(request(['slack://a']));
    await store.scans.update(first, { status: 'failed' });
    const [ofScan, ...others] = (await owed()).toSorted((a, b) =>
      (a.event ?? '').localeCompare(b.event ?? ''),
    );
    expect(ofScan).toMatchObject({ scan_id: first, event: null, payload: null });
    expect(others.map(({ channel }) => channel).toSorted()).toEqual(['slack://a', 'webhook://b']);
    for (const { scan_id, event, payload: text } of others)
      expect([scan_id, event, JSON.parse(text ?? '')]).toEqual([null, 'alert', payload]);
    expect(await store.outbox.deleteNoticesDueBefore(now)).toBe(0);
    // The message of the scan was due earlier too, but stays.
    expect(await store.outbox.deleteNoticesDueBefore(now + 60_000)).toBe(2);
    expect(await owed()).toEqual([ofScan]);
  });

  it('is looked for without channels, or without a type of them', async () => {
    const channels = ['slack://a', 'webhook://b', 'webhook://bc', 'email://a@b.example'];
    await store.outbox.addNotice({ event: 'alert', payload: {}, channels, owner: 'server', tenant: null }, 1);
    const without = async (...except: string[]) =>
      (await store.outbox.due('server', 2, 10, except)).map(({ channel }) => channel).toSorted();
    expect(await without()).toEqual(channels.toSorted());
    expect(await without('webhook://b', 'slack://')).toEqual(['email://a@b.example', 'webhook://bc']);
    expect(await without('webhook://b', 'webhook://bc', 'slack://', 'email://')).toEqual([]);
  });

  it('is seen by its tenant only', async () => {
    const [acme, globex] = [store.forTenant('acme'), store.forTenant('globex')];
    await acme.scans.insert(request(['slack://a']));
    await acme.scans.update(first, { status: 'failed' });
    expect([await globex.outbox.ofScan(first), await globex.outbox.owners()]).toEqual([[], []]);
    const [message] = await acme.outbox.ofScan(first);
    await globex.outbox.delete(message?.id ?? '');
    await globex.outbox.handOver('server', 'cli:1');
    expect(await owed()).toEqual([message]);
  });
});
