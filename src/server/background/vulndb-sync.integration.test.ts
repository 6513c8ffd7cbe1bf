import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ownPath, respondUnder } from '../../../test/own-path.ts';
import { loadConfig } from '../../config/load.ts';
import { distributionFile, distributionMirrors } from '../../knowledge/vulndb/fixtures/distribution-feeds.ts';
import { epssFeed, kevFeed, nvdPage, nvdRecord } from '../../knowledge/vulndb/fixtures/feeds.ts';
import { readCurrentManifest } from '../../knowledge/vulndb/generation/generation-pointer.ts';
import type { ServerLog } from '../logging/log.ts';
import { VulndbSync } from './vulndb-sync.ts';

let dir: string;
let server: Server;
const path = ownPath();
let requested: number;
let silent: boolean;
const pace = { firstMs: 1, betweenMs: 20, retryMs: 60_000 };

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-auto-sync-'));
  requested = 0;
  silent = false;
  const respond: RequestListener = ({ url = '' }, response) => {
    requested++;
    if (silent) return;
    const file = distributionFile(url.split('?')[0] ?? '');
    if (file !== null) response.end(file);
    else if (url.startsWith('/alpine')) response.writeHead(404).end();
    else if (url.startsWith('/nvd')) response.end(JSON.stringify(nvdPage([nvdRecord('CVE-2026-1000')])));
    else if (url === '/kev') response.end(JSON.stringify(kevFeed(['CVE-2026-1000'])));
    else response.end(epssFeed([['CVE-2026-1000', 0.5, 0.9]]));
  };
  server = createServer(respondUnder(path, respond));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(dir, { recursive: true, force: true });
});

const warned: object[] = [];
const clock = { now: Date.now, random: () => 0 };

function start(flags: Record<string, unknown>, time = clock) {
  warned.length = 0;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  const { config } = loadConfig({
    env: { HOME: dir },
    systemFile: join(dir, 'none.yaml'),
    flags: {
      'workspace.dir': join(dir, 'ws'),
      'vulndb.nvd_url': `${url}/nvd`,
      'vulndb.kev_url': `${url}/kev`,
      'vulndb.epss_url': `${url}/epss`,
      'vulndb.sources': distributionMirrors(url),
      ...flags,
    },
  });
  const quiet = () => undefined;
  const warn = (...facts: object[]) => void warned.push(facts);
  const log = { info: quiet, warn, debug: quiet } as unknown as ServerLog;
  const sync = new VulndbSync(config, log, pace, time);
  sync.start();
  return sync;
}

const manifest = () => readCurrentManifest(join(dir, 'ws/cache/vulndb'));

describe('VulndbSync', () => {
  it('sends no request unless vulndb.auto_sync is set', async () => {
    const sync = start({});
    await sleep(200);
    await sync.close();
    expect([requested, manifest()]).toEqual([0, null]);
  });

  it('sends no request where data would not be stored', async () => {
    const sync = start({ 'vulndb.auto_sync': true, 'workspace.enabled': false });
    await sleep(200);
    await sync.close();
    expect(requested).toBe(0);
  });

  it('fetches what is missing, and nothing more while it is young', async () => {
    const sync = start({ 'vulndb.auto_sync': true });
    for (let waited = 0; manifest() === null && waited < 10_000; waited += 20) await sleep(20);
    await sleep(100);
    await sync.close();
    expect(manifest()?.counts).toMatchObject({ cves: 1, kev: 1, epss: 1, fixes: 10 });
    // Alpine has two files for each of ten branches.
    expect(requested).toBe(6 + 20);
  });

  it('refreshes data that is older than a day and its share of an hour, not before', async () => {
    const first = start({ 'vulndb.auto_sync': true });
    await expect.poll(() => manifest()).not.toBeNull();
    await first.close();
    const made = Date.parse(manifest()?.created_at ?? '');
    const hour = 3_600_000;
    let now = made + 24 * hour + hour / 2 - 1000;
    let looked = 0;
    requested = 0;
    const time = {
      now: () => {
        looked++;
        return now;
      },
      random: () => 0.5,
    };
    const sync = start({ 'vulndb.auto_sync': true }, time);
    await expect.poll(() => looked).toBeGreaterThan(6);
    expect(requested).toBe(0);
    now += 2000;
    await expect.poll(() => requested).toBeGreaterThan(0);
    await sync.close();
  });

  it('fetches when it is asked, also without auto_sync, and says what failed', async () => {
    const sync = start({ 'vulndb.kev_url': 'http://127.0.0.1:9/kev' });
    expect(sync.state).toEqual({ syncing: false, sync_problems: [] });
    silent = true;
    sync.request();
    expect(sync.state.syncing).toBe(true);
    sync.request();
    await sync.close();
    expect(sync.state.syncing).toBe(false);
  });

  it('says once at the start that data is old or lacks something, and nothing with auto_sync', async () => {
    const sync = start({});
    expect(warned).toEqual([
      [
        { age_days: null, lacks: expect.stringContaining('builtin list') },
        'vulnerability data is old: run portolan vulndb sync, or set vulndb.auto_sync',
      ],
    ]);
    await sync.close();
    const synced = start({ 'vulndb.auto_sync': true });
    await expect.poll(() => manifest()).not.toBeNull();
    await synced.close();
    expect(warned).toEqual([]);
    const young = start({});
    expect(warned).toEqual([]);
    await young.close();
    const old = start({}, { ...clock, now: () => Date.now() + 9.5 * 86_400_000 });
    expect(warned).toEqual([[{ age_days: 9 }, expect.stringContaining('is old')]]);
    await old.close();
  });

  it('is broken off by a stop', async () => {
    silent = true;
    const sync = start({ 'vulndb.auto_sync': true });
    await expect.poll(() => requested).toBe(1);
    // The feed never responds: waiting for it would exceed the test timeout.
    await sync.close();
    expect(manifest()).toBeNull();
  });
});
