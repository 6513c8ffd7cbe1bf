import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ResultRow } from '../../domain/result.ts';
import { openPortRow, recordRows, summaryRow } from '../../workspace/record/fixtures/record-rows.ts';
import { openRecord } from '../../workspace/record/record-writer.ts';
import { resultHead } from '../../workspace/render/result-head.ts';
import { ScanFolder } from '../../workspace/scan-folder.ts';
import { renderReport } from '../render-report.ts';
import type { ReportFacts, ReportOptions } from '../report-facts.ts';
import { renderJob } from './render-job.ts';
import { type FromReport, piecesAhead, type ReportJob } from './report-job.ts';
import { ReportThreads } from './report-threads.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-report-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const facts: ReportFacts = {
  ...resultHead(summaryRow, { targets: ['192.0.2.0/24'], warnings: [] }),
  title: null,
  failure: null,
  canceledBy: null,
  evaluated: true,
  startedAt: null,
  completedAt: null,
  request: null,
  stages: [],
};
const options: ReportOptions = { template: null, paper: 'a4', changes: null, madeAt: summaryRow.timestamp };
const forever = () => new AbortController().signal;
const eventually = { timeout: 120_000 };

/** A finished record; each of its hosts takes some kilobytes of a page. */
async function recorded(name: string, hosts: number): Promise<{ job: ReportJob; rows: ResultRow[] }> {
  const folder = new ScanFolder(join(dir, name));
  await mkdir(folder.path, { recursive: true });
  const addresses = Array.from({ length: hosts }, (_, n) => `192.0.${n >> 8}.${n & 255}`);
  const rows = addresses.flatMap((host): ResultRow[] => [
    { type: 'host', timestamp: summaryRow.timestamp, host, state: 'up' },
    openPortRow(host, 80, { banner: `welcome to ${host} `.repeat(100) }),
  ]);
  await recordRows(folder, rows, 500);
  const writer = await openRecord(folder);
  await writer.finish({ ...summaryRow, live_hosts: hosts, open_ports: hosts });
  await writer.close();
  const job = {
    format: 'html',
    fix: null,
    record: { folder: folder.path },
    recorded: true,
    fault: null,
    facts,
    options,
  } as const;
  return { job, rows };
}

async function textOf(pieces: AsyncIterable<string | Uint8Array>): Promise<string> {
  const all: Buffer[] = [];
  for await (const piece of pieces) all.push(Buffer.from(piece as string));
  return Buffer.concat(all).toString();
}

describe('a report in a thread', () => {
  it('is the one that this process renders, byte for byte, in many pieces', async () => {
    const { job, rows } = await recorded('same', 1500);
    const source = {
      facts,
      options,
      rows: async function* () {
        yield* rows;
      },
    };
    const expected = await textOf(renderReport('html', source));
    const threads = new ReportThreads();
    const pieces = await Array.fromAsync(await threads.render(job, forever()));
    expect(pieces.length).toBeGreaterThan(20);
    expect(
      await textOf(
        (async function* () {
          yield* pieces;
        })(),
      ),
    ).toBe(expected);
    await vi.waitFor(() => expect(threads.running).toBe(0), eventually);
  });

  it('is at most a few pieces ahead of its reader', async () => {
    const { job } = await recorded('slow', 1500);
    const { port1, port2 } = new MessageChannel();
    const ahead: number[] = [];
    let untaken = 0;
    const ended = new Promise<void>((resolve) => {
      port2.on('message', ({ type }: FromReport) => {
        if (type !== 'piece') return resolve();
        untaken += 1;
        ahead.push(untaken);
        // The reader takes a piece only when no more come for now.
        setImmediate(() =>
          setImmediate(() => {
            untaken -= 1;
            port2.postMessage('taken');
          }),
        );
      });
    });
    await Promise.all([renderJob(job, port1), ended]);
    expect(ahead.length).toBeGreaterThan(20);
    expect(Math.max(...ahead)).toBeLessThanOrEqual(piecesAhead);
  });

  it('ends with its reader', async () => {
    const { job } = await recorded('left', 1500);
    const threads = new ReportThreads();
    for await (const _piece of await threads.render(job, forever())) break;
    await vi.waitFor(() => expect(threads.running).toBe(0), eventually);
  });

  it('ends when its client is gone, whether anybody reads or not, and frees its place', async () => {
    const { job } = await recorded('gone', 1500);
    const threads = new ReportThreads();
    const clients = [new AbortController(), new AbortController(), new AbortController()];
    const [first, second] = await Promise.all(
      clients.slice(0, 2).map(({ signal }) => threads.render(job, signal)),
    );
    const third = threads.render(job, clients[2]?.signal as AbortSignal);
    expect(threads.running).toBe(2);
    clients[0]?.abort(new Error('gone'));
    await expect(textOf(first as AsyncIterable<Uint8Array>)).rejects.toThrow('gone');
    expect(await textOf(await third)).toContain('</html>');
    expect(await textOf(second as AsyncIterable<Uint8Array>)).toContain('</html>');
    await vi.waitFor(() => expect(threads.running).toBe(0), eventually);
  });

  it('that waits for a place gives up when its client does', async () => {
    const { job } = await recorded('waiting', 1500);
    const threads = new ReportThreads();
    const client = new AbortController();
    const busy = await Promise.all([threads.render(job, client.signal), threads.render(job, client.signal)]);
    const late = new AbortController();
    const waiting = threads.render(job, late.signal);
    late.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
    client.abort(new Error('over'));
    for (const report of busy) await expect(textOf(report)).rejects.toThrow('over');
    await vi.waitFor(() => expect(threads.running).toBe(0), eventually);
  });

  it('that nobody reads on ends, and frees its place', async () => {
    const { job } = await recorded('stalled', 6000);
    const threads = new ReportThreads(undefined, 200);
    const report = (await threads.render(job, forever()))[Symbol.asyncIterator]();
    expect((await report.next()).done).toBe(false);
    await vi.waitFor(() => expect(threads.running).toBe(0), eventually);
    await expect(textOf({ [Symbol.asyncIterator]: () => report })).rejects.toThrow('nobody took a piece');
  });

  it('of a scan that was deleted meanwhile is not found', async () => {
    const { job } = await recorded('deleted', 1);
    await rm(job.record.folder, { recursive: true });
    const threads = new ReportThreads();
    await expect(threads.render(job, forever())).rejects.toMatchObject({ code: 'not_found' });
    await vi.waitFor(() => expect(threads.running).toBe(0), eventually);
  });

  it('of a record that is damaged since its verification ends with an error', async () => {
    const { job } = await recorded('torn', 1500);
    const file = join(job.record.folder, 'results.jsonl');
    const bytes = await readFile(file);
    bytes.fill(0x20, bytes.length >> 1, (bytes.length >> 1) + 200);
    await writeFile(file, bytes);
    const threads = new ReportThreads();
    const read = async (changed: ReportJob) => textOf(await threads.render(changed, forever()));
    await expect(read(job)).rejects.toMatchObject({ code: 'internal_error' });
    expect(await read({ ...job, fault: 'damaged' })).toContain('</html>');
  });

  it('that needs more memory than it may fails, and nothing else does', async () => {
    const { job } = await recorded('huge', 10);
    const threads = new ReportThreads({ maxOldGenerationSizeMb: 4, maxYoungGenerationSizeMb: 1 });
    const huge = {
      ...job,
      facts: { ...facts, targets: Array.from({ length: 200_000 }, (_, n) => `host-${n}.example`) },
    };
    await expect(threads.render(huge, forever()).then(textOf)).rejects.toThrow('memory');
    await vi.waitFor(() => expect(threads.running).toBe(0), eventually);
    expect(await new ReportThreads().render(job, forever()).then(textOf)).toContain('</html>');
  });
});
