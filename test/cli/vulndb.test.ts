import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  distributionFile,
  distributionMirrors,
} from '../../src/knowledge/vulndb/fixtures/distribution-feeds.ts';
import { epssFeed, kevFeed, nvdPage, nvdRecord } from '../../src/knowledge/vulndb/fixtures/feeds.ts';
import { ownPath, respondUnder } from '../own-path.ts';
import { Home } from './command.ts';

const home = new Home();
let server: Server;
/** Whether NVD answers. */
let throttled = false;
/** Questions that were asked, with their key. */
const asked: string[] = [];

beforeAll(async () => {
  const path = ownPath();
  const answer: RequestListener = ({ url = '', headers }, response) => {
    asked.push(`${url.split('?')[0]} ${headers['apikey'] ?? '-'}`);
    const file = distributionFile(url.split('?')[0] ?? '');
    if (file !== null) response.end(file);
    else if (url.startsWith('/alpine')) response.writeHead(404).end();
    else if (url.startsWith('/nvd')) {
      if (throttled) response.writeHead(404, { message: 'Invalid apiKey.' }).end();
      else response.end(JSON.stringify(nvdPage([nvdRecord('CVE-2026-1000')])));
    } else if (url === '/kev') response.end(JSON.stringify(kevFeed(['CVE-2026-1000'])));
    else response.end(gzipSync(epssFeed([['CVE-2026-1000', 0.5, 0.9]])));
  };
  server = createServer(respondUnder(path, answer));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  const vulndb = {
    nvd_url: `${url}/nvd`,
    kev_url: `${url}/kev`,
    epss_url: `${url}/epss`,
    nvd_api_key: 'k-e-y',
    sources: distributionMirrors(url),
  };
  writeFileSync(
    home.file('portolan.yaml'),
    JSON.stringify({ vulndb, logging: { audit: { enabled: true } } }),
    {
      mode: 0o600,
    },
  );
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  home.remove();
});

const vulndb = (args: string[], workspace = 'ws') =>
  home.run([
    'vulndb',
    ...args,
    '--config',
    home.file('portolan.yaml'),
    '--workspace-dir',
    home.file(workspace),
  ]);

/** The program is started many times. */
describe('portolan vulndb', () => {
  it('stats: says that nothing was imported', async () => {
    const { code, stdout, stderr } = await vulndb(['stats']);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/catalog +builtin-.*\nCVEs +\d+/)]);
    expect(stderr).toContain('portolan vulndb sync');
    expect(asked).toEqual([]);
  });

  it('import: reads files, tells what is refused, and shows the notice of NVD with the data', async () => {
    const page = nvdPage([nvdRecord('CVE-2026-1000'), nvdRecord('CVE-2026-1001', { modified: 'never' })]);
    writeFileSync(home.file('nvd.json.gz'), gzipSync(JSON.stringify(page)));
    const { code, stdout, stderr } = await vulndb(['import', home.file('nvd.json.gz')]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/1 record \(nvd\)\n.*: 1 CVEs/)]);
    expect(stderr).toMatch(/1 record rejected\n {2}CVE-2026-1001: lastModified must be a date/);
    const stats = await vulndb(['stats']);
    expect(stats.stdout).toMatch(/CVEs +1\n/);
    expect(stats.stderr).toContain('uses data from the NVD API but is not endorsed or certified by the NVD');
    const json = JSON.parse((await vulndb(['stats', '--format', 'json'])).stdout);
    expect(json).toMatchObject({ cve_count: 1, sources: ['builtin', 'nvd'], counts: { products: 1 } });
    expect(asked).toEqual([]);
  });

  it('import: a broken file ends it, names the place and keeps the old data', async () => {
    writeFileSync(home.file('torn.json'), '{"vulnerabilities":[\n{"cve":{"id":');
    const { code, stdout, stderr } = await vulndb([
      'import',
      home.file('nvd.json.gz'),
      home.file('torn.json'),
    ]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('torn.json is truncated in line 2; nothing was imported');
    expect(JSON.parse((await vulndb(['stats', '--format', 'json'])).stdout).cve_count).toBe(1);
    expect((await vulndb(['import'])).code).toBe(2);
  });

  it('sync: fetches all sources, with the key for NVD only', async () => {
    const { code, stdout, stderr } = await vulndb(['sync']);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(
        /^kev: updated, 1 record\nepss: updated.*\nalpine: updated, 2 records\ndebian: updated, 2 records\nubuntu: updated, 3 records\nredhat: updated, 2 records\nnvd: updated/,
      ),
    ]);
    expect(stderr).toContain('NVD: 1 of 1 records');
    const others = asked.filter((line) => !/^\/(?:alpine|debian|ubuntu|redhat)\S* -$/.test(line));
    expect(others.toSorted()).toEqual(['/epss -', '/kev -', '/nvd k-e-y']);
    expect(`${stdout}${stderr}`).not.toContain('k-e-y');
    const json = JSON.parse((await vulndb(['stats', '--format', 'json'])).stdout);
    expect(json).toMatchObject({ cve_count: 1, kev_count: 1, epss_count: 1, last_sync: expect.any(String) });
    expect(json).toMatchObject({ lacks: null, fix_count: 10 });
    const quiet = await vulndb(['sync', '--source', 'kev', '--quiet', '--format', 'json']);
    expect([quiet.code, quiet.stderr]).toEqual([0, '']);
    expect(JSON.parse(quiet.stdout).synced).toHaveLength(1);
  });

  it('export and import: one file carries all data to another workspace', async () => {
    const bundle = home.file('bundle.tar');
    const exported = await vulndb(['export', bundle]);
    expect([exported.code, exported.stdout]).toEqual([0, expect.stringContaining('10 distribution fixes')]);
    const imported = await vulndb(['import', bundle], 'offline');
    expect([imported.code, imported.stdout]).toEqual([0, exported.stdout]);
    const json = JSON.parse((await vulndb(['stats', '--format', 'json'], 'offline')).stdout);
    expect(json).toMatchObject({ cve_count: 1, fix_count: 10, lacks: null });
    const none = await vulndb(['export', bundle], 'empty');
    expect([none.code, none.stderr]).toEqual([
      expect.any(Number),
      expect.stringContaining('run portolan vulndb sync'),
    ]);
    expect(none.code).not.toBe(0);
  });

  it('sync: a source that fails is exit code 4, and the others stay', async () => {
    throttled = true;
    const { code, stderr, stdout } = await vulndb(['sync', '--since', '2026-11-01']);
    throttled = false;
    expect([code, stdout]).toEqual([4, expect.stringContaining('nvd: failed')]);
    expect(stderr).toMatch(/nvd: .*404 \(Invalid apiKey\.\); keeping its old data/);
  });

  it('import and sync: refuse to keep data where nothing is kept', async () => {
    const file = home.file('nvd.json.gz');
    for (const command of [['import', file], ['sync']]) {
      const { code, stderr } = await vulndb([...command, '--no-workspace'], 'none');
      expect([code, stderr]).toEqual([2, expect.stringContaining('set vulndb.dir')]);
    }
  });

  it('sync: refuses sources and times that are none', async () => {
    expect((await vulndb(['sync', '--source', 'nvd,osv'])).stderr).toContain('unknown source "osv"');
    for (const time of ['yesterday', '2999-01-01', '2026-13-01']) {
      expect((await vulndb(['sync', '--since', time])).code).toBe(2);
    }
  });

  it('records what was changed in the audit log', async () => {
    const { stdout } = await home.run([
      'audit',
      'verify',
      '--config',
      home.file('portolan.yaml'),
      '--workspace-dir',
      home.file('ws'),
    ]);
    expect(stdout).toMatch(/intact: \d+ records/);
    const day = new Date().toISOString().slice(0, 10);
    const log = readFileSync(home.file(`ws/audit/${day}.jsonl`), 'utf8');
    expect(log).toMatch(/"operation":"vulndb.import"/);
    expect(log).toMatch(/"operation":"vulndb.sync"/);
    expect(log).not.toContain('k-e-y');
  });

  it('two at once: one of them says that the other is under way', async () => {
    const both = await Promise.all([1, 2].map(() => vulndb(['import', home.file('nvd.json.gz')], 'ws2')));
    const failed = both.filter(({ code }) => code !== 0);
    // They may also have come one after the other.
    expect(failed.length).toBeLessThanOrEqual(1);
    for (const { code, stderr } of failed)
      expect([code, stderr]).toEqual([1, expect.stringContaining('in progress')]);
  });
});
