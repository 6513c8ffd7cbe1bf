import { createHash } from 'node:crypto';
import type { PortRow, ResultRow, SummaryRow } from '../../../domain/result.ts';
import { rowIdentity } from '../../../domain/result.ts';
import type { StageRecord } from '../../../domain/scan.ts';
import { completeRow, rowLine } from '../../../workspace/record/row-line.ts';
import { csvHead, portRecord, portsWithFindings } from '../../../workspace/render/csv.ts';
import {
  hostPortLine,
  isOpenPort,
  listEnd,
  listHead,
  listLine,
} from '../../../workspace/render/port-lists.ts';
import { jsonSafe, linesSafe } from '../../terminal/draw/printable.ts';
import type { OutputFormat } from '../../terminal/output.ts';
import { MergedRows } from './merged-rows.ts';

/** Formats whose lines are written while the scan runs. */
export const liveFormats = ['jsonl', 'csv', 'hostport', 'list'] as const satisfies OutputFormat[];
export type LiveFormat = (typeof liveFormats)[number];

/** The lines of one format while a scan runs, and what is missing of them at its end. */
export interface LiveLines {
  /** What stands before the first row. */
  readonly head: string;
  /** Takes a row of the record; a row may come again, richer. @returns the lines to write now */
  take(row: ResultRow): string;
  /** A row that cannot be written now: it is left to `rest`. */
  skip(row: ResultRow): void;
  /** What the scan is doing. @param now monotonic milliseconds */
  follow(stages: readonly StageRecord[], now: number): void;
  /** Lines that have waited long enough. */
  due(now: number): string;
  /**
   * Every line that was not written yet, or not as it is now.
   * @param rows of the record, in its order
   * @param summary null if it comes with the rows
   */
  rest(rows: AsyncIterable<ResultRow>, summary: SummaryRow | null): AsyncIterable<string>;
}

export function isLiveFormat(format: OutputFormat): format is LiveFormat {
  return (liveFormats as readonly OutputFormat[]).includes(format);
}

export function liveLines(format: LiveFormat): LiveLines {
  switch (format) {
    case 'jsonl':
      return new JsonLines();
    case 'csv':
      return new CsvLines();
    case 'hostport':
      return new PortLines({ head: '', end: '', line: hostPortLine, each: ({ port }) => port });
    case 'list':
      return new PortLines({ head: listHead, end: listEnd, line: listLine, each: portCode });
  }
}

/** Port and protocol as one number. */
function portCode({ port, protocol }: PortRow): number {
  return port * 2 + (protocol === 'udp' ? 1 : 0);
}

/** Ports by host: a scan may find millions. */
class PortSet {
  readonly #ports = new Map<string, Set<number>>();

  /** @returns whether the port is new */
  add(host: string, code: number): boolean {
    const known = this.#ports.get(host);
    if (known?.has(code)) return false;
    if (known) known.add(code);
    else this.#ports.set(host, new Set([code]));
    return true;
  }
}

interface PortFormat {
  head: string;
  end: string;
  line(row: PortRow): string;
  /** What makes two ports of a host different lines. */
  each(row: PortRow): number;
}

/** A line for each open port, once, as soon as it is open. */
class PortLines implements LiveLines {
  readonly #format: PortFormat;
  readonly #written = new PortSet();

  constructor(format: PortFormat) {
    this.#format = format;
  }

  get head(): string {
    return this.#format.head;
  }

  take(row: ResultRow): string {
    if (!isOpenPort(row) || !this.#written.add(row.host, this.#format.each(row))) return '';
    return linesSafe(this.#format.line(row));
  }

  skip(): void {}

  follow(): void {}

  due(): string {
    return '';
  }

  async *rest(rows: AsyncIterable<ResultRow>): AsyncIterable<string> {
    for await (const row of rows) {
      const line = this.take(row);
      if (line !== '') yield line;
    }
    if (this.#format.end !== '') yield this.#format.end;
  }
}

/**
 * A host and a port are written when they are found, a port once more when its probes have ended. What came later, such
 * as the system of a host, is written at the end, so that the last line of an identity is complete.
 */
class JsonLines implements LiveLines {
  readonly head = '';
  readonly #merged = new MergedRows();
  /** Digest of the last line of each identity, by that of the identity. */
  readonly #written = new Map<number, number>();

  take(row: ResultRow): string {
    const whole = this.#merged.add(row);
    if (whole.type === 'summary' || !this.#isWorthALine(whole)) return '';
    return this.#line(whole);
  }

  skip(row: ResultRow): void {
    this.#merged.add(row);
  }

  follow(): void {}

  due(): string {
    return '';
  }

  async *rest(rows: AsyncIterable<ResultRow>, summary: SummaryRow | null): AsyncIterable<string> {
    let last = summary;
    for await (const row of rows) {
      if (row.type === 'summary') last ??= row;
      const line = row.type === 'summary' ? '' : this.#line(row);
      if (line !== '') yield line;
    }
    if (last) yield jsonSafe(`${rowLine(last)}\n`);
  }

  #isWorthALine(row: ResultRow): boolean {
    if (row.type === 'port') return !this.#isWritten(row) || isEnded(row);
    return row.type !== 'host' || !this.#isWritten(row);
  }

  #isWritten(row: ResultRow): boolean {
    return this.#written.has(digest(rowIdentity(row)));
  }

  /** Empty if it says what the last line of its identity said. */
  #line(row: ResultRow): string {
    const complete = completeRow(row);
    const identity = digest(rowIdentity(row));
    const content = digest(JSON.stringify({ ...complete, timestamp: '' }, inOrder));
    if (this.#written.get(identity) === content) return '';
    this.#written.set(identity, content);
    return jsonSafe(`${rowLine(complete)}\n`);
  }
}

/** Whether the service of a port is known, or that it stays unknown. */
function isEnded({ service, unidentified_reason, banner }: PortRow): boolean {
  return Boolean(service) || Boolean(unidentified_reason) || banner === '';
}

/** The fields of a row may stand in another order at the end. */
function inOrder(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** 48 bits. */
function digest(text: string): number {
  return createHash('sha1').update(text).digest().readUIntBE(0, 6);
}

/** Time until the row of what the modules have read by now is there, milliseconds: it is written and sent in between. */
const settledMs = 1000;

/** The latest row of a port. */
interface WaitingPort {
  row: PortRow;
  /** When it is complete, if no other row comes; null = modules that may add to it have yet to read it. */
  completeAt: number | null;
}

/** A record for each port once it is identified, with evaluations of vulnerabilities at the end. */
class CsvLines implements LiveLines {
  readonly head = linesSafe(csvHead());
  readonly #merged = new MergedRows();
  readonly #written = new PortSet();
  readonly #waiting = new Map<string, WaitingPort>();

  take(row: ResultRow): string {
    this.skip(row);
    return '';
  }

  skip(row: ResultRow): void {
    if (row.type !== 'port') return;
    this.#waiting.set(rowIdentity(row), { row: this.#merged.add(row) as PortRow, completeAt: null });
    if (this.#waiting.size <= maxWaiting) return;
    const [oldest] = this.#waiting.keys();
    if (oldest !== undefined) this.#waiting.delete(oldest);
  }

  follow(stages: readonly StageRecord[], now: number): void {
    const following = followingWork(stages);
    if (following === 'findings' || !haveReadBanners(stages)) return;
    for (const waiting of this.#waiting.values())
      if (following === 'nothing' || isProbed(waiting.row)) waiting.completeAt ??= now + settledMs;
  }

  due(now: number): string {
    let text = '';
    for (const [identity, { row, completeAt }] of this.#waiting) {
      if (completeAt === null || now < completeAt) continue;
      this.#waiting.delete(identity);
      if (this.#written.add(row.host, portCode(row)))
        text += linesSafe(portRecord(completeRow(row) as PortRow, []));
    }
    return text;
  }

  async *rest(rows: AsyncIterable<ResultRow>): AsyncIterable<string> {
    for await (const { port, findings, isTarpit } of portsWithFindings(rows)) {
      if (this.#written.add(port.host, portCode(port))) yield linesSafe(portRecord(port, findings, isTarpit));
    }
  }
}

/** Records that wait at once; those beyond it are written at the end. */
const maxWaiting = 8192;

function isProbed({ service, unidentified_reason, banner }: PortRow): boolean {
  return Boolean(service) || Boolean(unidentified_reason) || typeof banner === 'string';
}

/** Modules after which the record of a port is complete. */
const findPorts = [
  'arp_discovery',
  'icmp_discovery',
  'tcp_probe_discovery',
  'connect_scanner',
  'syn_scanner',
  'udp_scanner',
  'asset_profiler',
  'os_classifier',
  'device_classifier',
];
/** Modules that add the service to it. */
const findServices = [
  'banner_grabber',
  'http_parser',
  'ssh_parser',
  'smtp_parser',
  'ftp_parser',
  'tls_parser',
  'fingerprint_coordinator',
  'banner_fingerprinter',
  'http_fingerprinter',
  'tls_fingerprinter',
];

/** What may still be added to the row of an open port. Other modules may add findings, which come at the end. */
export function followingWork(stages: readonly StageRecord[]): 'nothing' | 'services' | 'findings' {
  const names = stages
    .filter(({ status }) => status !== 'skipped')
    .map(({ module_type }) => module_type)
    .filter((name) => !findPorts.includes(name) && !name.endsWith('_reporter'));
  if (names.some((name) => !findServices.includes(name))) return 'findings';
  return names.length > 0 ? 'services' : 'nothing';
}

/** Whether everything that services said so far was read by those who look for their products. */
function haveReadBanners(stages: readonly StageRecord[]): boolean {
  const working = stages.filter(({ status }) => status !== 'skipped');
  const said = working.find(({ module_type }) => module_type === 'banner_grabber')?.items_out ?? 0;
  return working
    .filter(({ module_type }) => module_type !== 'banner_grabber' && findServices.includes(module_type))
    .every(({ items_in, status }) => items_in >= said || status === 'failed' || status === 'completed');
}
