import { setTimeout as sleep } from 'node:timers/promises';
import { PortolanError } from '../../domain/errors.ts';
import type { ResultRow } from '../../domain/result.ts';
import { isFinal, type Scan, type ScanWarning } from '../../domain/scan.ts';
import { isMissingEgress } from '../../scan-run/missing-egress.ts';
import { checkBaseline, viewOfChanges, writeDiff } from '../results/compared-with.ts';
import { isLiveFormat } from '../results/live/live-lines.ts';
import type { LiveOutput } from '../results/live/live-output.ts';
import { printPreview } from '../results/plan-text.ts';
import { fetchResult, fetchRows, scanPath } from '../results/remote-result.ts';
import { resultStyle } from '../results/result-style.ts';
import { type Client, isUnexpected, unexpected } from '../session/client.ts';
import type { ServerEvent } from '../session/event-stream.ts';
import { itemsOf, objectOf, optional, type ShapeOf } from '../session/response-shape.ts';
import { rowShape } from '../session/row-shapes.ts';
import { scanOn } from '../session/scan-choice.ts';
import {
  acceptedShape,
  countsShape,
  featuresShape,
  previewShape,
  progressShape,
  scanShape,
  stageShape,
  unreadShape,
  warningShape,
} from '../session/server-responses.ts';
import { printable, printableJson } from '../terminal/draw/printable.ts';
import { usage } from '../terminal/failure.ts';
import { onInterrupt } from '../terminal/interrupt.ts';
import { note, print, writeResult } from '../terminal/output.ts';
import { endedText, stoppingText } from './live/interrupt-texts.ts';
import { openVerbose } from './live/open-verbose.ts';
import type { LiveReport } from './live/scan-status.ts';
import { exitCodeOf, noteOutcome, openView, type ScanView } from './live/scan-view.ts';
import type { VerboseLines } from './live/verbose-lines.ts';
import { openLiveResult } from './live-result.ts';
import { isProfileFile } from './profile-choice.ts';
import { noteResult, tableOptionsOf } from './result-notes.ts';
import { reportWishes, type ScanCommand, withBaseline } from './submission.ts';

/** How long a watched server may be unreachable. */
const patienceMs = 30_000;
const retryMs = 1000;

/** Submits a scan to a server, follows it and fetches its results. @returns the exit code */
export async function scanOnServer(typed: ScanCommand, client: Client): Promise<number> {
  const order = await withBaseline(typed, (text) => scanOn(client, text));
  const body = await bodyOf(order);
  const { output, flags } = order;
  const baseline = flags.compareWith;
  if (baseline !== undefined) checkBaseline(await client.call('GET', scanPath(baseline), scanShape));
  if (output.format === 'pdf') await demandReports(client);
  const accepted = await submit(client, '/api/v1/scans', acceptedShape, body);
  if (!flags.wait) {
    print(output.format === 'json' ? printableJson(accepted) : `${printable(accepted.scan_id)}\n`);
    return 0;
  }
  const isOnTerminal = process.stdout.isTTY && output.file === null;
  const view = openView(flags, { showsPorts: !(isOnTerminal && isLiveFormat(output.format)) });
  const abort = new AbortController();
  const live = openLiveResult(order, view, () => abort.abort());
  view.note(`scan ${printable(accepted.scan_id)} submitted to ${client.url}`);
  const verbose = await openVerbose(flags, view);
  verbose?.start(await client.call('GET', scanPath(accepted.scan_id), scanShape), portsOf(order));
  const scan = await follow(client, accepted.scan_id, view, { live, verbose, unread: abort.signal });
  // The last stages end with the scan, after the last report.
  verbose?.update(scan);
  if (abort.signal.aborted) return exitCodeOf(scan);
  noteOutcome(scan, flags.quiet ?? false, { hasNotes: view.hasNotes, isText: output.format === 'text' });
  if (live) await writeRest(client, scan, live);
  else await writeWhole(client, scan, order);
  await writeCopies(client, scan, order);
  noteResult(scan, order, false);
  if (baseline !== undefined) {
    const { printDiff } = await import('./scan-diff.ts');
    const pair = { id: scan.scan_id, baseline };
    const changed = await printDiff(
      client,
      pair,
      flags.failOnChange ?? false,
      (render) => writeDiff(output, render),
      viewOfChanges(output, flags),
    );
    return exitCodeOf(scan) || changed;
  }
  return exitCodeOf(scan);
}

function portsOf({ submission: { ports } }: ScanCommand): string | null {
  return typeof ports === 'string' ? ports : null;
}

async function writeWhole(client: Client, scan: Scan, order: ScanCommand): Promise<void> {
  const { output, flags } = order;
  const style = resultStyle(output.file, flags);
  const table = { scan, ...tableOptionsOf(flags) };
  await writeResult(
    output.file,
    fetchResult(client, scan, output.format, style, await reportWishes(order), table, flags.open),
  );
}

/** The same result in the other files. */
async function writeCopies(client: Client, scan: Scan, { copies, flags }: ScanCommand): Promise<void> {
  const table = { scan, ...tableOptionsOf(flags) };
  for (const { file, format } of copies) {
    const style = resultStyle(file, flags);
    await writeResult(file, fetchResult(client, scan, format, style, {}, table, flags.open));
  }
}

/** What was not written while the scan ran. */
async function writeRest(client: Client, scan: Scan, live: LiveOutput): Promise<void> {
  await writeResult(null, live.rest(await fetchRows(client, scan.scan_id), null));
}

/** Before the scan rather than after it. @throws PortolanError `license_required` */
async function demandReports(client: Client): Promise<void> {
  const feature = 'pdf_reporter';
  const { features } = await client.call('GET', '/api/v1/license', featuresShape);
  if (features.includes(feature)) return;
  throw new PortolanError('license_required', `The server requires a license for ${feature}.`, { feature });
}

/** Prints the plan of a scan on a server, which sends and stores nothing. @returns the exit code */
export async function dryRunOnServer(order: ScanCommand, client: Client): Promise<number> {
  const preview = await submit(client, '/api/v1/scans/plan', previewShape, await bodyOf(order));
  printPreview(preview, order.output.format, order.flags, client.url);
  return 0;
}

/** An interface or address that the server does not have ends as it does without a server. */
async function submit<T>(
  client: Client,
  path: string,
  shape: ShapeOf<T>,
  body: Record<string, unknown>,
): Promise<T> {
  try {
    return await client.call('POST', path, shape, body);
  } catch (error) {
    if (!(error instanceof PortolanError) || !isMissingEgress(error)) throw error;
    throw new PortolanError('configuration', error.message, error.details, error);
  }
}

/** Formats that are made here of the rows of a server, or have no hosts without ports. */
const byRows: readonly string[] = ['text', 'grepable', 'csv', 'hostport', 'list'];

/** The request body for a server. @throws PortolanError `usage` for local files */
export async function bodyOf({
  submission,
  dag,
  flags,
  output,
  copies,
}: ScanCommand): Promise<Record<string, unknown>> {
  if (flags.fingerprintRules !== undefined) {
    throw usage('--fingerprint-rules names a local file, which a server cannot read');
  }
  const whole = [output, ...copies].find(({ format }) => !byRows.includes(format));
  if (flags.open && whole)
    throw usage(
      `--open leaves nothing out of ${whole.format} from a server`,
      `--format ${byRows.join(', ')}`,
    );
  if (flags.ipv6) throw usage('--ipv6 is for scans without a server', 'IPv6 addresses as targets');
  if (flags.profile !== undefined && isProfileFile(flags.profile)) {
    throw usage(
      `a server runs only installed profiles, not the file ${flags.profile}; use it without a server or with --no-workspace`,
    );
  }
  const { graphNamed, sentPlugins } = await import('./sent-files.ts');
  return {
    ...submission,
    ...(dag !== undefined && (await graphNamed(dag))),
    ...(flags.plugin !== undefined && { plugins: await sentPlugins(flags.plugin) }),
  };
}

interface Followed {
  live: LiveOutput | null;
  verbose: VerboseLines | null;
  /** Aborted when the reader of the result has left. */
  unread: AbortSignal;
}

/**
 * Shows the progress of a scan until it ends. Ctrl-C cancels it on the server; its results stay. So does a reader that
 * leaves.
 */
async function follow(
  client: Client,
  scanId: string,
  view: ScanView,
  { live, verbose, unread }: Followed,
): Promise<Scan> {
  const cancel = () => {
    client
      .call('POST', `${scanPath(scanId)}/cancel`, unreadShape)
      .catch((error: Error) => note(`portolan: cannot cancel: ${printable(error.message)}`));
  };
  unread.addEventListener('abort', cancel, { once: true });
  const release = onInterrupt(() => {
    view.stop(stoppingText);
    cancel();
  }, endedText(scanId));
  const observer: ScanObserver = {
    note: (text) => view.note(text),
    warn: (warnings) => view.warn(warnings),
    row: (row) => {
      view.row(row);
      live?.row(row);
      verbose?.row(row);
    },
    update: (news) => {
      view.update(news);
      verbose?.update(news);
      if (news.stages) live?.stages(news.stages);
    },
  };
  try {
    return await awaitScan(client, scanId, observer, new AbortController().signal);
  } finally {
    release();
    live?.stop();
    view.end();
  }
}

/** Sees what a scan on a server does. */
export interface ScanObserver {
  update(live: LiveReport): void;
  row(row: ResultRow): void;
  warn(warnings: readonly ScanWarning[]): void;
  note(text: string): void;
}

/**
 * Reads the events of a scan until it ends; after a lost connection it resumes with the next event.
 * @returns the ended scan
 * @throws the reason of `signal` if aborted, PortolanError `network` when the server stays unreachable
 */
export async function awaitScan(
  client: Client,
  scanId: string,
  observer: ScanObserver,
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
        show(event, observer);
      }
      const scan = await client.call('GET', path, scanShape);
      if (isFinal(scan.status)) return scan;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof PortolanError) || isUnexpected(error)) throw error;
      if (!['network', 'unavailable'].includes(error.code)) throw error;
      if (lostAt === null) observer.note(`server unreachable, retrying for ${patienceMs / 1000} s`);
      lostAt ??= performance.now();
      if (performance.now() - lostAt > patienceMs) throw leftBehind(error, scanId);
    }
    await sleep(retryMs, undefined, { signal });
  }
}

/** An accepted scan is not lost: it continues when its server does. */
function leftBehind({ code, message }: PortolanError, scanId: string): PortolanError {
  return new PortolanError(code, `${message}; scan ${scanId} continues when its server is back`);
}

/** Passes an event of a scan on. @throws PortolanError `network` for one that is none */
export function show(event: Pick<ServerEvent, 'event' | 'data'>, observer: ScanObserver): void {
  const data = readData(event);
  const checked = <T>(shape: ShapeOf<T>): T => {
    const problem = shape(data, 'data');
    if (problem === null) return data as T;
    throw unexpected(`the server: event "${event.event}", ${problem}`);
  };
  if (event.event === 'progress' || event.event === 'status') {
    const { progress, results, stages } = checked(reportShape);
    if (progress && results) observer.update({ progress, results, ...(stages && { stages }) });
    // Errors of targets come as warnings, but are rows.
  } else if (typeof data['type'] === 'string') observer.row(checked(rowShape));
  else if (event.event === 'warning') observer.warn([checked(warningShape)]);
}

const reportShape = objectOf<Partial<LiveReport>>({
  progress: optional(progressShape),
  results: optional(countsShape),
  stages: optional(itemsOf(stageShape)),
});

function readData({ event, data }: Pick<ServerEvent, 'event' | 'data'>): Record<string, unknown> {
  try {
    const read: unknown = JSON.parse(data);
    if (typeof read === 'object' && read !== null) return read as Record<string, unknown>;
  } catch {
    // Rejected like every other event without an object.
  }
  throw unexpected(`the server: event "${event}" is not an object`);
}
