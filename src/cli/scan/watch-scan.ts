import { setTimeout as sleep } from 'node:timers/promises';
import { isFinal, type Scan } from '../../domain/scan.ts';
import { FoundLines } from '../results/live/found-lines.ts';
import { fetchResult, scanPath } from '../results/remote-result.ts';
import { resultStyle } from '../results/result-style.ts';
import type { Client } from '../session/client.ts';
import { scanIn, scanOn } from '../session/scan-choice.ts';
import { findServer } from '../session/server-choice.ts';
import { scanShape } from '../session/server-responses.ts';
import { type Session, withStore } from '../session/session.ts';
import { printable, printableJson } from '../terminal/draw/printable.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { onInterrupt } from '../terminal/interrupt.ts';
import { note, type Pieces, print, writeResult } from '../terminal/output.ts';
import type { ControlFlags } from './control-flags.ts';
import { openVerbose } from './live/open-verbose.ts';
import { exitCodeOf, noteOutcome, openView } from './live/scan-view.ts';
import { awaitScan, type ScanObserver, show } from './remote-scan.ts';

/** How often a scan of this workspace is looked at, milliseconds. */
const lookMs = 250;

type WatchFlags = GlobalFlags & ControlFlags;

/** `scan watch`. Ctrl-C stops watching and does not cancel the scan. */
export async function watchScanCommand(
  text: string,
  flags: ControlFlags,
  global: GlobalFlags,
): Promise<number> {
  const all = { ...global, ...flags };
  const client = await findServer(flags, global);
  return client ? await watchOn(client, text, all) : await watchHere(text, all);
}

async function watchOn(client: Client, text: string, flags: WatchFlags): Promise<number> {
  const id = await scanOn(client, text);
  // Fails at once for an unknown id.
  const scan = await client.call('GET', scanPath(id), scanShape);
  return await watch(scan, flags, {
    follow: (observer, signal) => awaitScan(client, id, observer, signal),
    result: (ended) => fetchResult(client, ended, 'text', resultStyle(null, flags), {}, { scan: ended }),
  });
}

/** A scan that a command line runs in this workspace, or has run. */
async function watchHere(text: string, flags: WatchFlags): Promise<number> {
  const { localRecord } = await import('../workspace/local-record.ts');
  const { renderResult } = await import('../results/local-result.ts');
  const { damageNote } = await import('../results/damage-warning.ts');
  const { showScan } = await import('../../actions/scans/show-scan.ts');
  let code = 0;
  await withStore(flags, async (session) => {
    const scan = await showScan(session.store, await scanIn(session.store, text));
    const record = await localRecord(session, scan.scan_id);
    code = await watch(scan, flags, {
      follow: (observer, signal) => followHere(session, scan.scan_id, observer, signal),
      result: (ended) => {
        const style = resultStyle(null, flags);
        return renderResult('text', record, ended, style, damageNote(session.store));
      },
    });
  });
  return code;
}

/** Reads what the process of the scan has written, until the scan ends. */
async function followHere(
  session: Session,
  id: string,
  observer: ScanObserver,
  signal: AbortSignal,
): Promise<Scan> {
  const { store } = session;
  const [{ ScanFeed }, { watchScan }, { isDeadCommandLine }, { localRecord }] = await Promise.all([
    import('../../actions/scans/scan-feed.ts'),
    import('../../actions/scans/watch-scan.ts'),
    import('../../scan-run/finalize/interrupt-scan.ts'),
    import('../workspace/local-record.ts'),
  ]);
  const gone = new AbortController();
  const looked = async (closed: AbortSignal) => {
    await sleep(lookMs, undefined, { signal: closed }).catch(() => undefined);
    if (closed.aborted) return;
    if (!isDeadCommandLine(await store.scans.executor(id), store.executor)) return;
    // A scan that ended before its process did is read to its end.
    const scan = await store.scans.get(id);
    if (scan !== null && !isFinal(scan.status)) gone.abort();
  };
  const input = { scan: () => store.scans.get(id), changed: looked, damageOf: async () => null };
  const source = new ScanFeed(input, () => undefined).subscribe(id, await localRecord(session, id));
  try {
    for await (const run of watchScan(source, 0, AbortSignal.any([signal, gone.signal])))
      for (const event of run) show(event, observer);
  } finally {
    source.close();
  }
  signal.throwIfAborted();
  const scan = await store.scans.get(id);
  if (scan === null) throw new Error('the scan was deleted');
  return scan;
}

interface WatchedScan {
  follow(observer: ScanObserver, signal: AbortSignal): Promise<Scan>;
  /** Its result as text. */
  result(ended: Scan): Pieces;
}

async function watch(scan: Scan, flags: WatchFlags, watched: WatchedScan): Promise<number> {
  const isText = flags.format !== 'json';
  const runsSince = scan.started_at === null ? 0 : Math.max(0, Date.now() - Date.parse(scan.started_at));
  const startedAt = performance.now() - runsSince;
  const view = openView(flags, { showsFindings: true, startedAt });
  const verbose = await openVerbose(flags, view, startedAt);
  verbose?.start(scan, null);
  const found = isText && !process.stdout.isTTY ? new FoundLines() : null;
  const observer: ScanObserver = {
    update: (report) => {
      view.update(report);
      verbose?.update(report);
    },
    warn: (warnings) => view.warn(warnings),
    note: (text) => view.note(text),
    row: (row) => {
      view.row(row);
      verbose?.row(row);
      const line = found?.take(row) ?? '';
      if (line !== '') view.aside(() => print(line));
    },
  };
  const enough = new AbortController();
  const release = onInterrupt(() => enough.abort(), 1);
  try {
    const ended = await watched.follow(observer, enough.signal);
    // The last stages end with the scan, after the last report.
    verbose?.update(ended);
    view.end();
    return await tellEnd(ended, flags, { ...watched, hasNotes: view.hasNotes });
  } catch (error) {
    if (!enough.signal.aborted) throw error;
    view.stop(`the scan goes on: portolan scan watch ${printable(scan.scan_id)}`);
    return 1;
  } finally {
    release();
    view.end();
  }
}

/** The result, and how the scan ended. @returns the exit code */
async function tellEnd(
  ended: Scan,
  { format, quiet = false }: WatchFlags,
  { result, hasNotes }: Pick<WatchedScan, 'result'> & { hasNotes: boolean },
): Promise<number> {
  const isText = format !== 'json';
  noteOutcome(ended, quiet, { hasNotes, isText });
  if (isText) await writeResult(null, result(ended));
  else print(printableJson(ended));
  if (isFinal(ended.status)) return exitCodeOf(ended);
  note(`interrupted; it goes on with: portolan scan resume ${printable(ended.scan_id)}`);
  return 7;
}
