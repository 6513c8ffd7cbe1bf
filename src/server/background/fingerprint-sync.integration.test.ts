import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { ownPath } from '../../../test/own-path.ts';
import { loadConfig } from '../../config/load.ts';
import type { ServerLog } from '../logging/log.ts';
import { FingerprintSync } from './fingerprint-sync.ts';

let dir = '';
/** The feed of the test. */
let feed = { path: '', requests: 0, body: '' };
const server = createServer((request, response) => {
  // Ignores a late request of the previous test.
  if (request.url !== feed.path) return void response.writeHead(404).end();
  feed.requests++;
  response.end(feed.body);
});
beforeEach(() => {
  feed = { path: `${ownPath()}/rules.json`, requests: 0, body: '' };
});
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'auto-sync-'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  server.close();
  await rm(dir, { recursive: true, force: true });
});

function open(flags: Record<string, unknown>, from: 'feed' | 'nowhere' = 'feed') {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${feed.path}`;
  const { config } = loadConfig({
    env: { HOME: dir },
    systemFile: join(dir, 'none.yaml'),
    flags: {
      'workspace.dir': join(dir, 'ws'),
      ...(from === 'feed' && { 'fingerprint.cache.url': url }),
      ...flags,
    },
  });
  const log = { info: vi.fn(), warn: vi.fn() };
  const sync = new FingerprintSync(config, log as unknown as ServerLog, { firstMs: 1, betweenMs: 20 });
  sync.start();
  return { config, log, sync };
}

test('sends no request while auto_sync is off, until a reload turns it on', async () => {
  const examples = [{ text: 'GADGET' }];
  const gadget = {
    id: 'own.gadget',
    service: 'gadget',
    source: 'banner.raw',
    pattern: '^GADGET',
    product: 'Gadget',
  };
  feed.body = JSON.stringify([{ ...gadget, vendor: null, certainty: 0.6, examples }]);
  const { config, log, sync } = open({ 'fingerprint.cache.auto_sync': false });
  await sleep(200);
  expect([feed.requests, log.info.mock.calls]).toEqual([0, []]);
  config.fingerprint.cache.auto_sync = true;
  await expect.poll(() => log.info.mock.calls.length).toBe(1);
  await sleep(100);
  await sync.close();
  expect([feed.requests, log.warn.mock.calls]).toEqual([1, []]);
});

test('reports an invalid feed and retries at the next interval', async () => {
  feed.body = '[';
  const { log, sync } = open({ 'fingerprint.cache.auto_sync': true, 'workspace.dir': join(dir, 'other') });
  await expect.poll(() => feed.requests).toBeGreaterThan(1);
  await sync.close();
  expect(log.warn.mock.calls[0]?.[0]).toMatchObject({ problem: expect.stringContaining('rules.json') });
});

test('without an address it does nothing', async () => {
  const { log, sync } = open({ 'fingerprint.cache.auto_sync': true }, 'nowhere');
  await sleep(100);
  await sync.close();
  expect([feed.requests, log.warn.mock.calls]).toEqual([0, []]);
});
