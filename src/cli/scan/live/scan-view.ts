import type { ResultRow } from '../../../domain/result.ts';
import { leavesUntried, type Scan, type ScanWarning } from '../../../domain/scan.ts';
import { stateWithReason } from '../../../domain/scan-state.ts';
import { missedText } from '../../results/counts-text.ts';
import { findingLine, isSevere } from '../../results/live/found-lines.ts';
import { countText } from '../../terminal/draw/amounts.ts';
import { fit, printable } from '../../terminal/draw/printable.ts';
import { type BlockStream, StatusBlock } from '../../terminal/draw/status-block.ts';
import { paint, styleOf, type TerminalStyle } from '../../terminal/draw/style.ts';
import type { GlobalFlags } from '../../terminal/globals.ts';
import { note } from '../../terminal/output.ts';
import { type LiveReport, RunningStatus } from './scan-status.ts';
import { statusLine, statusLines } from './status-lines.ts';

/** Interval of progress lines without a terminal, milliseconds. */
const lineMs = 10_000;
/** Maximum number of notes above the status of one scan; the rest are counted. */
const maxNotes = 5;
/** Addresses without any response from which that is worth a note. */
const manyAddresses = 1000;

/** What is told on stderr while a scan runs. */
export interface ScanView {
  /** Whether it prints warnings while the scan runs. */
  readonly hasNotes: boolean;
  update(news: LiveReport): void;
  /** A row of the record; it may come again, richer. */
  row(row: ResultRow): void;
  /** Warnings of the scan so far, or one more. */
  warn(warnings: readonly ScanWarning[]): void;
  /** Prints a permanent line. */
  note(text: string): void;
  /** Writes to the other stream, which may be the same terminal. */
  aside(write: () => void): void;
  /** Ends the view; only the line stays. */
  stop(text: string): void;
  end(): void;
}

export interface ViewFlags extends GlobalFlags {
  progress?: boolean;
}

export interface ViewOptions {
  /** Open ports are printed on stdout, or their lines are not wanted. */
  showsPorts?: boolean;
  /** Severe findings scroll above the status. */
  showsFindings?: boolean;
  /** When the scan began, monotonic milliseconds. */
  startedAt?: number;
}

/** A status block on a terminal, lines with `--progress` elsewhere, only notes in a pipe, nothing with `--quiet`. */
export function openView(flags: ViewFlags, options: ViewOptions = {}): ScanView {
  if (flags.quiet) return new PlainView(() => undefined);
  const status = new RunningStatus(options.startedAt ?? performance.now());
  const style = styleOf(process.stderr, flags);
  const isRewritten = style.terminal && process.env['TERM'] !== 'dumb';
  if (!isRewritten) return new PlainView(note, flags.progress || style.terminal ? status : null);
  // With -v they scroll as lines above.
  const isVerbose = (flags.verbosity ?? flags.verbose ?? 0) > 0;
  const showsPorts = (options.showsPorts ?? true) && !isVerbose;
  const showsFindings = options.showsFindings ?? false;
  return new TerminalView(process.stderr, status, { style, showsPorts, showsFindings });
}

interface TerminalOptions {
  style: TerminalStyle;
  showsPorts: boolean;
  showsFindings: boolean;
}

/** Rewrites a block of lines; notes scroll above it. */
export class TerminalView implements ScanView {
  readonly hasNotes = true;
  readonly #status: RunningStatus;
  readonly #stream: BlockStream;
  readonly #block: StatusBlock;
  readonly #notes: WarningNotes;
  readonly #options: TerminalOptions;

  constructor(stream: BlockStream, status: RunningStatus, options: TerminalOptions) {
    this.#stream = stream;
    this.#status = status;
    this.#options = options;
    this.#notes = new WarningNotes((text) => this.note(`${paint(options.style, 'note:', 'yellow')} ${text}`));
    this.#block = new StatusBlock(stream, (columns, rows) => {
      const facts = status.facts(performance.now());
      return facts ? statusLines(facts, { columns, rows }, options.style, options.showsPorts) : [];
    });
  }

  update(news: LiveReport): void {
    this.#status.update(news, performance.now());
    const { discovery, hosts } = this.#status.facts(performance.now()) ?? {};
    if (discovery && hosts === 0 && discovery.done >= manyAddresses) this.#notes.silence(discovery.done);
  }

  row(row: ResultRow): void {
    this.#status.row(row);
    if (row.type === 'vulnerability' && this.#options.showsFindings && isSevere(row)) {
      const { columns } = styleOf(process.stderr, { color: false });
      this.note(fit(findingLine(row), columns - 1));
    }
  }

  warn(warnings: readonly ScanWarning[]): void {
    for (const warning of warnings) this.#notes.add(warning);
  }

  note(text: string): void {
    this.#block.above(() => this.#stream.write(`${text}\n`));
  }

  aside(write: () => void): void {
    this.#block.above(write);
  }

  stop(text: string): void {
    this.end();
    this.#stream.write(`${text}\n`);
  }

  end(): void {
    this.#block.end();
    this.#notes.end();
  }
}

/** Nothing is rewritten: a line now and then, if there is a status. */
class PlainView implements ScanView {
  readonly hasNotes = false;
  readonly #write: (text: string) => void;
  readonly #status: RunningStatus | null;
  #shownAt = Number.NEGATIVE_INFINITY;

  constructor(write: (text: string) => void, status: RunningStatus | null = null) {
    this.#write = write;
    this.#status = status;
  }

  update(news: LiveReport): void {
    const now = performance.now();
    this.#status?.update(news, now);
    if (now - this.#shownAt < lineMs) return;
    this.#shownAt = now;
    const facts = this.#status?.facts(now);
    if (facts) this.#write(statusLine(facts));
  }

  row(row: ResultRow): void {
    this.#status?.row(row);
  }

  /** All of them are printed at the end. */
  warn(): void {}

  note(text: string): void {
    this.#write(text);
  }

  aside(write: () => void): void {
    write();
  }

  stop(text: string): void {
    this.#write(text);
  }

  end(): void {}
}

/** Prints the first warnings of a scan, one of each kind and target, and counts the others. */
class WarningNotes {
  readonly #print: (text: string) => void;
  readonly #seen = new Set<string>();
  #left = 0;

  constructor(print: (text: string) => void) {
    this.#print = print;
  }

  add({ code, message, target }: ScanWarning): void {
    const subject = target && !message.includes(target) ? `${target}: ` : '';
    this.#once(`${code} ${target ?? ''}`, shortNotes[code] ?? subject + message);
  }

  silence(addresses: number): void {
    const text = `no response from any of ${countText(addresses, 'address', 'addresses')} so far: is the route up? portolan doctor`;
    this.#once('silence', text);
  }

  end(): void {
    if (this.#left > 0) this.#print(`${this.#left} more: portolan scan status latest`);
    this.#left = 0;
  }

  #once(kind: string, text: string): void {
    if (this.#seen.has(kind)) return;
    this.#seen.add(kind);
    if (this.#seen.size > maxNotes) this.#left += 1;
    else this.#print(printable(text));
  }
}

/** What `portolan doctor` says at length. */
const shortNotes: Readonly<Record<string, string>> = {
  syn_fallback: 'no raw packets here: ports by connect (portolan doctor)',
  icmp_unavailable: 'no ICMP here: discovery by TCP (portolan doctor)',
  arp_unavailable: 'no raw packets here: no discovery by ARP (portolan doctor)',
};

type Ended = Pick<Scan, 'status' | 'error' | 'warnings' | 'stages' | 'progress'>;

interface Told {
  hasNotes: boolean;
  isText: boolean;
}

/**
 * Prints warnings of a finished scan and why it failed, one line each.
 * @param hasNotes whether a terminal had the warnings while the scan ran
 * @param isText whether the result is text, which says itself how far a canceled scan came
 */
export function noteOutcome(ended: Ended, quiet: boolean, { hasNotes, isText }: Told): void {
  if (!quiet && !hasNotes) {
    for (const warning of ended.warnings) {
      const subject = [warning.node, warning.target].filter(Boolean).join(' ');
      note(`warning: ${printable(`${subject && `${subject}: `}${warning.message}`)}`);
    }
  }
  if (ended.error?.code === 'canceled') {
    if (!isText) note(missedText(ended)[0] ?? 'canceled');
    return;
  }
  for (const stage of ended.stages.filter(({ status }) => status === 'failed')) {
    note(`stage ${printable(`${stage.instance_id} failed: ${stage.error ?? 'no reason given'}`)}`);
  }
  if (ended.error) note(`portolan: ${printable(`the scan ${stateWithReason(ended)}`)}`);
}

/**
 * Exit code of a finished scan: 7 if it or one of its stages failed or something was not tried, 5 for missing
 * privileges, 6 after its time limit.
 */
export function exitCodeOf(ended: Pick<Ended, 'status' | 'error' | 'stages' | 'warnings'>): number {
  if (ended.error?.code === 'permission') return 5;
  if (ended.error?.code === 'timeout') return 6;
  if (ended.status !== 'completed') return 7;
  const isPartial = leavesUntried(ended.warnings) || ended.stages.some(({ status }) => status === 'failed');
  return isPartial ? 7 : 0;
}
