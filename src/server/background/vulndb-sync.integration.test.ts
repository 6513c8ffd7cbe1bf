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

function start(flags: Record<string, unknown>) {
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
  const log = { info: quiet, warn: quiet, debug: quiet } as unknown as ServerLog;
  const sync = new VulndbSync(config, log, pace);
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

  it('is broken off by a stop', async () => {
    silent = true;
    const sync = start({ 'vulndb.auto_sync': true });
    await expect.poll(() => requested).toBe(1);
    // The feed never responds: waiting for it would exceed the test timeout.
    await sync.close();
    expect(manifest()).toBeNull();
  });
});
