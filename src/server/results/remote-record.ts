import type { ResultRow, SummaryRow } from '../../domain/result.ts';
import type { ScanWarning } from '../../domain/scan.ts';
import { recordDamaged } from '../../scan-run/results/open-results.ts';
import { parseRow } from '../../workspace/record/row-line.ts';
import type { RecordDamage, RecordView, RowRecord } from '../../workspace/record/scan-record.ts';
import { bytesOf } from '../shards/call-owner.ts';

/** Requests a path of the API from the server that has the record. @throws PortolanError */
type ReadFromOwner = (url: string) => Promise<Response>;

/** The record of an ended scan on another server, read through its API. That server verifies it. */
export class RemoteRecord implements RowRecord {
  readonly #url: string;
  readonly #read: ReadFromOwner;

  constructor(scanId: string, read: ReadFromOwner) {
    this.#url = `/api/v1/scans/${scanId}`;
    this.#read = read;
  }

  async open(): Promise<RecordView> {
    return new RemoteView(this.#url, this.#read);
  }

  rows(): AsyncGenerator<ResultRow> {
    return new RemoteView(this.#url, this.#read).rows();
  }

  async runTime(): Promise<null> {
    return null;
  }

  async exists(): Promise<boolean> {
    return true;
  }

  async isRetired(): Promise<boolean> {
    return false;
  }
}

class RemoteView implements RecordView {
  /** The scan itself has its numbers. */
  readonly summary: SummaryRow | null = null;
  /** A page is a part of all rows. */
  readonly total = null;
  readonly exists = true;
  readonly #url: string;
  readonly #read: ReadFromOwner;
  #fault: RecordDamage | null = null;

  constructor(url: string, read: ReadFromOwner) {
    this.#url = url;
    this.#read = read;
  }

  get fault(): RecordDamage | null {
    return this.#fault;
  }

  accept(fault: RecordDamage | null): void {
    this.#fault = fault;
  }

  /** What the other server says with a page: it verifies a large record in the background. */
  async verify(): Promise<RecordDamage | null> {
    const response = await this.#read(`${this.#url}/records?limit=1`);
    const { data } = (await response.json()) as { data: { warnings: ScanWarning[] } };
    this.#fault = data.warnings.some(({ code }) => code === recordDamaged) ? 'damaged' : null;
    return this.#fault;
  }

  async verifyBehindPage(): Promise<RecordDamage | null> {
    return await this.verify();
  }

  /** The other server does, and cuts the connection at the first damage. */
  async verifyWhileReading(): Promise<RecordDamage | null> {
    return null;
  }

  async hasWholeSequence(): Promise<boolean> {
    return true;
  }

  /** Of a damaged record none are sure to be whole. */
  async *rows(damaged: 'readable' | 'none' = 'readable'): AsyncGenerator<ResultRow> {
    if (damaged === 'none' && this.#fault !== null) return;
    const { body } = await this.#read(`${this.#url}/results?format=jsonl`);
    for await (const line of linesOf(bytesOf(body))) {
      const row = parseRow(line);
      const isNote = row?.type === 'error' && row.code === recordDamaged;
      if (row !== null && row.type !== 'summary' && !isNote) yield row;
    }
  }

  async page(): Promise<null> {
    return null;
  }

  async close(): Promise<void> {
    // Nothing is open between two readings.
  }
}

async function* linesOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of pieces) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}
