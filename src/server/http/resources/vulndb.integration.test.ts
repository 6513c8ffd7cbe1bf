import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { importVulndb } from '../../../actions/catalogs/import-vulndb.ts';
import { builtinCves, builtinEntries } from '../../../knowledge/vulndb/builtin.ts';
import {
  distributionFile,
  distributionMirrors,
} from '../../../knowledge/vulndb/fixtures/distribution-feeds.ts';
import { kevFeed, nvdPage, nvdRecord } from '../../../knowledge/vulndb/fixtures/feeds.ts';
import { openService, type Service } from '../../fixtures/service.ts';

let dir: string;
let service: Service | null = null;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-vulndb-'));
});
afterEach(async () => {
  await service?.close();
  service = null;
  await rm(dir, { recursive: true, force: true });
});

async function start(flags: Record<string, unknown> = {}): Promise<Service> {
  service = await openService({ 'vulndb.dir': join(dir, 'db'), ...flags }, { working: true });
  return service;
}

async function fill(): Promise<string> {
  const paths = [join(dir, 'nvd.json'), join(dir, 'kev.json')];
  writeFileSync(paths[0] ?? '', JSON.stringify(nvdPage([nvdRecord('CVE-2026-1000')])));
  writeFileSync(paths[1] ?? '', JSON.stringify(kevFeed(['CVE-2026-1000'])));
  const { manifest } = await importVulndb({ dir: join(dir, 'db'), paths, replace: false });
  return manifest.generation;
}

const stateOf = async ({ app }: Service) => (await app.inject({ url: '/api/v1/vulndb' })).json();
const checksOf = async ({ app }: Service) => {
  const { checks } = (await app.inject({ url: '/api/v1/health' })).json();
  return checks.filter(({ name }: { name: string }) => name === 'vulndb');
};

describe('GET /vulndb', () => {
  it('reports the builtin catalog, then imported data, with the notice that NVD requires', async () => {
    const running = await start();
    expect((await stateOf(running)).data).toEqual({
      catalogue_version: builtinCves.version,
      cve_count: builtinEntries.length,
      kev_count: expect.any(Number),
      epss_count: 0,
      fix_count: 0,
      lacks: expect.stringContaining('portolan vulndb sync'),
      synced_at: null,
      syncing: false,
      sync_problems: [],
      sources: ['builtin'],
      notices: [],
    });
    const generation = await fill();
    expect((await stateOf(running)).data).toMatchObject({
      catalogue_version: generation,
      cve_count: 1,
      kev_count: 1,
      sources: ['builtin', 'kev', 'nvd'],
      notices: ['This product uses data from the NVD API but is not endorsed or certified by the NVD.'],
    });
  });

  it('says that data is damaged, without a path', async () => {
    await fill();
    writeFileSync(join(dir, 'db', 'current'), 'nonsense');
    const running = await start();
    const response = await running.app.inject({ url: '/api/v1/vulndb' });
    expect([response.statusCode, response.json().error.code]).toEqual([409, 'conflict']);
    expect(response.body).not.toContain(dir);
    expect(await checksOf(running)).toEqual([
      { name: 'vulndb', status: 'degraded', message: expect.stringContaining('damaged') },
    ]);
  });
});

describe('POST /vulndb/sync', () => {
  it('fetches all sources, says while it does, and what failed', async () => {
    const stand = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://127.0.0.1');
      const file = distributionFile(pathname);
      if (file === null) response.writeHead(404).end();
      else response.end(file);
    });
    await new Promise<void>((resolve) => stand.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(stand.address() as AddressInfo).port}`;
    const running = await start({
      'vulndb.nvd_url': `${url}/nvd`,
      'vulndb.kev_url': `${url}/kev`,
      'vulndb.epss_url': `${url}/epss`,
      'vulndb.sources': distributionMirrors(url),
    });
    const response = await running.app.inject({ method: 'POST', url: '/api/v1/vulndb/sync' });
    expect([response.statusCode, response.json().data.syncing]).toEqual([202, true]);
    await expect.poll(async () => (await stateOf(running)).data.syncing, { timeout: 20_000 }).toBe(false);
    const { data } = await stateOf(running);
    expect(data).toMatchObject({
      fix_count: 10,
      sources: ['builtin', 'alpine', 'debian', 'redhat', 'ubuntu'],
    });
    expect(data.sync_problems).toEqual([
      expect.stringMatching(/^kev: .* responded 404$/),
      expect.stringMatching(/^epss: .* responded 404$/),
      expect.stringMatching(/^nvd: .* responded 404$/),
    ]);
    await new Promise((resolve) => stand.close(resolve));
  });
});

describe('the health check of the data', () => {
  it('has nothing to say where nothing was imported, or what was is young', async () => {
    const running = await start();
    expect(await checksOf(running)).toEqual([]);
    await fill();
    expect(await checksOf(running)).toEqual([]);
  });

  it('reports outdated data, and data that was never fetched although auto_sync is on', async () => {
    const running = await start({ 'vulndb.ttl': '1s', 'vulndb.auto_sync': true });
    expect(await checksOf(running)).toMatchObject([{ message: expect.stringContaining('never fetched') }]);
    await fill();
    await new Promise((resolve) => setTimeout(resolve, 1050));
    expect(await checksOf(running)).toEqual([
      { name: 'vulndb', status: 'degraded', message: 'the vulnerability data is 0 h old; vulndb.ttl is 1s' },
    ]);
  });
});
