import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { storeEngines } from '../../../test/store-engines.ts';
import { scanRequest } from '../../domain/fixtures/scan-request.ts';
import type { ListedScan } from '../../domain/listed-scan.ts';
import type { Scan } from '../../domain/scan.ts';
import type { Store } from '../../store/open.ts';
import { ScanChanges } from './scan-changes.ts';
import type { EventSink } from './service-feed.ts';

let store: Store;

/** Collects what is reported. */
class Sink implements EventSink {
  readonly events: [string, Record<string, unknown>][] = [];
  readonly latest = new Map<string, object>();

  emit(event: string, data: object): void {
    this.events.push([event, data as Record<string, unknown>]);
  }

  setLatest(key: string, _event: string, data: object): void {
    this.latest.set(key, data);
  }

  dropLatest(key: string): void {
    this.latest.delete(key);
  }

  /** The events since the last call, as `<event> <scan> <status>`. */
  take(): string[] {
    const texts = this.events.map(
      ([event, { scan_id, status = '' }]) => `${event} ${String(scan_id).slice(-6)} ${status}`,
    );
    this.events.length = 0;
    return texts;
  }
}

/** Ids are never used twice, as those of real scans. */
let tests = 1000;
const idOf = (suffix: string) => `20261006-14${tests}-${suffix}`;

async function submit(tenant: string | null, suffix: string, created_at = new Date().toISOString()) {
  const request = scanRequest({ scan_id: idOf(suffix), created_at, targets: ['a', 'b', 'c', 'd'] });
  await store.forTenant(tenant).scans.insert(request);
}

const change = (suffix: string, patch: Partial<Scan>) => store.scans.update(idOf(suffix), patch);

describe.each(storeEngines())('changes of scans in $name', (engine) => {
  if (engine.skip !== null) return void it.skip(engine.skip, () => {});

  let sink: Sink;
  let changes: ScanChanges;

  beforeAll(() => engine.begin());
  afterAll(() => engine.end());
  beforeEach(async () => {
    tests += 1;
    store = await engine.empty();
    sink = new Sink();
  });

  /** Reads the store, however recently it did. */
  async function poll(): Promise<string[]> {
    await expect
      .poll(async () => {
        await changes.poll(sink);
        return sink.events.length > 0;
      })
      .toBe(true);
    return sink.take();
  }

  async function follow(tenant: string | null): Promise<void> {
    const workers = { freshenListed: (scan: ListedScan) => scan };
    changes = new ScanChanges({ store: store.forTenant(tenant), workers, isShared: false });
    await changes.poll(sink);
    expect(sink.take()).toEqual([]);
  }

  it('begin with the present: what was there before is not reported', async () => {
    await submit(null, 'aaaaaa');
    await submit(null, 'bbbbbb');
    await store.scans.delete(idOf('bbbbbb'));
    await follow(null);
    await submit(null, 'cccccc');
    expect(await poll()).toEqual(['scan cccccc pending']);
  });

  it('report each state once, also of a scan that ended between two reads', async () => {
    await follow(null);
    await submit(null, 'aaaaaa');
    expect(await poll()).toEqual(['scan aaaaaa pending']);
    await change('aaaaaa', { status: 'running', started_at: new Date().toISOString() });
    expect(await poll()).toEqual(['scan aaaaaa running']);
    await submit(null, 'bbbbbb');
    await change('bbbbbb', { status: 'failed', completed_at: new Date().toISOString() });
    await change('aaaaaa', { status: 'completed', completed_at: new Date().toISOString() });
    expect((await poll()).sort()).toEqual(['scan aaaaaa completed', 'scan bbbbbb failed']);
  });

  it('report the end of a scan that is older than the newest ones', async () => {
    await submit(null, 'aaaaaa', '2026-10-06T14:30:22.000Z');
    await submit(null, 'bbbbbb');
    await follow(null);
    await change('aaaaaa', { status: 'completed', completed_at: new Date().toISOString() });
    expect(await poll()).toEqual(['scan aaaaaa completed']);
    await submit(null, 'cccccc');
    expect(await poll()).toEqual(['scan cccccc pending']);
  });

  it('report deleted scans of the tenant, running and ended ones, once', async () => {
    await submit('acme', 'aaaaaa', '2026-10-06T14:30:22.000Z');
    await submit('acme', 'bbbbbb');
    await submit('globex', 'cccccc');
    await change('aaaaaa', { status: 'completed' });
    await follow('acme');
    for (const suffix of ['aaaaaa', 'bbbbbb', 'cccccc']) await store.scans.delete(idOf(suffix));
    expect((await poll()).sort()).toEqual(['scan_deleted aaaaaa ', 'scan_deleted bbbbbb ']);
    await submit('globex', 'dddddd');
    await submit('acme', 'eeeeee');
    expect(await poll()).toEqual(['scan eeeeee pending']);
  });

  it('have few targets, and progress beside the states', async () => {
    await follow(null);
    await submit(null, 'aaaaaa');
    await expect
      .poll(async () => {
        await changes.poll(sink);
        return sink.events.length;
      })
      .toBe(1);
    expect(sink.events[0]?.[1]).toMatchObject({ targets: ['a', 'b', 'c'], targets_total: 4 });
    sink.take();
    const scan = (await store.scans.get(idOf('aaaaaa'))) as Scan;
    await change('aaaaaa', { status: 'running' });
    await poll();
    await change('aaaaaa', { progress: { ...scan.progress, percent: 40 } });
    await expect
      .poll(async () => {
        await changes.poll(sink);
        return sink.latest.get(idOf('aaaaaa'));
      })
      .toMatchObject({ progress: { percent: 40 } });
    expect(sink.take()).toEqual([]);
    await change('aaaaaa', { status: 'failed' });
    expect(await poll()).toEqual(['scan aaaaaa failed']);
    expect(sink.latest.size).toBe(0);
  });
});
