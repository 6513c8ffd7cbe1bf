import { setTimeout as sleep } from 'node:timers/promises';
import { PortolanError } from '../domain/errors.ts';
import type { ResultRow } from '../domain/result.ts';
import { isFinal, type Scan } from '../domain/scan.ts';
import { Client } from './client.ts';
import { unwrapData } from './envelope.ts';
import { readLines, type ServerEvent } from './event-stream.ts';
import { usage } from './failure.ts';
import { onInterrupt } from './interrupt.ts';
import { makeSafe } from './local-result.ts';
import { note, print, type ResultFormat, writeResult } from './output.ts';
import { jsonText, printable } from './printable.ts';
import { renderTable, type TableStyle, tableStyle } from './result-table.ts';
import { exitCodeOf, noteOutcome, openView, type ScanView } from './scan-view.ts';
import type { ScanOrder } from './scan-work.ts';

/** How long a server may stay away while a scan is followed. */
const patienceMs = 30_000;
const retryMs = 1000;

interface Accepted {
  scan_id: string;
  status: string;
  created_at: string;
}

/** Submits a scan to a server, follows it and fetches its results. @returns the exit code */
export async function scanOnServer(order: ScanOrder, url: string): Promise<number> {
  const client = new Client({
    url,
    token: order.flags.apiToken ?? (process.env['SERVICE_API_TOKEN'] || null),
  });
  const body =
    order.dag === undefined ? order.submission : { ...order.submission, dag: graphName(order.dag) };
  const accepted = await client.call<Accepted>('POST', '/api/v1/scans', body);
  if (!order.flags.wait) {
    print(order.output.format === 'json' ? jsonText(accepted) : `${printable(accepted.scan_id)}\n`);
    return 0;
  }
  const view = openView(order.flags);
  view.note(`scan ${printable(accepted.scan_id)} runs on ${client.url}`);
  const scan = await follow(client, accepted.scan_id, view);
  noteOutcome(scan, order.flags.quiet ?? false);
  const style = tableStyle(order.output.file === null ? process.stdout : {}, !order.flags.color);
  await writeResult(order.output.file, fetchResult(client, scan, order.output.format, style));
  return exitCodeOf(scan);
}

/** Over the API a graph is an installed name; a file would have to lie on the server. */
function graphName(dag: string): string {
  if (/^[\w-]+$/.test(dag)) return dag;
  throw usage(
    `a server runs installed graphs only, not the file ${dag}; without a server (or with --no-workspace) it can be used`,
  );
}

/** Shows a scan's progress until it is over. Ctrl-C cancels it on the server; its results stay. */
async function follow(client: Client, scanId: string, view: ScanView): Promise<Scan> {
  const release = onInterrupt(() => {
    view.note('canceling; what was found is kept. Press Ctrl-C again to end at once.');
    client
      .call('POST', `${scanPath(scanId)}/cancel`)
      .catch((error: Error) => note(`portolan: cannot cancel: ${printable(error.message)}`));
  }, 7);
  try {
    return await awaitScan(client, scanId, view, new AbortController().signal);
  } finally {
    release();
    view.end();
  }
}

/**
 * Reads the events of a scan until it is over; picks up where it was after a broken connection.
 * @returns the scan at its end
 * @throws the reason of `signal` when that ends the wait, PortolanError `network` when the server stays away
 */
export async function awaitScan(
  client: Client,
  scanId: string,
  view: ScanView,
  signal: AbortSignal,
): Promise<Scan> {
  const path = scanPath(scanId);
  let lastId: string | null = null;
  let lostAt: number | null = null;
  for (;;) {
    try {
      for await (const event of await client.events(`${path}/events`, lastId, signal)) {
        lostAt = null;
        lastId = event.id ?? lastId;
        if (event.event === 'end') break;
        show(event, view);
      }
      const scan = await client.call<Scan>('GET', path);
      if (isFinal(scan.status)) return scan;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof PortolanError) || !['network', 'unavailable'].includes(error.code)) throw error;
      if (lostAt === null) view.note(`the server is away; trying again for ${patienceMs / 1000} s`);
      lostAt ??= performance.now();
      if (performance.now() - lostAt > patienceMs) throw leftBehind(error, scanId);
    }
    await sleep(retryMs, undefined, { signal });
  }
}

/** What was acknowledged is not lost: the scan goes on with its server. */
function leftBehind({ code, message }: PortolanError, scanId: string): PortolanError {
  return new PortolanError(code, `${message}; the scan ${scanId} goes on when its server is back`);
}

function scanPath(scanId: string): string {
  return `/api/v1/scans/${encodeURIComponent(scanId)}`;
}

type Counts = Scan['results'];

function show(event: ServerEvent, view: ScanView): void {
  if (event.event !== 'progress' && event.event !== 'status') return;
  const { progress, results } = readData(event) as { progress?: Scan['progress']; results?: Counts };
  if (typeof progress?.percent === 'number' && results) view.update({ progress, results });
}

function readData(event: ServerEvent): unknown {
  try {
    return (JSON.parse(event.data) as unknown) ?? {};
  } catch {
    return {};
  }
}

/** Results of a scan on a server in the asked format, streamed. */
export async function* fetchResult(
  client: Client,
  scan: Scan,
  format: ResultFormat,
  style: TableStyle,
): AsyncIterable<string> {
  const path = `${scanPath(scan.scan_id)}/results?format=`;
  if (format === 'text') {
    yield* renderTable(readRows(await client.download(`${path}jsonl`)), null, style);
  } else {
    const text = await client.download(path + format);
    yield* makeSafe(format, format === 'json' ? unwrapData(text) : text);
  }
}

async function* readRows(chunks: AsyncIterable<string>): AsyncIterable<ResultRow> {
  for await (const line of readLines(chunks)) {
    if (line === '') continue;
    try {
      yield JSON.parse(line) as ResultRow;
    } catch {
      throw new PortolanError(
        'network',
        'the server sent a result that is not JSON Lines, or the connection broke',
      );
    }
  }
}
