import type { ResultRow } from '../../domain/result.ts';
import type { Scan } from '../../domain/scan.ts';
import type { LiveScan } from '../../scan-run/messages.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note } from '../terminal/output.ts';
import { printable } from '../terminal/printable.ts';
import { formatCount, ProgressBar, progressLine } from '../terminal/progress-bar.ts';

/** Minimum interval between progress lines without a terminal, milliseconds. */
const lineMs = 1000;

/** Progress output on stderr. */
export interface ScanView {
  update(live: Pick<LiveScan, 'progress' | 'results'>): void;
  /** A row of the record; it may come again, richer. */
  row(row: ResultRow): void;
  /** Prints a permanent line. */
  note(text: string): void;
  /** Writes to the other stream, which may be the same terminal. */
  aside(write: () => void): void;
  end(): void;
}

/** A progress bar on a terminal, lines with `--progress` elsewhere, only warnings with `--quiet` or in a pipe. */
export function openView(flags: GlobalFlags & { progress?: boolean }): ScanView {
  const silent = {
    update: () => undefined,
    row: () => undefined,
    aside: (write: () => void) => write(),
    end: () => undefined,
  };
  if (flags.quiet) return { ...silent, note: () => undefined };
  if (process.stderr.isTTY) return new ProgressBar(process.stderr);
  return flags.progress ? new ProgressLines() : { ...silent, note };
}

class ProgressLines implements ScanView {
  readonly #startedAt = performance.now();
  #shownAt = Number.NEGATIVE_INFINITY;

  update(live: Pick<LiveScan, 'progress' | 'results'>): void {
    const now = performance.now();
    if (now - this.#shownAt < lineMs) return;
    this.#shownAt = now;
    note(progressLine(live, now - this.#startedAt));
  }

  row(): void {}

  note(text: string): void {
    note(text);
  }

  aside(write: () => void): void {
    write();
  }

  end(): void {}
}

type Ended = Pick<Scan, 'status' | 'error' | 'warnings' | 'stages'>;

/** Prints warnings of a finished scan and why it failed, one line each. */
export function noteOutcome(ended: Ended, quiet: boolean): void {
  if (!quiet) {
    for (const warning of ended.warnings) {
      const subject = [warning.node, warning.target].filter(Boolean).join(' ');
      note(`warning: ${printable(`${subject && `${subject}: `}${warning.message}`)}`);
    }
  }
  for (const stage of ended.stages.filter(({ status }) => status === 'failed')) {
    note(`stage ${printable(`${stage.instance_id} failed: ${stage.error ?? 'no reason given'}`)}`);
  }
  if (ended.error) note(`portolan: the scan failed (${ended.error.code}): ${printable(ended.error.message)}`);
}

/** On a terminal: the output file, and the id of the stored scan. */
export function noteResult(
  scan: Pick<Scan, 'scan_id' | 'results'>,
  file: string | null,
  kept: boolean,
): void {
  if (!process.stderr.isTTY) return;
  const { live_hosts, open_ports } = scan.results;
  if (file !== null) {
    note(
      `wrote ${printable(file)}: ${formatCount(live_hosts, 'host')} up, ${formatCount(open_ports, 'open port')}`,
    );
  }
  if (kept) note(`stored as ${printable(scan.scan_id)}`);
}

/** Exit code of a finished scan: 7 if it or one of its stages failed, 5 for missing privileges, 6 after its time limit. */
export function exitCodeOf(ended: Pick<Ended, 'status' | 'error' | 'stages'>): number {
  if (ended.error?.code === 'permission') return 5;
  if (ended.error?.code === 'timeout') return 6;
  if (ended.status !== 'completed') return 7;
  return ended.stages.some(({ status }) => status === 'failed') ? 7 : 0;
}
