import type { Scan } from '../../domain/scan.ts';
import type { LiveScan } from '../../scan-run/messages.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note } from '../terminal/output.ts';
import { printable } from '../terminal/printable.ts';
import { formatCount, ProgressBar, progressLine } from '../terminal/progress-bar.ts';

/** Least time between two progress lines where there is no terminal. */
const lineMs = 1000;

/** What a person sees of a running scan, on stderr. */
export interface ScanView {
  update(live: Pick<LiveScan, 'progress' | 'results'>): void;
  /** A line that stays. */
  note(text: string): void;
  end(): void;
}

/** A bar on a terminal, lines for `--progress` elsewhere, remarks only with `--quiet` or in a pipe. */
export function openView(flags: GlobalFlags & { progress?: boolean }): ScanView {
  if (flags.quiet) return { update: () => undefined, note: () => undefined, end: () => undefined };
  if (process.stderr.isTTY) return new ProgressBar(process.stderr);
  return flags.progress ? new ProgressLines() : { update: () => undefined, note, end: () => undefined };
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

  note(text: string): void {
    note(text);
  }

  end(): void {}
}

type Ended = Pick<Scan, 'status' | 'error' | 'warnings' | 'stages'>;

/** Warnings of a finished scan and why it failed, one line each. */
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

/** On a terminal: where the result went, and the id that it is kept under. */
export function noteResult(
  scan: Pick<Scan, 'scan_id' | 'results'>,
  file: string | null,
  kept: boolean,
): void {
  if (!process.stderr.isTTY) return;
  const { live_hosts, open_ports } = scan.results;
  if (file !== null) {
    note(
      `${printable(file)} is written: ${formatCount(live_hosts, 'host')} up, ${formatCount(open_ports, 'open port')}`,
    );
  }
  if (kept) note(`kept as ${printable(scan.scan_id)}`);
}

/** Exit code of a finished scan: 7 when it failed or a stage of it did; a missing right has its own. */
export function exitCodeOf(ended: Pick<Ended, 'status' | 'error' | 'stages'>): number {
  if (ended.error?.code === 'permission') return 5;
  if (ended.status !== 'completed') return 7;
  return ended.stages.some(({ status }) => status === 'failed') ? 7 : 0;
}
