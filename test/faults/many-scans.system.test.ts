import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { storedScanId, storeScan } from '../../src/actions/fixtures/stored-scan.ts';
import type { ScanRequest } from '../../src/domain/scan.ts';
import { openStore, type Store } from '../../src/store/open.ts';
import { openWorkspace, type Workspace } from '../../src/workspace/workspace.ts';
import { ownBytes, ServerProcess } from '../program.ts';

const scans = 5000;
const mebibyte = 1_048_576;
/** Read calls that the start and the first list may take beyond those of an empty workspace; a visit to each scan is more. */
const startReads = 0.8 * scans;
/** Of the comparison of folders and store: it visits each folder. */
const readsOfComparison = 3 * scans;
/** The same of a page of 50 scans, which may ask for the files of these. */
const pageReads = 500;

let server: ServerProcess;
let emptyBytes: number;
let emptyReads: number;

beforeAll(async () => {
  const blank = new ServerProcess();
  await blank.start();
  await blank.request('/api/v1/scans');
  emptyBytes = ownBytes(blank.pid);
  emptyReads = readCalls(blank.pid);
  await blank.dispose();
  server = new ServerProcess();
  await fillWorkspace(server.workspace);
});

afterAll(async () => {
  await server.dispose();
});

/** One scan is kept as a scan that ran leaves it, the others are its copies. */
async function fillWorkspace(dir: string): Promise<void> {
  const workspace = await openWorkspace(dir);
  const store = await openStore(workspace.storeFile);
  const model = await storeScan({ store, workspace }, 0, 20, { compress: true, keep_artifacts: false });
  const names = ['request.json', 'status.json', 'results.jsonl.gz', 'results.members', 'results.sequence'];
  const files = names.map((name): [string, Buffer] => [name, readFileSync(join(model.path, name))]);
  const request = await model.request();
  const { size_bytes } = await store.scans.totals();
  for (let start = 1; start < scans; start += 500) {
    const numbers = Array.from({ length: Math.min(500, scans - start) }, (_, index) => start + index);
    for (const number of numbers) copyFiles(workspace, number, files);
    await store.transaction(async (inside) => {
      for (const number of numbers) await insertCopy(inside, request, number, size_bytes);
    });
  }
  await store.close();
}

function copyFiles(workspace: Workspace, number: number, files: [string, Buffer][]): void {
  const { path } = workspace.scan(storedScanId(number));
  mkdirSync(join(path, 'reports'), { recursive: true, mode: 0o700 });
  for (const [name, bytes] of files) {
    const own =
      name === 'request.json' ? bytes.toString().replaceAll(storedScanId(0), storedScanId(number)) : bytes;
    writeFileSync(join(path, name), own, { mode: 0o600 });
  }
}

async function insertCopy(store: Store, request: ScanRequest, number: number, size: number): Promise<void> {
  const scan_id = storedScanId(number);
  const created_at = new Date(Date.UTC(2026, 0, 1) + number * 60_000).toISOString();
  await store.scans.insert({ ...request, scan_id, created_at });
  await store.scans.update(scan_id, {
    status: 'completed',
    started_at: created_at,
    completed_at: created_at,
  });
  await store.scans.setSize(scan_id, size);
}

/** Makes the start a cold one; only root may. */
function dropCaches(): boolean {
  try {
    writeFileSync('/proc/sys/vm/drop_caches', '3');
    return true;
  } catch {
    return false;
  }
}

/** Read calls of a process since its start, of files and of sockets. */
function readCalls(pid: number): number {
  return Number(/^syscr: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);
}

async function timed(path: string): Promise<number> {
  const startedAt = performance.now();
  const { status } = await server.request(path);
  expect(status).toBe(200);
  return performance.now() - startedAt;
}

function percentile(values: number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * part) - 1] ?? 0;
}

it(`serves ${scans} finished scans after a cold start without a visit to each, from little memory`, async () => {
  // Of a first attempt that failed.
  await server.stop();
  const cold = dropCaches();
  const startedAt = performance.now();
  await server.start();
  await timed('/api/v1/scans');
  const served = performance.now() - startedAt;
  const reads = readCalls(server.pid);
  const pages: number[] = [];
  for (let page = 0; page < 50; page++) pages.push(await timed(`/api/v1/scans?limit=50&offset=${page * 97}`));
  pages.push(
    await timed('/api/v1/scans?q=scan&limit=50'),
    await timed('/api/v1/scans?status=completed&limit=50'),
  );
  const readsOfPages = (readCalls(server.pid) - reads) / pages.length;
  const more = (ownBytes(server.pid) - emptyBytes) / mebibyte;
  const figures = [
    `first list ${served.toFixed(0)} ms after the ${cold ? 'cold ' : ''}start`,
    `page p50 ${percentile(pages, 0.5).toFixed(1)} ms, slowest ${percentile(pages, 1).toFixed(1)} ms`,
    `${reads - emptyReads} read calls more than with an empty workspace, ${readsOfPages.toFixed(0)} a page`,
    `memory ${more.toFixed(0)} MiB above an empty workspace`,
  ];
  console.log(`${scans} scans: ${figures.join('; ')}`);
  // The comparison of folders and store, ten seconds after the start, visits each: a busy machine is served that late.
  const compared = served < 9000 ? 0 : readsOfComparison;
  expect(reads - emptyReads).toBeLessThan(startReads + compared);
  expect(readsOfPages).toBeLessThan(pageReads);
  expect(more).toBeLessThan(200);
});

it(`answers while ${scans} scans are deleted`, async () => {
  const collecting = server.request('/api/v1/workspace/gc', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ keep_last: 10 }),
  });
  let over = false;
  void collecting.then(() => {
    over = true;
  });
  const answers: number[] = [];
  // The two requests come by different connections, in whatever order.
  await sleep(100);
  const second = await server.request('/api/v1/workspace/gc', { method: 'POST' });
  expect(second.status).toBe(409);
  while (!over) answers.push(await timed('/api/v1/scans?limit=20'));
  const { body } = await collecting;
  expect(body).toMatchObject({ data: { deleted_count: scans - 10, kept_count: 10, errors: [] } });
  const p99 = percentile(answers, 0.99);
  console.log(
    `${answers.length} lists while ${scans - 10} scans went: p50 ${percentile(answers, 0.5).toFixed(1)} ms, ` +
      `p99 ${p99.toFixed(1)} ms, slowest ${percentile(answers, 1).toFixed(1)} ms`,
  );
  expect(answers.length).toBeGreaterThan(10);
});
