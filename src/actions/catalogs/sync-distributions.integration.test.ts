import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ownPath, respondUnder } from '../../../test/own-path.ts';
import { distributionFile } from '../../knowledge/vulndb/fixtures/distribution-feeds.ts';
import { nvdPage, nvdRecord } from '../../knowledge/vulndb/fixtures/feeds.ts';
import { openVulndb } from '../../knowledge/vulndb/generation/generation.ts';
import { syncVulndb, type VulndbSyncRequest } from './sync-vulndb.ts';
import type { SyncSource } from './vulndb-sources.ts';

/** A file of NVD for a year, and its checksum file. */
const yearly = (id: string) => JSON.stringify(nvdPage([nvdRecord(id)]));
const metaOf = (text: string) =>
  `lastModifiedDate:2026-11-29T00:00:01-05:00\r\nsize:${text.length}\r\nzipSize:1\r\ngzSize:1\r\nsha256:${createHash('sha256').update(text).digest('hex').toUpperCase()}\r\n`;

let home: string;
let dir: string;
let server: Server;
let url: string;
const path = ownPath();
const asked: { path: string; headers: IncomingMessage['headers'] }[] = [];
/** Answers that take precedence, by path. */
const special = new Map<string, (response: ServerResponse, request: IncomingMessage) => void>();

function respond(request: IncomingMessage, response: ServerResponse): void {
  const { pathname } = new URL(request.url ?? '/', 'http://127.0.0.1');
  asked.push({ path: pathname, headers: request.headers });
  const own = special.get(pathname);
  if (own) return own(response, request);
  const [, year, kind] = /^\/files\/nvdcve-2\.0-(\d{4})\.(meta|json\.gz)$/.exec(pathname) ?? [];
  if (year) {
    const text = yearly(`CVE-${year}-1000`);
    return void response.end(kind === 'meta' ? metaOf(text) : gzipSync(text));
  }
  if (pathname === '/nvd') return void response.end(JSON.stringify(nvdPage([])));
  const file = distributionFile(pathname);
  if (file === null) return void response.writeHead(404).end();
  const etag = `"${createHash('sha256').update(file).digest('hex').slice(0, 8)}"`;
  if (request.headers['if-none-match'] === etag) response.writeHead(304).end();
  else response.writeHead(200, { etag }).end(file);
}

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'portolan-distributions-'));
  dir = join(home, 'vulndb');
  asked.length = 0;
  special.clear();
  server = createServer(respondUnder(path, respond));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(home, { recursive: true, force: true });
});

const distributions: readonly SyncSource[] = ['debian', 'ubuntu', 'redhat', 'alpine'];

async function run(more: Partial<VulndbSyncRequest> = {}) {
  const urls = Object.fromEntries([...distributions, 'nvd'].map((name) => [name, `${url}/${name}`]));
  const { synced } = await syncVulndb({
    dir,
    urls,
    nvdApiKey: null,
    sources: distributions,
    since: null,
    force: false,
    signal: new AbortController().signal,
    ...more,
    pace: { pauseMs: 1, retryMs: 5, tries: 2, idleMs: 400, totalMs: 5000, longestWaitMs: 2000, ...more.pace },
  });
  return synced;
}

const statuses = async (more: Partial<VulndbSyncRequest> = {}) =>
  (await run(more)).map(({ source, status }) => `${source} ${status}`);

async function fixes(distribution: string, release: string, cve: string) {
  const db = await openVulndb(dir);
  try {
    return db?.fixes(distribution, release, cve).map(({ package: name, fixed }) => `${name} ${fixed}`);
  } finally {
    db?.close();
  }
}

describe('a sync of the files of distributions', () => {
  it('reads all of them in one go, and requests only what changed the next time', async () => {
    expect(await statuses()).toEqual([
      'alpine updated',
      'debian updated',
      'ubuntu updated',
      'redhat updated',
    ]);
    expect(await fixes('debian', '12', 'CVE-2024-6387')).toEqual(['openssh 1:9.2p1-2+deb12u3']);
    expect(await fixes('debian', '11', 'CVE-2024-6387')).toEqual(['openssh 0']);
    expect(await fixes('ubuntu', '22.04', 'CVE-2024-6387')).toEqual(['openssh 1:8.9p1-3ubuntu0.10']);
    expect(await fixes('rhel', '9', 'CVE-2024-6387')).toEqual(['openssh 8.7p1-38.el9_4.1']);
    expect(await fixes('alpine', '3.20', 'CVE-2024-6387')).toEqual(['openssh 9.7p1-r4']);
    expect(await statuses()).toEqual([
      'alpine unchanged',
      'debian unchanged',
      'ubuntu unchanged',
      'redhat updated',
    ]);
    expect(await fixes('alpine', '3.20', 'CVE-2024-6387')).toEqual(['openssh 9.7p1-r4']);
    expect(readdirSync(dir)).not.toContain('downloads');
  });

  it('leaves the others and the old data in place where one fails, and says so', async () => {
    await run();
    special.set('/debian', (response) => void response.end('{"openssh": {"CVE-2024-6387": {"rel'));
    special.set('/ubuntu', (response) => void response.writeHead(503).end());
    const synced = await run();
    expect(synced.map(({ source, status }) => `${source} ${status}`)).toEqual([
      'alpine unchanged',
      'debian failed',
      'ubuntu failed',
      'redhat updated',
    ]);
    expect(synced[1]?.error).toMatch(/^debian: the response of 127\.0\.0\.1:\d+ is truncated$/);
    expect(synced[2]?.error).toMatch(/^ubuntu: 127\.0\.0\.1:\d+: the server responded 503$/);
    expect(await fixes('debian', '12', 'CVE-2024-6387')).toEqual(['openssh 1:9.2p1-2+deb12u3']);
  });

  it('goes on with a file that was cut off, if the server still has the same one', async () => {
    const file = distributionFile('/debian') ?? '';
    let cut = true;
    special.set('/debian', (response, { headers }) => {
      if (cut) {
        cut = false;
        response.writeHead(200, { etag: '"same"', 'content-length': file.length });
        response.write(file.slice(0, 1000));
        const arrived = () => expect(statSync(join(dir, 'downloads/debian')).size).toBe(1000);
        void vi.waitFor(arrived).then(() => response.destroy());
      } else if (headers['if-range'] === '"same"') {
        const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1]);
        const range = `bytes ${from}-${file.length - 1}/${file.length}`;
        response.writeHead(206, { etag: '"same"', 'content-range': range }).end(file.slice(from));
      } else response.writeHead(400).end();
    });
    expect(await statuses({ sources: ['debian'] })).toEqual(['debian updated']);
    expect(asked.map(({ headers }) => headers.range)).toEqual([undefined, 'bytes=1000-']);
    expect(await fixes('debian', '12', 'CVE-2024-6387')).toEqual(['openssh 1:9.2p1-2+deb12u3']);
  });

  it('uses what a sync that was stopped has downloaded', async () => {
    const stop = new AbortController();
    special.set('/ubuntu', () => stop.abort());
    await expect(run({ signal: stop.signal })).rejects.toThrow('nothing was changed');
    special.clear();
    asked.length = 0;
    expect(await statuses()).toContain('debian updated');
    expect(asked.filter(({ path: name }) => name === '/debian')).toEqual([]);
  });

  it('keeps to the deadline of a response that never ends', async () => {
    special.set('/debian', (response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(drip));
    });
    const [debian] = await run({ sources: ['debian'], pace: { totalMs: 300, tries: 1 } });
    expect(debian?.error).toContain('the download took longer than 0.3 s');
  });
});

describe('the first sync of NVD', () => {
  const first = () => run({ sources: ['nvd'], urls: { nvd: `${url}/nvd`, 'nvd-files': `${url}/files` } });

  it('reads the yearly files with their checksums, then the changes since', async () => {
    const [nvd] = await first();
    const years = new Date().getUTCFullYear() - 2002 + 1;
    expect(nvd).toMatchObject({ status: 'updated', accepted: years });
    expect(asked.filter(({ path: name }) => name === '/nvd')).toHaveLength(1);
    asked.length = 0;
    await first();
    expect(asked.map(({ path: name }) => name)).toEqual(['/nvd']);
  });

  it('fails where a file differs from its checksum', async () => {
    special.set('/files/nvdcve-2.0-2003.meta', (response) => void response.end(metaOf('another file')));
    const [nvd] = await first();
    expect(nvd?.error).toContain('has another checksum than its .meta file names');
  });
});
