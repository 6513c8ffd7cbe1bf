import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { damagePage } from '../../store/fixtures/damaged-page.ts';
import { openStore } from '../../store/open.ts';
import { backUpStore } from '../../store/sqlite/backup.ts';
import { openWorkspace, type Workspace } from '../../workspace/workspace.ts';
import { openService, type Service } from '../fixtures/service.ts';
import type { ServerLog } from '../logging/log.ts';
import { StoreDamage } from './store-damage.ts';

let dir: string;
let workspace: Workspace;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-damage-'));
  workspace = await openWorkspace(join(dir, 'ws'));
  await (await openStore(workspace.storeFile)).close();
});
afterEach(async () => {
  await rm(dir, { recursive: true, force: true });
});

describe('a damaged page of the store', () => {
  let service: Service;
  afterEach(async () => {
    await service.close();
  });

  const health = async () => {
    const response = await service.app.inject({ url: '/api/v1/health' });
    return { code: response.statusCode, ...response.json() };
  };
  const submit = (more: object) =>
    service.app.inject({
      method: 'POST',
      url: '/api/v1/scans',
      payload: { targets: ['127.0.0.1'], ports: '9', ...more },
    });

  it.each([
    ['that every submission meets', 'scan_queue', {}],
    ['that only some writes meet', 'scan_tags', { tags: ['weekly'] }],
  ])('%s is 503 for them and makes the service unhealthy', async (_what, table, more) => {
    await backUpStore(workspace.storeFile, '0042-earlier');
    await damagePage(workspace.storeFile, table);
    service = await openService({}, { dir });
    expect(await health()).toMatchObject({ checks: expect.not.arrayContaining([{ name: 'store_file' }]) });
    for (let tries = 0; tries < 2; tries++) {
      const response = await submit(more);
      expect([response.statusCode, response.json().error.code]).toEqual([503, 'unavailable']);
      expect(response.headers['retry-after']).toBeDefined();
    }
    const { code, status, checks } = await health();
    expect([code, status]).toEqual([503, 'unhealthy']);
    expect(checks).toContainEqual({
      name: 'store_file',
      status: 'unhealthy',
      message: expect.stringMatching(/malformed.*backups\/0042-earlier\/service\.db of 2\d{3}-/),
    });
    expect((await service.app.inject({ url: '/api/v1/scans' })).statusCode).toBe(200);
  });
});

it('the check of the store finds what no statement has met yet, and reports it once', async () => {
  await damagePage(workspace.storeFile, 'alert_states');
  const log = { warn: vi.fn(), error: vi.fn() };
  const reports: ((reason: string) => void)[] = [];
  const store = { onDamage: (listener: (reason: string) => void) => void reports.push(listener) };
  const times = { firstMs: 0, betweenMs: 1 };
  const watch = new StoreDamage({ store, workspace }, log as unknown as ServerLog, times);
  watch.start();
  try {
    await expect
      .poll(() => watch.fault, { timeout: 20_000 })
      .toMatch(/alert_states.*restore service\.db from a backup \(backups\/ has none/);
    for (const report of reports) report('database disk image is malformed');
  } finally {
    await watch.close();
  }
  const faults = [expect.stringContaining('alert_states')];
  expect(log.error.mock.calls).toEqual([[expect.objectContaining({ faults }), 'store damaged']]);
  expect(log.warn).not.toHaveBeenCalled();
});

it('a store whose list of migrations is damaged stops the start, which names the backup', async () => {
  await backUpStore(workspace.storeFile, '0042-earlier');
  await damagePage(workspace.storeFile, 'kysely_migration');
  await expect(openStore(workspace.storeFile)).rejects.toMatchObject({
    code: 'configuration',
    message: expect.stringMatching(/is damaged \(.*backups\/0042-earlier\/service\.db/),
  });
});
