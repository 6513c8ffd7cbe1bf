import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ownPath, respondUnder } from '../../../test/own-path.ts';
import { epssFeed, kevFeed, nvdPage, nvdRecord } from '../../knowledge/vulndb/fixtures/feeds.ts';
import { openVulndb } from '../../knowledge/vulndb/generation/generation.ts';
import { readCurrentManifest } from '../../knowledge/vulndb/generation/generation-pointer.ts';
import { importVulndb } from './import-vulndb.ts';
import { syncVulndb, type VulndbSyncRequest } from './sync-vulndb.ts';

/** A server that plays NVD, CISA and FIRST. */
class Sources {
  readonly requested: { path: string; query: URLSearchParams; headers: IncomingMessage['headers'] }[] = [];
  /** Responses that take precedence over the usual ones, by path. */
  readonly next = new Map<string, ((response: ServerResponse) => void)[]>();
  nvd: object[] = [nvdRecord('CVE-2026-1000'), nvdRecord('CVE-2026-1001'), nvdRecord('CVE-2026-1002')];
  /** Records of one page. */
  pageSize = 2;
  readonly #path = ownPath();
  readonly #server: Server;

  constructor() {
    const respond = respondUnder(this.#path, (request, response) => this.#response(request, response));
    this.#server = createServer(respond);
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${this.#path}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  once(path: string, ...responses: ((response: ServerResponse) => void)[]): void {
    this.next.set(path, responses);
  }

  requests(path: string): URLSearchParams[] {
    return this.requested.filter((one) => one.path === path).map(({ query }) => query);
  }

  #response(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
    this.requested.push({ path: pathname, query: searchParams, headers: request.headers });
    const special = this.next.get(pathname)?.shift();
    if (special) special(response);
    else if (pathname === '/nvd') this.#page(searchParams, response);
    else if (request.headers['if-none-match'] === '"1"') response.writeHead(304).end();
    else if (pathname === '/kev')
      response.writeHead(200, { etag: '"1"' }).end(JSON.stringify(kevFeed(['CVE-2026-1000'])));
    else response.writeHead(200, { etag: '"1"' }).end(gzipSync(epssFeed([['CVE-2026-1000', 0.5, 0.9]])));
  }

  #page(query: URLSearchParams, response: ServerResponse): void {
    const start = Number(query.get('startIndex'));
    const page = nvdPage(this.nvd.slice(start, start + this.pageSize), this.nvd.length, start);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(page));
  }
}

let home: string;
let dir: string;
let sources: Sources;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'portolan-sync-'));
  dir = join(home, 'vulndb');
  sources = new Sources();
  await sources.open();
});
afterEach(async () => {
  await sources.close();
  rmSync(home, { recursive: true, force: true });
});

const reported: string[] = [];

function run(more: Partial<VulndbSyncRequest> = {}) {
  reported.length = 0;
  const { url } = sources;
  return syncVulndb({
    dir,
    urls: { nvd: `${url}/nvd`, kev: `${url}/kev`, epss: `${url}/epss` },
    nvdApiKey: null,
    sources: ['nvd', 'kev', 'epss'],
    since: null,
    force: false,
    signal: new AbortController().signal,
    onProgress: (text) => reported.push(text),
    ...more,
    pace: { pauseMs: 1, retryMs: 5, tries: 3, idleMs: 400, totalMs: 5000, longestWaitMs: 2000, ...more.pace },
  });
}

const outcomes = async (more: Partial<VulndbSyncRequest> = {}) =>
  (await run(more)).synced.map(({ source, status }) => `${source} ${status}`);

const status =
  (code: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse) => {
    response.writeHead(code, headers).end();
  };

describe('syncVulndb', () => {
  it('takes all pages of NVD, the list of CISA and the scores of FIRST', async () => {
    const begun = Date.now();
    const { manifest, synced } = await run();
    expect(synced.map(({ source, status, accepted }) => [source, status, accepted])).toEqual([
      ['kev', 'updated', 1],
      ['epss', 'updated', 1],
      ['nvd', 'updated', 3],
    ]);
    expect(manifest?.counts).toMatchObject({ cves: 3, kev: 1, epss: 1 });
    const starts = sources
      .requests('/nvd')
      .map((query) => [query.get('startIndex'), query.get('lastModStartDate')]);
    expect(starts).toEqual([
      ['0', null],
      ['2', null],
    ]);
    const mark = Date.parse(manifest?.sources['nvd']?.mark ?? '');
    expect([mark >= begun, mark <= Date.now()]).toEqual([true, true]);
  });

  it('requests only changes the next time, and reports if there are none', async () => {
    await run();
    sources.requested.length = 0;
    sources.nvd = [];
    const before = readCurrentManifest(dir);
    const { manifest, synced } = await run();
    expect(synced.map(({ status }) => status)).toEqual(['unchanged', 'unchanged', 'unchanged']);
    expect(manifest?.counts).toEqual(before?.counts);
    expect(manifest?.generation).not.toBe(before?.generation);
    const [query] = sources.requests('/nvd');
    const from = Date.parse(query?.get('lastModStartDate') ?? '');
    // Five minutes over, for clocks that differ.
    expect(Date.parse(before?.sources['nvd']?.mark ?? '') - from).toBe(300_000);
    expect(sources.requested.filter(({ headers }) => headers['if-none-match'] === '"1"')).toHaveLength(2);
    await run({ force: true });
    expect(sources.requested.slice(3).some(({ headers }) => headers['if-none-match'])).toBe(false);
    expect(sources.requests('/nvd').at(-1)?.get('lastModStartDate')).toBeNull();
  });

  it('requests long periods in windows of 120 days', async () => {
    const since = new Date(Date.now() - 300 * 86_400_000).toISOString();
    sources.pageSize = 10;
    await run({ since, sources: ['nvd'] });
    const requested = sources
      .requests('/nvd')
      .map((query) => ['lastModStartDate', 'lastModEndDate'].map((name) => query.get(name)));
    expect(requested).toHaveLength(3);
    expect(requested[0]?.[0]).toBe(since);
    expect(requested[1]?.[0]).toBe(requested[0]?.[1]);
    for (const [from, to] of requested) {
      expect(Date.parse(to ?? '') - Date.parse(from ?? '')).toBeLessThanOrEqual(120 * 86_400_000);
    }
  });

  it('leaves the mark where a later start would leave a gap', async () => {
    const { manifest } = await run({ sources: ['nvd'] });
    await new Promise((resolve) => setTimeout(resolve, 5));
    const later = await run({ sources: ['nvd'], since: new Date().toISOString() });
    expect(later.manifest?.sources['nvd']?.mark).toBe(manifest?.sources['nvd']?.mark);
  });

  it('waits for Retry-After when throttled, and retries', async () => {
    sources.once('/nvd', status(429, { 'retry-after': '2' }), status(403), status(503));
    const { synced } = await run({ sources: ['nvd'], pace: { tries: 5 } });
    expect(synced[0]).toMatchObject({ status: 'updated', accepted: 3 });
    expect(reported.filter((text) => text.endsWith('retrying in 2 s'))).toHaveLength(1);
    expect(sources.requested).toHaveLength(5);
  });

  it('does not wait longer than its limit', async () => {
    sources.once('/nvd', status(429, { 'retry-after': '86400' }));
    const { synced, manifest } = await run({ sources: ['nvd'] });
    expect(manifest).toBeNull();
    expect(synced[0]).toMatchObject({ status: 'failed', error: /429/ });
    expect(sources.requested).toHaveLength(1);
  });

  it.each([
    [
      'JSON that is cut off',
      (response: ServerResponse) => response.end('{"vulnerabilities":[{"cve":{"id":'),
      /is truncated/,
    ],
    [
      'a page of HTML',
      (response: ServerResponse) => response.end('<html>Please wait</html>'),
      /neither JSON nor/,
    ],
    [
      'another page',
      (response: ServerResponse) => response.end(JSON.stringify(nvdPage([nvdRecord('CVE-2026-1000')], 9, 4))),
      /starts with record 4/,
    ],
    [
      'fewer records than it says',
      (response: ServerResponse) =>
        response.end(JSON.stringify({ ...nvdPage([nvdRecord('CVE-2026-1000')], 9, 2), resultsPerPage: 2 })),
      /but states 2/,
    ],
    [
      'no record before the end',
      (response: ServerResponse) => response.end(JSON.stringify(nvdPage([], 9, 2))),
      /is empty before the last page/,
    ],
    [
      'a lost connection',
      (response: ServerResponse) =>
        response.writeHead(200, { 'content-length': '99' }).write('{') && response.destroy(),
      /cannot connect/,
    ],
    ['silence', () => undefined, /no data for 0\.4 s/],
    ['an error without end', status(500), /500/],
    ['a key that is wrong', status(404, { message: 'Invalid apiKey.' }), /404 \(Invalid apiKey\.\)/],
    [
      'a redirect, which would take the key along',
      status(302, { location: 'http://127.0.0.1:1/' }),
      /redirects to another URL/,
    ],
  ])(
    'keeps the old data of NVD, and the new data of the others, after %s',
    async (_, respond, reason) => {
      await run();
      sources.nvd = [nvdRecord('CVE-2026-5000', { modified: '2026-06-01T00:00:00.000' }), ...sources.nvd];
      const mark = readCurrentManifest(dir)?.sources['nvd']?.mark;
      // The first page comes well; what it brought must not stay.
      const page = (response: ServerResponse) =>
        response.end(JSON.stringify(nvdPage(sources.nvd.slice(0, 2), 4)));
      sources.once('/nvd', page, respond, respond, respond);
      sources.once('/kev', (response) =>
        response.end(JSON.stringify(kevFeed(['CVE-2026-1000', 'CVE-2026-1001']))),
      );
      const { synced, manifest } = await run();
      expect(synced.map(({ source, status }) => `${source} ${status}`)).toEqual([
        'kev updated',
        'epss unchanged',
        'nvd failed',
      ]);
      expect(synced[2]?.error).toMatch(reason);
      expect(synced[2]?.error).toMatch(/^nvd: /);
      expect(manifest?.counts).toMatchObject({ cves: 3, kev: 2 });
      expect(manifest?.sources['nvd']?.mark).toBe(mark);
      sources.next.clear();
      expect(await outcomes()).toEqual(['kev updated', 'epss unchanged', 'nvd updated']);
      expect(readCurrentManifest(dir)?.counts.cves).toBe(4);
    },
    15_000,
  );

  it('stops at a body without end', async () => {
    let sent = 0;
    sources.once('/kev', (response) => {
      const more = () => {
        for (; sent < 4e9; sent += 65_536)
          if (!response.write(`{"vulnerabilities":[],"pad":"${'x'.repeat(65_507)}"}\n`)) break;
      };
      response.on('drain', more);
      more();
    });
    const { synced } = await run({ sources: ['kev'], pace: { tries: 1, totalMs: 60_000 } });
    expect(synced[0]).toMatchObject({ status: 'failed', error: /is larger than 64MiB/ });
    expect(sent).toBeLessThan(1e9);
  });

  it('follows redirects of the files, but not away from https or without end', async () => {
    sources.once('/kev', status(302, { location: 'kev-of-today' }));
    sources.once('/kev-of-today', (response) => response.end(JSON.stringify(kevFeed(['CVE-2026-1000']))));
    expect(await outcomes({ sources: ['kev'] })).toEqual(['kev updated']);
    sources.once('/epss', ...Array.from({ length: 9 }, () => status(302, { location: 'epss' })));
    sources.once('/kev', status(302, { location: 'file:///etc/passwd' }));
    const { synced } = await run({ force: true, sources: ['kev', 'epss'] });
    expect(synced.map(({ error }) => error)).toEqual([
      expect.stringContaining('away from https'),
      expect.stringContaining('redirects to another URL'),
    ]);
  });

  it('gives its key to NVD only, and credentials of a URL in a header and in no message', async () => {
    const kev = sources.url.replace('http://', 'http://user:secret@');
    const { synced } = await run({
      nvdApiKey: 'k-e-y',
      urls: { nvd: `${sources.url}/nvd`, kev: `${kev}/none-such?token=secret`, epss: `${sources.url}/epss` },
    });
    const keys = sources.requested.map(({ path, headers }) => [path, headers['apikey']]);
    expect(keys.filter(([, key]) => key !== undefined).every(([path]) => path === '/nvd')).toBe(true);
    expect(keys.some(([, key]) => key === 'k-e-y')).toBe(true);
    expect(sources.requested[0]?.headers.authorization).toBe(`Basic ${btoa('user:secret')}`);
    expect(JSON.stringify([synced, reported])).not.toContain('secret');
  });

  it('takes no feed of another kind', async () => {
    sources.once(
      '/kev',
      ...Array.from(
        { length: 3 },
        () => (response: ServerResponse) => response.end(epssFeed([['CVE-2026-1000', 0.1, 0.2]])),
      ),
    );
    const { synced } = await run({ sources: ['kev'] });
    expect(synced[0]?.error).toMatch(/of another format \(epss\)/);
    expect(await openVulndb(dir)).toBeNull();
  });

  it('can be broken off', async () => {
    sources.once('/kev', () => undefined);
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 50);
    const { synced, manifest } = await run({ sources: ['kev'], signal: stop.signal });
    expect([synced[0]?.error, manifest]).toEqual([expect.stringContaining('canceled'), null]);
  });

  it('goes on with what was imported, and with --force over what is damaged', async () => {
    const path = join(home, 'nvd.json');
    writeFileSync(path, JSON.stringify(nvdPage([nvdRecord('CVE-2025-1000')])));
    await importVulndb({ dir, paths: [path], replace: false });
    expect((await run()).manifest?.counts.cves).toBe(4);
    writeFileSync(join(dir, 'current'), 'nonsense');
    await expect(run()).rejects.toThrow(/damaged/);
    expect((await run({ force: true })).manifest?.counts.cves).toBe(3);
  });
});
