import { readdirSync, readlinkSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parseQuery } from '../../domain/query/parse-query.ts';
import type { PortRow, ResultRow } from '../../domain/result.ts';
import { openPortRow, rowTime, summaryRow } from '../../workspace/record/fixtures/record-rows.ts';
import { recordIn } from '../../workspace/record/folder-record.ts';
import { openRecord } from '../../workspace/record/record-writer.ts';
import { ScanFolder } from '../../workspace/scan-folder.ts';
import type { IndexedScan, RowsRequest } from './index-requests.ts';
import { IndexService } from './index-service.ts';
import { Turns } from './turns.ts';

/** Enough for a build of many slices: whatever the machine, it is not done when the first timer fires. */
const hosts = 80;
const portsPerHost = 250;

let dir: string;
let folder: ScanFolder;
let scan: IndexedScan;
let service: IndexService;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-early-'));
  folder = new ScanFolder(join(dir, 'scan'));
  await mkdir(folder.path);
  scan = { record: recordIn(folder).place, file: join(dir, 'a.db') };
  service = new IndexService(() => undefined, 0);
});
afterEach(async () => {
  await service.close();
  await rm(dir, { recursive: true, force: true });
});

function* largeRows(): Generator<ResultRow> {
  for (let at = 0; at < hosts; at++) {
    const host = `10.0.0.${at}`;
    yield { type: 'host', timestamp: rowTime, host, state: 'up' };
    for (let port = 1; port <= portsPerHost; port++)
      yield openPortRow(host, port, { banner: `${host} ${port}` });
  }
}

/** @returns the end of the recording */
async function record(): Promise<() => Promise<void>> {
  const writer = await openRecord(folder);
  for (const row of largeRows()) await writer.append(row);
  await writer.seal();
  return async () => {
    await writer.finish({ ...summaryRow, live_hosts: hosts, open_ports: hosts * portsPerHost });
    await writer.close();
  };
}

const ofPorts: RowsRequest = {
  kind: 'rows',
  query: null,
  type: 'port',
  keys: [{ field: 'host', descending: false }],
  offset: 0,
  limit: 20,
  after: null,
};
const ofHosts: RowsRequest = { ...ofPorts, type: 'host', keys: [], limit: 2 };
const list = async (request: RowsRequest, deadlineMs = 60_000) =>
  await service.run<'rows'>(scan, request, new Turns(deadlineMs));
const portsOf = (records: string) => (JSON.parse(records) as PortRow[]).map(({ host, port }) => [host, port]);

it('serves pages in the order of the record while it is built, and the same ones afterwards', async () => {
  await (await record())();
  const [ports, ofSomeHosts] = await Promise.all([list(ofPorts), list(ofHosts)]);
  expect(ports.share).toBeLessThan(1);
  expect(ofSomeHosts.share).toBeLessThan(1);
  expect(ports.total).toBe(hosts * portsPerHost);
  expect(ofSomeHosts.total).toBe(hosts);
  expect(portsOf(ports.records)).toEqual(Array.from({ length: 20 }, (_, number) => ['10.0.0.0', number + 1]));
  const whole = await list({ ...ofPorts, keys: [{ field: 'host', descending: true }] });
  expect(whole.share).toBeNull();
  for (const [early, request] of [
    [ports, ofPorts],
    [ofSomeHosts, ofHosts],
  ] as const) {
    const later = await list(request);
    expect(later).toEqual({ ...early, share: null });
  }
});

it('continues behind an early page when it is built', async () => {
  await (await record())();
  const first = await list(ofPorts);
  expect(first.share).toBeLessThan(1);
  const after = first.last && { epoch: first.epoch, member: first.last };
  const next = await list({ ...ofPorts, keys: [], offset: 20, after });
  expect(portsOf(next.records)[0]).toEqual(['10.0.0.0', 21]);
});

it.each([
  ['a query', { query: parseQuery('port:80') }],
  ['another order', { keys: [{ field: 'port', descending: true }] }],
  ['a page behind what stands', { offset: hosts * portsPerHost - 10 }],
] as const)('says how far it is to %s that needs all of it', async (_name, more) => {
  await (await record())();
  await expect(list({ ...ofPorts, ...more }, 0)).rejects.toMatchObject({
    code: 'timeout',
    message: expect.stringMatching(/being built: \d+ %/),
    details: { index_share: expect.any(Number) },
  });
  expect((await list({ ...ofPorts, ...more })).share).toBeNull();
});

it('serves what stands of the index of a running scan', async () => {
  const finish = await record();
  const early = await list(ofPorts);
  expect(early.share).toBeLessThan(1);
  expect(early.total).toBeLessThan(hosts * portsPerHost);
  expect(portsOf(early.records).length).toBeLessThanOrEqual(20);
  const whole = await list({ ...ofPorts, query: parseQuery('port:1') });
  expect([whole.share, whole.total]).toEqual([null, hosts]);
  await finish();
});

it('takes no memory when it was prepared and nobody asked for it', async () => {
  await (await record())();
  await service.run<'prepare'>(scan, { kind: 'prepare' }, new Turns(60_000));
  const open = readdirSync('/proc/self/fd').map((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`);
    } catch {
      return '';
    }
  });
  expect(open).not.toContain(scan.file);
  const database = new DatabaseSync(scan.file, { readOnly: true });
  const { indexed, size } = database
    .prepare('SELECT indexed, (SELECT max(id) FROM strings) AS size FROM trigram_state')
    .get() as { indexed: number; size: number };
  database.close();
  expect(indexed).toBe(size);
  expect((await list(ofPorts)).share).toBeNull();
});

it('leaves nothing of an index whose thread ends meanwhile', async () => {
  await (await record())();
  const early = await list(ofPorts);
  expect(early.share).toBeLessThan(1);
  await service.close();
  expect(await readdir(dir)).toEqual(['scan']);
});
