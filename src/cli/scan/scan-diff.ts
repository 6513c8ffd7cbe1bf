import { type Comparison, compareScans, renderComparison } from '../../actions/results/compare-scans.ts';
import { listScans } from '../../actions/scans/list-scans.ts';
import { showScan } from '../../actions/scans/show-scan.ts';
import { PortolanError } from '../../domain/errors.ts';
import type { Scan } from '../../domain/scan.ts';
import type { Baseline } from '../../store/scans/baseline.ts';
import { exitCodeOfChanges } from '../results/compared-with.ts';
import { damageNote } from '../results/damage-warning.ts';
import { type DiffView, diffText } from '../results/diff-text.ts';
import { unwrapData } from '../results/envelope.ts';
import { makeSafe } from '../results/local-result.ts';
import { scanPath } from '../results/remote-result.ts';
import type { Client } from '../session/client.ts';
import { chooseScan, type ListScans, listOf } from '../session/scan-choice.ts';
import { findServer } from '../session/server-choice.ts';
import {
  baselineShape,
  type ComparisonResponse,
  comparisonShape,
  scanShape,
} from '../session/server-responses.ts';
import { loadModuleCatalog, withStore } from '../session/session.ts';
import { printableJson } from '../terminal/draw/printable.ts';
import { styleOf } from '../terminal/draw/style.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { oneText, writeResult } from '../terminal/output.ts';
import type { CliWiring } from '../wiring.ts';
import { storedRecord } from '../workspace/local-record.ts';
import type { ControlFlags } from './control-flags.ts';
import { exitCodeOf } from './live/scan-view.ts';

interface Pair {
  id: string;
  baseline: string;
}

/** As typed: without a baseline, the one of the scan is meant. */
interface TypedPair {
  id: string;
  baseline: string | undefined;
}

/** Flags of `scan diff`. */
export type DiffFlags = ControlFlags & { failOnChange?: boolean };

/**
 * `scan diff`: on the server that is named or has the workspace locked, else in the workspace itself.
 * @returns the exit code
 */
export async function diffScans(
  pair: TypedPair,
  flags: DiffFlags,
  global: GlobalFlags,
  wiring: CliWiring,
): Promise<number> {
  const { format, failOnChange = false } = flags;
  const view: DiffView = {
    style: styleOf(process.stdout, global),
    now: Date.now(),
    all: (global.verbosity ?? global.verbose ?? 0) > 0,
  };
  const client = await findServer(flags, global);
  if (client) {
    const chosen = await pairOf(pair, listOf(client), async (id) => {
      const { baseline } = await client.call('GET', `${scanPath(id)}/baseline`, baselineShape);
      return baseline;
    });
    return await printDiff(client, chosen, failOnChange, (render) => writeResult(null, render(format)), view);
  }
  return await withStore(global, async (session) => {
    const { store, config } = session;
    const recordOf = ({ scan_id }: Scan) => storedRecord(session, scan_id);
    const catalogue = await loadModuleCatalog(wiring, config);
    await catalogue.release();
    const { id, baseline } = await pairOf(
      pair,
      (query) => listScans(store, query),
      (scanId) => store.scans.baselineOf(scanId),
    );
    const comparison = await compareScans(
      { store, config, catalogue, recordOf, observer: damageNote(store) },
      id,
      baseline,
    );
    await writeResult(null, renderDiff(comparison, format, view));
    return await exitCodeOfDiff(await showScan(store, id), comparison, failOnChange);
  });
}

/** Exit code of a scan that failed or is partial: it may have missed any change. */
const failedExit = 7;

async function exitCodeOfDiff(scan: Scan, comparison: Comparison, failOnChange: boolean): Promise<number> {
  if (failOnChange && exitCodeOf(scan) !== 0) return failedExit;
  return await exitCodeOfChanges(comparison, failOnChange);
}

/** @throws PortolanError `not_found` without a baseline */
async function pairOf(
  typed: TypedPair,
  list: ListScans,
  baselineOf: (id: string) => Promise<Pick<Baseline, 'scan_id'> | null>,
): Promise<Pair> {
  const id = await chooseScan(typed.id, list);
  if (typed.baseline !== undefined) return { id, baseline: await chooseScan(typed.baseline, list) };
  const found = await baselineOf(id);
  if (found) return { id, baseline: found.scan_id };
  throw new PortolanError(
    'not_found',
    `no completed scan before ${id} has its name, or its targets, ports, profile and evaluation; name the one to compare with`,
  );
}

/** A local comparison, safe to print. */
export function renderDiff(comparison: Comparison, format: string, view?: DiffView): AsyncIterable<string> {
  return format === 'json' ? makeSafe('json', renderComparison(comparison)) : diffText(comparison, view);
}

/**
 * Prints a comparison by a server. JSON is streamed unless its changes decide the exit code: that, like text, needs the
 * whole comparison in memory.
 * @param write prints what it is given for a format, safe to print
 * @returns the exit code
 */
export async function printDiff(
  client: Client,
  { id, baseline }: Pair,
  failOnChange: boolean,
  write: (render: (format: string) => AsyncIterable<string>) => Promise<void>,
  view?: DiffView,
): Promise<number> {
  const path = `${scanPath(id)}/diff?against=${encodeURIComponent(baseline)}`;
  if (!failOnChange) {
    await write((format) => fetchDiff(client, path, format, view));
    return 0;
  }
  const answer = await client.call('GET', path, comparisonShape);
  const comparison = readComparison(answer);
  await write((format) => (format === 'json' ? oneText(printableJson(answer)) : diffText(comparison, view)));
  const scan = await client.call('GET', scanPath(id), scanShape);
  return await exitCodeOfDiff(scan, comparison, failOnChange);
}

async function* fetchDiff(
  client: Client,
  path: string,
  format: string,
  view?: DiffView,
): AsyncIterable<string> {
  if (format === 'json') yield* makeSafe('json', unwrapData(await client.download(path)));
  else yield* diffText(readComparison(await client.call('GET', path, comparisonShape)), view);
}

function readComparison(answer: ComparisonResponse): Comparison {
  const list = (name: string) => {
    const value = name
      .split('.')
      .reduce<unknown>((part, key) => (part as Record<string, unknown>)?.[key], answer);
    return Array.isArray(value) ? value : [];
  };
  const { scan_id, against, vulnerabilities } = answer;
  return { scan_id, against, unchanged: vulnerabilities.unchanged_count, list };
}
