import type { Protocol } from '../../domain/host.ts';
import type { Producer } from '../../domain/producer.ts';
import { type ExtraRow, rowIdentity } from '../../domain/result.ts';
import type { ScanWarning } from '../../domain/scan.ts';
import { canonicalAddress } from '../../domain/targets/address.ts';
import { jsonText } from '../../workspace/record/row-line.ts';

/** Largest value of an extra row, bytes of JSON. */
const maxValueBytes = 64 * 1024;
/** Maximum number of extra rows of a scan. */
const maxRows = 10_000;
/** Maximum size of all their values, bytes. */
const maxBytes = 64 * 1024 * 1024;

/** The extra rows of one scan: how many there are, and which are recorded. */
export class ExtraRows {
  readonly #onWarning: (warning: ScanWarning) => void;
  readonly #recorded = new Set<string>();
  readonly #warned = new Set<string>();
  #bytes = 0;

  constructor(onWarning: (warning: ScanWarning) => void) {
    this.#onWarning = onWarning;
  }

  /** The row of an item; null if it is recorded already, or exceeds a limit. */
  rowOf(key: string, value: unknown, plugin: Producer | undefined): ExtraRow | null {
    const text = textOf(value);
    if (text === null) return this.#drop(key, 'that are not JSON');
    const bytes = Buffer.byteLength(text);
    if (bytes > maxValueBytes) return this.#drop(key, `above ${maxValueBytes / 1024} KiB`);
    if (this.#recorded.size >= maxRows || this.#bytes + bytes > maxBytes)
      return this.#drop(key, `beyond the first ${this.#recorded.size} of the scan`);
    // As it will be read back: a resumed scan recognizes it.
    const row = extraRow(key, JSON.parse(text), plugin);
    if (this.#recorded.has(rowIdentity(row))) return null;
    this.#count(row, bytes);
    return row;
  }

  /** Counts a row of an interrupted run. */
  recall(row: ExtraRow): void {
    this.#count(row, Buffer.byteLength(textOf(row.value) ?? ''));
  }

  #count(row: ExtraRow, bytes: number): void {
    this.#recorded.add(rowIdentity(row));
    this.#bytes += bytes;
  }

  #drop(key: string, which: string): null {
    const message = `values of "${key}" ${which} are not recorded`;
    if (!this.#warned.has(key)) this.#onWarning({ code: 'extra_not_recorded', message });
    this.#warned.add(key);
    return null;
  }
}

function textOf(value: unknown): string | null {
  if (value === undefined) return null;
  try {
    return jsonText(value);
  } catch {
    return null;
  }
}

/** Host, port and protocol stand in the row if the item names them as standard items do. */
function extraRow(key: string, value: unknown, plugin: Producer | undefined): ExtraRow {
  const { host, ip, port, protocol } = (value ?? {}) as Record<string, unknown>;
  const named = host ?? ip;
  const address = typeof named === 'string' ? canonicalAddress(named) : null;
  return {
    type: 'extra',
    timestamp: new Date().toISOString(),
    host: address,
    key,
    ...(address !== null && isPort(port) && { port, ...(isProtocol(protocol) && { protocol }) }),
    value,
    ...(plugin && { producer: plugin }),
  };
}

function isPort(port: unknown): port is number {
  return Number.isInteger(port) && (port as number) > 0 && (port as number) < 65_536;
}

function isProtocol(protocol: unknown): protocol is Protocol {
  return protocol === 'tcp' || protocol === 'udp';
}
