import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { storeEngines } from '../../test/store-engines.ts';
import { scanRequest } from '../domain/fixtures/scan-request.ts';
import type { ScanRequest } from '../domain/scan.ts';
import { openStore, type Store } from './open.ts';

let store: Store;
let acme: Store;
let globex: Store;

function useStore(opened: Store): void {
  store = opened;
  acme = store.forTenant('acme');
  globex = store.forTenant('globex');
}

const idOf = (number: number) => `20261006-143022-${String(number).padStart(6, '0')}`;

function request(number: number): ScanRequest {
  return scanRequest({
    scan_id: idOf(number),
    created_at: new Date(Date.UTC(2026, 0, 1) + number * 1000).toISOString(),
    targets: ['10.0.0.1'],
    vuln: true,
    name: 'nightly',
    tags: ['t'],
  });
}

async function submit(to: Store, number: number): Promise<string> {
  await to.transaction(async (inside) => {
    await inside.scans.insert(request(number));
    await inside.scanQueue.insert({ scanId: idOf(number), pool: 'default' }, Date.now());
  });
  return idOf(number);
}

const everything = { limit: 50, offset: 0 };

describe.each(storeEngines())('in $name', (engine) => {
  if (engine.skip !== null) return void it.skip(engine.skip, () => {});

  beforeAll(() => engine.begin());
  afterAll(() => engine.end());
  beforeEach(async () => useStore(await engine.empty()));

  describe('what a tenant has', () => {
    it('can be read by it and by the service, and by nobody else', async () => {
      const id = await submit(acme, 1);
      const none = store.forTenant(null);
      for (const other of [globex, none]) {
        const { scans, scanAges, scanQueue } = other;
        expect([await scans.get(id), await scans.request(id), await scans.executor(id)]).toEqual([
          null,
          null,
          null,
        ]);
        expect(await scans.list({ ...everything, tag: 't', q: 'nightly' })).toMatchObject({
          scans: [],
          total: 0,
        });
        expect([
          await Array.fromAsync(scanAges.newestFirst()),
          await scans.unfinished(),
          await scans.tenantOf(id),
        ]).toEqual([[], [], null]);
        expect((await scans.totals()).scan_count).toBe(0);
        expect(await scanQueue.counts('2020-01-01')).toEqual({ pending: 0, running: 0, failed: 0 });
        // Ids are unique across tenants.
        expect(await scans.isTaken(id)).toBe(true);
        expect([...(await scans.ownersOf([id, '20200101-000000-ffffff'])).keys()]).toEqual([id]);
      }
      for (const allowed of [acme, store]) {
        expect((await allowed.scans.list(everything)).total).toBe(1);
        expect(await allowed.scans.tenantOf(id)).toBe('acme');
        expect((await allowed.scanQueue.counts('2020-01-01')).pending).toBe(1);
      }
    });

    it('can be changed, canceled and deleted by nobody else', async () => {
      const id = await submit(acme, 1);
      const before = await acme.scans.get(id);
      const { scans, scanQueue } = globex;
      expect(await scans.update(id, { status: 'failed', name: 'mine', tags: ['x'] })).toBe(false);
      expect([await scans.setSize(id, 7), await scans.delete(id), await scanQueue.delete(id)]).toEqual([
        false,
        false,
        false,
      ]);
      expect([await scanQueue.cancel(id, Date.now()), await scanQueue.isCancelRequested(id)]).toEqual([
        'unknown',
        false,
      ]);
      expect(await acme.scans.get(id)).toEqual(before);
      expect((await acme.scans.list({ ...everything, tag: 't' })).total).toBe(1);
      expect(await scanQueue.claim('w', Date.now(), Date.now() + 1000)).toMatchObject({
        scanId: id,
        tenant: 'acme',
      });
      expect(await scanQueue.cancel(id, Date.now())).toBe('unknown');
    });

    it('includes its idempotency keys and the tokens that are bound to it', async () => {
      const now = Date.now();
      const key = {
        owner: '',
        key: 'k',
        digest: 'd',
        scan_id: idOf(1),
        created_at: new Date(now).toISOString(),
      };
      await acme.idempotency.insert(key, now);
      expect(await globex.idempotency.find('', 'k', now)).toBeNull();
      expect(await store.forTenant(null).idempotency.find('', 'k', now)).toBeNull();
      await globex.idempotency.insert({ ...key, digest: 'other' }, now);
      expect((await acme.idempotency.find('', 'k', now))?.digest).toBe('d');

      const token = {
        id: 'aaaaaa',
        name: 'ci',
        digest: 'd',
        previous_digest: null,
        previous_until: null,
        scopes: ['admin'],
        tenant: 'acme',
        created_at: new Date(now).toISOString(),
        expires_at: null,
        last_used_at: null,
        revoked_at: null,
      };
      await store.tokens.insert(token);
      expect([await globex.tokens.find('aaaaaa'), await globex.tokens.list()]).toEqual([null, []]);
      expect(await globex.tokens.update('aaaaaa', { name: 'x' })).toBe(false);
      expect((await acme.tokens.list()).map(({ id }) => id)).toEqual(['aaaaaa']);
      expect((await store.tokens.find('aaaaaa'))?.name).toBe('ci');
    });
  });

  describe('the line of waiting scans', () => {
    it('gives the tenant with the fewest running scans the next turn', async () => {
      for (const number of [1, 2, 3]) await submit(acme, number);
      for (const number of [4, 5]) await submit(globex, number);
      await submit(store, 6);
      const running = new Map<string, number>();
      const order: (string | null)[] = [];
      for (let turn = 0; turn < 6; turn++) {
        const claim = await store.scanQueue.claim('w', Date.now(), Date.now() + 60_000, { running });
        if (claim?.tenant) running.set(claim.tenant, (running.get(claim.tenant) ?? 0) + 1);
        order.push(claim && claim.tenant);
      }
      expect(order).toEqual(['acme', 'globex', null, 'acme', 'globex', 'acme']);
      expect(await store.scanQueue.claim('w', Date.now(), Date.now() + 60_000)).toBeNull();
    });

    it('gives a tenant as many turns as its weight says', async () => {
      for (const number of [1, 2, 3]) await submit(acme, number);
      for (const number of [4, 5, 6, 7, 8]) await submit(globex, number);
      const running = new Map<string, number>();
      const order: string[] = [];
      for (let turn = 0; turn < 8; turn++) {
        const filter = { running, weights: { globex: 3 } };
        const claim = await store.scanQueue.claim('w', Date.now(), Date.now() + 60_000, filter);
        const tenant = claim?.tenant ?? '';
        running.set(tenant, (running.get(tenant) ?? 0) + 1);
        order.push(tenant);
      }
      expect(order.slice(0, 6)).toEqual(['acme', 'globex', 'globex', 'globex', 'acme', 'globex']);
    });
  });
});

describe('a list among 5000 scans of each of two tenants', () => {
  let dir: string;
  let file: string;

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'portolan-tenants-'));
    file = join(dir, 'service.db');
    useStore(await openStore(file));
  });
  afterEach(async () => {
    await store.close();
    await rm(dir, { recursive: true, force: true });
  });

  it('is found by an index', async () => {
    const raw = new DatabaseSync(file);
    await submit(acme, 0);
    const copy = raw.prepare(
      `insert into scans select printf('20261006-143022-%06d', :n) scan_id, printf('2026-01-%02dT00:00:00.%03dZ', 1 + :n % 28, :n % 1000),
       status, executor, :n, started_at, completed_at, profile, vuln, name, pool, live_hosts, open_ports, vulnerabilities, tags,
       progress, severity_counts, error, notifications, warnings, stages, targets, searchable, request, :tenant, stored_at, request_id, traceparent, priority
       from scans where scan_id = :first`,
    );
    raw.exec('begin');
    for (let n = 1; n <= 10_000; n++) {
      copy.run({ ':n': n, ':tenant': n % 2 ? 'acme' : 'globex', ':first': idOf(0) } as never);
    }
    raw.exec('commit');
    const plan = (sql: string) =>
      raw
        .prepare(`explain query plan ${sql}`)
        .all()
        .map((row) => String(row['detail']))
        .join('; ');
    const page = "select scan_id, targets from scans where tenant = 'acme'";
    const newest = 'order by created_at desc, scan_id desc limit 51';
    expect(plan(`${page} ${newest}`)).toMatch(/^SEARCH scans USING INDEX scans_by_tenant \(tenant=\?\)$/);
    expect(plan(`${page} and status = 'pending' ${newest}`)).toMatch(
      /^SEARCH scans USING INDEX scans_by_tenant_status/,
    );
    const unstored =
      "select scan_id from scans where status in ('completed', 'failed') and stored_at is null";
    expect(plan(`${unstored} order by created_at, scan_id`)).toContain('USING INDEX scans_to_store');
    expect(plan(`${page.replace("= 'acme'", 'is null')} ${newest}`)).toMatch(
      /^SEARCH scans USING INDEX scans_by_tenant/,
    );
    expect(
      plan("select count(*), sum(size_bytes), min(created_at) from scans where tenant = 'acme'"),
    ).toMatch(/^SEARCH scans USING COVERING INDEX scans_by_tenant/);
    raw.close();

    const first = await acme.scans.list(everything);
    const deep = await acme.scans.list({ limit: 50, offset: 4900, status: 'pending' });
    const totals = await globex.scans.totals();
    expect([first.total, first.scans.length, deep.scans.length, totals.scan_count]).toEqual([
      5001, 50, 50, 5000,
    ]);
  });
});
