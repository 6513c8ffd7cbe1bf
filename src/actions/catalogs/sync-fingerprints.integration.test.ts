import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { packTar } from 'modern-tar';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ownPath, respondUnder } from '../../../test/own-path.ts';
import { loadFingerprints, syncedSets } from '../../scan-run/catalogs/load-fingerprints.ts';
import { isSyncDue, syncFingerprints } from './sync-fingerprints.ts';

const rule = (id: string) =>
  JSON.stringify([
    {
      id,
      service: 'gadget',
      source: 'banner.raw',
      pattern: '^GADGET',
      product: 'Gadget',
      vendor: null,
      certainty: 0.6,
      examples: [{ text: 'GADGET 7' }],
    },
  ]);

const recog = `<fingerprints matches="ssh.banner" protocol="ssh">
<fingerprint pattern="^Gadget_(\\d+)$"><example service.version="7">Gadget_7</example>
<param pos="0" name="service.product" value="Gadget"/><param pos="1" name="service.version"/></fingerprint></fingerprints>`;

let dir = '';
let server: Server;
let base = '';
let requests: { url: string; etag: string | undefined }[] = [];
let serve: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => response.end();

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sync-'));
  requests = [];
  const path = ownPath();
  const respond: RequestListener = (request, response) => {
    requests.push({ url: request.url ?? '', etag: request.headers['if-none-match'] });
    serve(request, response);
  };
  server = createServer(respondUnder(path, respond));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await rm(dir, { recursive: true, force: true });
});

const configOf = (url: string | null, ttl = 60_000) => ({
  fingerprint: { rules: [], cache: { url, ttl, auto_sync: true } },
  workspace: { dir, enabled: true } as never,
});
const respond = (body: string | Uint8Array) => (_: IncomingMessage, response: ServerResponse) =>
  response.end(body);
const inForce = async () =>
  (await loadFingerprints(configOf(null))).sets.flatMap(({ signatures }) => signatures.map(({ id }) => id));

test('what is fetched is in force, and is not fetched again before it is old', async () => {
  const config = configOf(`${base}/rules.json?key=secret`);
  expect(await isSyncDue(config)).toBe(true);
  serve = (_, response) => response.setHeader('etag', '"1"').end(rule('own.gadget'));
  const first = await syncFingerprints(config, { force: false });
  expect(first).toMatchObject({
    state: 'updated',
    source: `${base}/rules.json`,
    set: { name: 'synced', signatures: 1 },
  });
  expect(await inForce()).toEqual(['own.gadget']);
  expect((await loadFingerprints(config)).catalogue.version).toMatch(/^\d{4}-\d\d-\d\d\+synced@[0-9a-f]{8}$/);
  expect(await isSyncDue(config)).toBe(false);
  expect(await isSyncDue(config, Date.now() + 61_000)).toBe(true);
  expect(await isSyncDue(config, Date.now() - 61_000)).toBe(true);
  expect(await syncFingerprints(config, { force: false })).toMatchObject({ state: 'fresh' });
  expect(requests).toHaveLength(1);

  serve = (_, response) => response.writeHead(304).end();
  const old = configOf(`${base}/rules.json?key=secret`, 1);
  expect(await syncFingerprints(old, { force: false })).toMatchObject({
    state: 'unchanged',
    set: { signatures: 1 },
  });
  expect(requests[1]?.etag).toBe('"1"');
  serve = respond(rule('own.other'));
  expect(await syncFingerprints(config, { force: true })).toMatchObject({ state: 'updated' });
  expect(requests[2]?.etag).toBeUndefined();
  expect(await inForce()).toEqual(['own.other']);
});

test('an archive gives its databases and nothing else of it', async () => {
  const file = (name: string, body: string) => ({
    header: { name, size: Buffer.byteLength(body), type: 'file' as const },
    body,
  });
  const archive = await packTar([
    file('corpus-1/README.md', 'no rules'),
    file('corpus-1/.ci/build.yaml', 'steps: []'),
    file('corpus-1/tests/broken.xml', '<broken'),
    file('corpus-1/xml/ssh_banners.xml', recog),
    { header: { name: '../../etc/link.xml', size: 0, type: 'symlink', linkname: '/etc/passwd' } },
  ]);
  serve = respond(gzipSync(archive));
  expect(await syncFingerprints(configOf(`${base}/corpus.tar.gz`), { force: false })).toMatchObject({
    state: 'updated',
  });
  expect(await inForce()).toEqual([expect.stringMatching(/^recog\.ssh-banners\./)]);
  expect(await readdir(dir)).toEqual(['cache']);
});

test.each<[string, (request: IncomingMessage, response: ServerResponse) => void, RegExp, string]>([
  [
    'a rule whose example fails',
    respond(rule('own.gadget').replace('GADGET 7', 'WIDGET 7')),
    /rules\.json rule 1: examples "WIDGET 7" does not match/,
    'configuration',
  ],
  ['broken JSON', respond('[{'), /rules\.json: must be JSON/, 'configuration'],
  ['YAML', respond('- id: x'), /must be JSON/, 'configuration'],
  ['JSON nested a million deep', respond('['.repeat(1_000_000)), /must be JSON/, 'configuration'],
  ['broken XML', respond(recog.slice(0, 200)), /rules\.json:\d+/, 'configuration'],
  ['no rules', respond('[]'), /no fingerprint rules/, 'configuration'],
  ['bytes that are no text', respond(Buffer.from([0xff, 0xfe, 0x00])), /not UTF-8/, 'configuration'],
  ['a torn archive', respond(gzipSync(Buffer.alloc(5000)).subarray(0, 20)), /damaged/, 'configuration'],
  ['a bomb', respond(bomb()), /decompressed, is larger than \d+ bytes/, 'configuration'],
  [
    'a claim of 10 GB',
    (_, response) => void response.writeHead(200, { 'content-length': 10_000_000_000 }).write('x'),
    /larger than \d+ bytes/,
    'configuration',
  ],
  ['a body without an end', endless, /larger than \d+ bytes/, 'configuration'],
  ['an error', (_, response) => response.writeHead(500).end(), /server responded 500/, 'network'],
  [
    'a redirect without an end',
    (_, response) => response.writeHead(302, { location: 'more' }).end(),
    /not followed/,
    'network',
  ],
  [
    'a redirect to a file',
    (_, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
    /away from https/,
    'network',
  ],
  ['a closed connection', (request) => request.socket.destroy(), /cannot connect/, 'network'],
])('%s is refused, and what is in force stays', async (_, handler, message, code) => {
  await syncedSets(dir).write({ name: 'synced', origin: 'synced', source: 'before' }, []);
  const before = await syncedSets(dir).read('synced');
  serve = handler;
  const sync = syncFingerprints(configOf(`${base}/rules.json`), { force: false });
  const error = await sync.catch((refused: unknown) => refused);
  expect(String(error)).toMatch(message);
  expect(error).toMatchObject({ code });
  expect(await syncedSets(dir).read('synced')).toEqual(before);
  expect(await readdir(syncedSets(dir).dir)).toEqual(['synced.rules']);
});

function bomb(): Buffer {
  const chunk = Buffer.alloc(1024 * 1024);
  return gzipSync(Buffer.concat(Array.from({ length: 65 }, () => chunk)));
}

function endless(_: IncomingMessage, response: ServerResponse): void {
  const chunk = Buffer.alloc(1024 * 1024, 0x61);
  const more = () => {
    while (!response.destroyed && response.write(chunk));
    response.once('drain', more);
  };
  more();
}

test('a digest behind the address must fit', async () => {
  const text = rule('own.gadget');
  const digest = createHash('sha256').update(text).digest('hex');
  serve = respond(text);
  await expect(
    syncFingerprints(configOf(`${base}/r.json#sha256=${'0'.repeat(64)}`), { force: false }),
  ).rejects.toThrow(/rejected: its SHA-256 is/);
  await expect(syncFingerprints(configOf(`${base}/r.json#md5=1`), { force: false })).rejects.toThrow(
    /must be sha256=/,
  );
  expect(await inForce()).toEqual([]);
  expect(await syncFingerprints(configOf(`${base}/r.json#sha256=${digest}`), { force: false })).toMatchObject(
    { state: 'updated' },
  );
  expect(requests.map(({ url }) => url)).toEqual(['/r.json', '/r.json', '/r.json']);
});

const rules = (...ids: string[]) =>
  JSON.stringify(ids.flatMap((id) => JSON.parse(rule(id)) as Record<string, unknown>[]));
const stepsBack: [string, string, string | undefined, RegExp][] = [
  [
    'fewer rules',
    rules('a.one'),
    'Thu, 08 Oct 2026 00:00:00 GMT',
    /it has 1 rules, fewer than the 2 in force/,
  ],
  ['fewer rules, of a time that is not stated', rules('a.one'), undefined, /fewer than the 2 in force/],
  [
    'an older time',
    rules('a.one', 'a.two', 'a.three'),
    'Tue, 06 Oct 2026 00:00:00 GMT',
    /published 2026-10-06T00:00:00.000Z, older than the rules in force \(2026-10-07T00:00:00.000Z\)/,
  ],
];
test.each(stepsBack)(
  'a feed with %s replaces nothing unless it is forced',
  async (_, body, time, message) => {
    const responseOf =
      (text: string, modified: string | undefined) =>
      (request: IncomingMessage, response: ServerResponse) => {
        if (modified !== undefined) response.setHeader('last-modified', modified);
        respond(text)(request, response);
      };
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-10-20T00:00:00Z') });
    try {
      const config = configOf(`${base}/rules.json`, 1);
      serve = responseOf(rules('a.one', 'a.two'), 'Wed, 07 Oct 2026 00:00:00 GMT');
      await syncFingerprints(config, { force: false });
      const before = await syncedSets(dir).read('synced');
      serve = responseOf(body, time);
      vi.setSystemTime(new Date('2026-10-21T00:00:00Z'));
      await expect(syncFingerprints(config, { force: false })).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringMatching(message),
      });
      await writeFile(join(dir, 'rules.json'), body);
      await utimes(join(dir, 'rules.json'), new Date(time ?? 0), new Date(time ?? 0));
      const file = { file: join(dir, 'rules.json'), force: false };
      await expect(syncFingerprints(config, file)).rejects.toMatchObject({ code: 'conflict' });
      expect(await syncedSets(dir).read('synced')).toEqual(before);
      expect(await syncFingerprints(config, { force: true })).toMatchObject({ state: 'updated' });
      expect(await inForce()).toEqual(JSON.parse(body).map(({ id }: { id: string }) => id));
    } finally {
      vi.useRealTimers();
    }
  },
);

test('a newer feed of as many rules or more is taken, and so is a first one', async () => {
  const config = configOf(`${base}/rules.json`, 1);
  for (const [day, ids] of [
    ['Tue, 06 Oct 2026', ['a.one']],
    ['Tue, 06 Oct 2026', ['a.two']],
    ['Wed, 07 Oct 2026', ['a.two', 'a.three']],
  ] as const) {
    serve = (_, response) => response.setHeader('last-modified', `${day} 00:00:00 GMT`).end(rules(...ids));
    expect(
      await syncFingerprints(configOf(`${base}/${ids.length}-${day}.json`, 1), { force: false }),
    ).toMatchObject({
      state: 'updated',
    });
    expect(await inForce()).toEqual(ids);
  }
  expect(await isSyncDue(config)).toBe(true);
});

test('a file needs no URL and sends no request', async () => {
  await writeFile(join(dir, 'ssh.xml'), recog);
  const report = await syncFingerprints(configOf(`${base}/rules.json`), {
    file: join(dir, 'ssh.xml'),
    force: false,
  });
  expect(report).toMatchObject({ state: 'updated', source: 'ssh.xml' });
  expect(requests).toEqual([]);
  await expect(syncFingerprints(configOf(null), { force: false })).rejects.toMatchObject({ code: 'usage' });
  expect(await isSyncDue(configOf(null))).toBe(false);
});
