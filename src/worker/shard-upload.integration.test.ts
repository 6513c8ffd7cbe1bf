import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PortRow } from '../domain/result.ts';
import type { QueuedShard } from '../queue/shard-queue.ts';
import { openRecord, type RecordWriter } from '../workspace/record/record-writer.ts';
import { ScanFolder } from '../workspace/scan-folder.ts';
import { writeEarlierRows } from './earlier-rows.ts';
import { HomeClient } from './home-client.ts';
import { ShardUpload } from './shard-upload.ts';

const shard = { scanId: '20261006-143022-a1b2c3', shard: 3, attempt: 2, key: 'secret' } as QueuedShard;
const row = (port: number): PortRow => ({
  type: 'port',
  timestamp: '2026-10-06T14:30:23.000Z',
  host: '10.0.0.1',
  port,
  protocol: 'tcp',
  state: 'open',
  reason: '\u2028',
});

/** An owner that stores uploads in order of arrival. */
class Home {
  readonly seen: string[] = [];
  rows: string[] = [];
  checkpoint: string | null = null;
  /** Status and body to respond with instead. */
  refusal: [status: number, body: object] | null = null;
  url = '';
  #server: Server | null = null;

  async listen(port = 0): Promise<void> {
    const server = createServer((request, response) => void this.#answer(request, response));
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.#server = server;
  }

  async close(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise((resolve) => this.#server?.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const path = String(request.url).replace('/internal/shards/20261006-143022-a1b2c3/3', '');
    const proof = `${request.headers.authorization} ${request.headers['x-shard-attempt']}`;
    if (proof !== 'Bearer secret 2') return void response.writeHead(401).end();
    if (this.refusal) return void response.writeHead(this.refusal[0]).end(JSON.stringify(this.refusal[1]));
    this.seen.push(`${request.method} ${path}`);
    if (request.method === 'GET') {
      const text = path === '/rows' ? this.rows.map((line) => `${line}\n`).join('') : this.checkpoint;
      return void response.writeHead(text === null ? 204 : 200).end(text ?? undefined);
    }
    if (path === '/checkpoint') this.checkpoint = body;
    else this.rows = [...this.rows.slice(0, Number(path.split('/').at(-1))), ...body.trim().split('\n')];
    response.writeHead(200).end(JSON.stringify({ rows: this.rows.length }));
  }
}

let dir: string;
let home: Home;
let folder: ScanFolder;
let record: RecordWriter;
let troubles: unknown[];
const client = () => new HomeClient(async () => home.url, shard);
const mirror = (sent = 0) => new ShardUpload(folder, client(), sent, (error) => troubles.push(error));
const ports = () => home.rows.map((line) => (JSON.parse(line) as PortRow).port);
const find = async (...found: number[]) => {
  for (const port of found) await record.append(row(port));
  await record.seal();
};

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-mirror-'));
  folder = new ScanFolder(dir);
  record = await openRecord(folder);
  home = new Home();
  troubles = [];
  await home.listen();
});
afterEach(async () => {
  await record.close();
  await home.close();
  await rm(dir, { recursive: true });
});

describe('the mirror of a shard', () => {
  it('sends rows in their order as they come, and a checkpoint after those it builds on', async () => {
    const running = mirror();
    await find(1, 2);
    await writeFile(join(dir, 'checkpoint.json'), '{"a":1}');
    await expect.poll(() => home.checkpoint).toBe('{"a":1}');
    await find(3);
    expect(await running.finish(new AbortController().signal)).toBe(true);
    expect(ports()).toEqual([1, 2, 3]);
    expect(home.seen.filter((request) => request.includes('checkpoint'))).toHaveLength(1);
    expect(home.seen.indexOf('PUT /checkpoint')).toBeGreaterThan(home.seen.indexOf('PUT /rows/0'));
  });

  it('goes on after 2 s without a home, which may come back elsewhere', async () => {
    const running = mirror();
    await find(1);
    await expect.poll(ports).toEqual([1]);
    await home.close();
    await find(2);
    await new Promise((resolve) => setTimeout(resolve, 2000));
    await find(3);
    await home.listen();
    expect(await running.finish(new AbortController().signal)).toBe(true);
    expect(ports()).toEqual([1, 2, 3]);
    expect(troubles).toHaveLength(1);
  });

  it('sends again what the home has lost', async () => {
    const running = mirror();
    await find(1);
    await expect.poll(ports).toEqual([1]);
    home.rows = [];
    home.refusal = [409, { error: { message: 'Rows are missing.', details: { rows: 0 } } }];
    await find(2);
    await expect.poll(() => troubles.length).toBe(1);
    home.refusal = null;
    expect(await running.finish(new AbortController().signal)).toBe(true);
    expect(ports()).toEqual([1, 2]);
  });

  it.each([
    [409, 'lost'],
    [401, 'lost'],
    [404, 'lost'],
    [400, 'refused'],
  ])('ends at once when the home answers %i', async (status, end) => {
    home.refusal = [status, { error: { message: 'no' } }];
    const running = mirror();
    await find(1);
    await expect.poll(() => running.ended).toBe(end);
    expect(await running.finish(new AbortController().signal)).toBe(false);
  });

  it('gives up when it is told to', async () => {
    home.refusal = [503, {}];
    const running = mirror();
    await find(1);
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 500);
    expect(await running.finish(stop.signal)).toBe(false);
    expect(running.ended).toBeNull();
  });

  it('of the next attempt begins with what the home has', async () => {
    await find(1, 2);
    await mirror().finish(new AbortController().signal);
    home.checkpoint = '{"nodes":{}}';
    await record.close();
    await rm(dir, { recursive: true });
    folder = new ScanFolder(await mkdtemp(dir));
    dir = folder.path;
    const rows = await writeEarlierRows(folder, client());
    record = await openRecord(folder);
    expect([rows, record.rows]).toEqual([2, 2]);
    home.seen.length = 0;
    const running = mirror(rows);
    await find(3);
    expect(await running.finish(new AbortController().signal)).toBe(true);
    expect(ports()).toEqual([1, 2, 3]);
    expect(home.seen.filter((request) => request.startsWith('PUT /rows'))).toEqual(['PUT /rows/2']);
  });
});
