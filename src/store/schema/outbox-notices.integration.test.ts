import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  createOlderDatabase,
  createOlderFile,
  insertIntoDatabase,
  insertIntoFile,
  type OlderRows,
} from '../../../test/older-store.ts';
import { emptyDatabase, postgresObstacle } from '../../../test/postgres.ts';
import { scanRequest } from '../../domain/fixtures/scan-request.ts';
import { openStore } from '../open.ts';
import { newScanRow, pendingScan } from '../scans/scan-row.ts';

const scanId = '20260101-000000-000001';
const request = scanRequest({ scan_id: scanId, created_at: '2026-01-01T00:00:00.000Z' });
const message = { channel: 'slack://a', attempts: 2, owner: 'server', next_at: 7, tenant: null };
const rows: OlderRows = [
  ['scans', { ...newScanRow(pendingScan(request), request, 'server', null) }],
  ['outbox', { id: 'm-1', scan_id: scanId, ...message }],
];

async function expectNotices(location: string): Promise<void> {
  const store = await openStore(location);
  try {
    const { outbox, scans } = store;
    expect(await outbox.due('server', 8, 10)).toMatchObject([
      { id: 'm-1', scan_id: scanId, channel: 'slack://a', attempts: 2, event: null, payload: null },
    ]);
    const notice = { event: 'alert', payload: {}, channels: ['slack://b'], owner: 'server', tenant: null };
    await outbox.addNotice(notice, 8);
    // Still deleted with its scan; the message without a scan stays.
    await scans.delete(scanId);
    expect((await outbox.due('server', 8, 10)).map(({ channel }) => channel)).toEqual(['slack://b']);
  } finally {
    await store.close();
  }
}

it('pending messages of an older SQLite store stay, and others may stand without a scan', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'portolan-store-'));
  try {
    const file = join(dir, 'older.db');
    await createOlderFile(file, '0014-field-names');
    insertIntoFile(file, rows);
    await expectNotices(file);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});

it.skipIf(postgresObstacle() !== null)(
  'pending messages of an older PostgreSQL store stay, and others may stand without a scan',
  async () => {
    const url = await emptyDatabase();
    await createOlderDatabase(url, '0014-field-names');
    await insertIntoDatabase(url, rows);
    await expectNotices(url);
  },
  60_000,
);
