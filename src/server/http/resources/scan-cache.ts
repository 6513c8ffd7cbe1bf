import { isFinal, type Scan } from '../../../domain/scan.ts';

/** Maximum number of scans in all cached responses; a list of fifty counts as fifty, an empty one as one. */
const maxHeldScans = 5000;
/** Targets and warnings of this many characters count as one more scan. */
const charactersOfScan = 2000;

interface Remembered {
  version: string;
  value: unknown;
  scans: number;
}

/**
 * Caches reads of the store until it changes. Reading and parsing fifty scans takes a hundred times as long as sending
 * their text, and most requests are the same.
 */
export class ScanCache {
  /** In LRU order, oldest first. */
  readonly #remembered = new Map<string, Remembered>();
  #scans = 0;
  #newest = '';

  /**
   * Result of `read` for this version of the store.
   * @param weigh scans that a value counts as
   */
  async read<T>(
    key: string,
    version: string,
    read: () => Promise<T>,
    weigh: (value: T) => number,
  ): Promise<T> {
    const known = this.#remembered.get(key);
    if (known?.version === version && key === this.#newest) return known.value as T;
    if (known) this.#forget(key, known);
    const entry =
      known?.version === version ? known : await this.#newEntry(version, read, (value) => weigh(value as T));
    this.#remember(key, entry);
    return entry.value as T;
  }

  async #newEntry(
    version: string,
    read: () => Promise<unknown>,
    weigh: (value: unknown) => number,
  ): Promise<Remembered> {
    const value = await read();
    return { version, value, scans: Math.max(1, weigh(value)) };
  }

  #remember(key: string, entry: Remembered): void {
    const other = this.#remembered.get(key);
    if (other) this.#forget(key, other);
    this.#remembered.set(key, entry);
    this.#newest = key;
    this.#scans += entry.scans;
    for (const [oldest, { scans }] of this.#remembered) {
      if (this.#scans <= maxHeldScans) return;
      this.#remembered.delete(oldest);
      this.#scans -= scans;
    }
  }

  #forget(key: string, { scans }: Remembered): void {
    this.#remembered.delete(key);
    this.#scans -= scans;
  }
}

/** Weighs a detail by size: ten thousand targets take a thousand times the memory of one. */
export function detailWeight({ targets, warnings }: Scan): number {
  let characters = 0;
  for (const target of targets) characters += target.length;
  for (const { message } of warnings) characters += message.length;
  return 1 + Math.floor(characters / charactersOfScan);
}

const texts = new WeakMap<ScanState, string>();

type ScanState = Pick<Scan, 'status'>;

/** The JSON text of a scan or of its item in a list, cached once the scan has ended. */
export function scanText(scan: ScanState): string {
  const known = texts.get(scan);
  if (known !== undefined) return known;
  const text = JSON.stringify(scan);
  if (isFinal(scan.status)) texts.set(scan, text);
  return text;
}
