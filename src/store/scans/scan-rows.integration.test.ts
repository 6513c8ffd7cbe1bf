import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { scanRequest } from '../../domain/fixtures/scan-request.ts';
import type { ScanRequest } from '../../domain/scan.ts';
import { openStore } from '../open.ts';
import { openScanRows, type ScanRows } from './scan-rows.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-rows-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const startedAt = '2026-01-01T00:00:00.000Z';

function request(more: Partial<ScanRequest> = {}): ScanRequest {
  return scanRequest({ targets: ['10.0.0.1'], tags: ['a', 'b', 'a'], name: "it's", ...more });
}

/** A whole scan as the command line stores it. */
async function keep(rows: ScanRows, scan: ScanRequest): Promise<void> {
  await rows.transaction(async ({ scans }) => {
    await scans.insert(scan, 'cli:1');
    await scans.update(scan.scan_id, { status: 'running', started_at: startedAt });
  });
  await rows.scans.update(scan.scan_id, { results: { live_hosts: 1, open_ports: 2, vulnerabilities: 3 } });
  await rows.transaction(async ({ scans }) => {
    await scans.update(scan.scan_id, {
      status: 'failed',
      completed_at: startedAt,
      error: { code: 'canceled', message: 'no' },
      warnings: [{ code: 'x', message: "'; drop table scans; --" }],
    });
    await scans.setSize(scan.scan_id, 4096);
  });
}

function contents(file: string): Record<string, unknown> {
  const database = new DatabaseSync(file);
  const all = (table: string) => database.prepare(`select * from ${table} order by 1, 2`).all();
  const found = Object.fromEntries(['scans', 'scan_tags', 'scan_listings', 'outbox'].map((t) => [t, all(t)]));
  database.close();
  return found;
}

it.each([null, 'acme'])('leaves what the whole store would leave (tenant %s)', async (tenant) => {
  const [own, whole] = [join(dir, 'own.db'), join(dir, 'whole.db')];
  const scan = request({ targets: Array.from({ length: 150 }, (_, n) => `10.0.0.${n}`) });
  const rows = await openScanRows(own, tenant);
  await keep(rows, scan);
  rows.close();
  const store = await openStore(whole);
  await keep(store.forTenant(tenant), scan);
  await store.close();
  expect(contents(own)).toEqual(contents(whole));
  expect(contents(own)['scans']).toMatchObject([{ status: 'failed', size_bytes: 4096, tenant }]);
});

it('makes the tables of a new file, and then finds them', async () => {
  const file = join(dir, 'new.db');
  (await openScanRows(file, null)).close();
  const rows = await openScanRows(file, null);
  await keep(rows, request());
  rows.close();
  const store = await openStore(file);
  expect(await store.scans.get(request().scan_id)).toMatchObject({ status: 'failed', name: "it's" });
  await store.close();
});

it('lets states go forward only, and changes nothing of another tenant', async () => {
  const file = join(dir, 'states.db');
  const rows = await openScanRows(file, 'acme');
  const { scan_id } = request();
  await keep(rows, request());
  expect(await rows.scans.update(scan_id, { status: 'running' })).toBe(false);
  const other = await openScanRows(file, 'other');
  expect(await other.scans.setSize(scan_id, 1)).toBe(false);
  other.close();
  rows.close();
});

it('takes back what a failed transaction did', async () => {
  const file = join(dir, 'back.db');
  const rows = await openScanRows(file, null);
  const failing = rows.transaction(async ({ scans }) => {
    await scans.insert(request(), 'cli:1');
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  await keep(rows, request());
  rows.close();
  expect(contents(file)['scans']).toHaveLength(1);
});

it('has no part in scans that notify', async () => {
  const rows = await openScanRows(join(dir, 'owed.db'), null);
  await expect(rows.scans.insert(request({ notifications: ['slack://ops'] }), 'cli:1')).rejects.toThrow(
    'store',
  );
  rows.close();
});

it('refuses the store of a newer version', async () => {
  const file = join(dir, 'newer.db');
  (await openScanRows(file, null)).close();
  const database = new DatabaseSync(file);
  database.exec(
    "insert into kysely_migration (name, timestamp) values ('9999-later', '2026-01-01T00:00:00.000Z')",
  );
  database.close();
  await expect(openScanRows(file, null)).rejects.toMatchObject({
    code: 'configuration',
    message: expect.stringContaining('newer version'),
  });
});
