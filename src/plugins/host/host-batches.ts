/**
 * Cuts the input streams of a plugin into batches. With one key a batch has the items as they arrive. With several keys
 * it has hosts whose inputs are complete, so that a plugin sees everything about a host in one call.
 */
export interface BatchLimits {
  /** Most hosts of one batch. */
  hosts: number;
  /** A batch ends once it has as many items; a host is not divided for it where several keys are joined. */
  items?: number;
  /** The same for their sizes together. */
  bytes?: number;
  /** Size of an item; by default the length of its JSON. */
  sizeOf?(item: unknown): number;
  /** How long the first host of a batch waits for others, milliseconds. */
  maxWaitMs: number;
}

/** Items by key; every key that is read is there. A `WholeValue` stands as it is in place of a list. */
export type InputBatch = Record<string, unknown>;

/** The value of a key that is no list: part of every batch that follows. */
export class WholeValue {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

/** Text of the items that wait for another key of their host; above it the node fails. */
const maxJoinedBytes = 128 * 1024 ** 2;
/** Keys with one item per host: their part of a host is complete once it has come. */
const onePerHost = new Set(['discovered_hosts', 'asset_profiles']);

/**
 * Reads every input once. Waits for its reader: no more than one batch is complete in advance. A host of several keys
 * is complete once every key has ended or, where it has one item per host, delivered it; what comes for a host later
 * is in a batch of its own. Items without a host count as one host.
 * @throws what an input throws; Error if joined items take too much memory
 */
export async function* hostBatches(
  inputs: Readonly<Record<string, AsyncIterable<unknown>>>,
  limits: BatchLimits,
): AsyncGenerator<InputBatch, void, undefined> {
  const batcher = new HostBatcher(Object.keys(inputs), limits);
  const iterators = Object.entries(inputs).map(([key, items]) => {
    const iterator = items[Symbol.asyncIterator]();
    void batcher.read(key, iterator);
    return iterator;
  });
  try {
    for (let batch = await batcher.next(); batch; batch = await batcher.next()) yield batch;
  } finally {
    batcher.close();
    for (const iterator of iterators) void iterator.return?.()?.then(undefined, () => undefined);
  }
}

/** `host`, else `ip`, else `value` of a target; empty if the item names none. */
export function hostOf(item: unknown): string {
  if (typeof item !== 'object' || item === null) return '';
  const { host, ip, value } = item as Record<string, unknown>;
  const name = host ?? ip ?? value;
  return typeof name === 'string' ? name : '';
}

function jsonLength(item: unknown): number {
  return JSON.stringify(item)?.length ?? 0;
}

interface HostInputs {
  items: Map<string, unknown[]>;
  count: number;
  bytes: number;
}

class HostBatcher {
  readonly #keys: string[];
  readonly #limits: Required<BatchLimits>;
  readonly #isMeasured: boolean;
  /** By host; inputs that wait for another key. */
  readonly #waiting = new Map<string, HostInputs>();
  /** By host; complete inputs. */
  readonly #ready = new Map<string, HostInputs>();
  readonly #ended = new Set<string>();
  readonly #values = new Map<string, unknown>();
  /** A value came and no batch had it yet. */
  #newValue = false;
  #readyItems = 0;
  #readyBytes = 0;
  #waitingBytes = 0;
  #failure: { error: unknown } | null = null;
  #closed = false;
  /** The first host of the next batch waited long enough. */
  #due = false;
  #timer: NodeJS.Timeout | undefined;
  #wakeReader: (() => void) | null = null;
  #room: (() => void)[] = [];

  constructor(keys: string[], limits: BatchLimits) {
    this.#keys = keys;
    const { POSITIVE_INFINITY } = Number;
    this.#limits = { items: POSITIVE_INFINITY, bytes: POSITIVE_INFINITY, sizeOf: jsonLength, ...limits };
    this.#isMeasured = keys.length > 1 || limits.bytes !== undefined;
  }

  /** Never rejects: an error ends the batches. */
  async read(key: string, items: AsyncIterator<unknown>): Promise<void> {
    try {
      for (let next = await items.next(); !next.done; next = await items.next()) {
        this.#add(key, next.value);
        while (this.#isFull() && !this.#closed)
          await new Promise<void>((resolve) => this.#room.push(resolve));
      }
      this.#end(key);
    } catch (error) {
      this.#failure ??= { error };
    }
    this.#wakeReader?.();
  }

  /** The next batch, or null after the last one. */
  async next(): Promise<InputBatch | null> {
    for (;;) {
      if (this.#failure) throw this.#failure.error;
      const over = this.#ended.size === this.#keys.length;
      if (this.#isFull() || (this.#due && this.#ready.size > 0) || (over && this.#ready.size > 0)) {
        return this.#take();
      }
      if (over) return this.#newValue ? this.#take() : null;
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    }
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#makeRoom();
  }

  #isFull(): boolean {
    return this.#reaches(this.#ready.size, this.#readyItems, this.#readyBytes);
  }

  #reaches(hosts: number, items: number, bytes: number): boolean {
    return hosts >= this.#limits.hosts || items >= this.#limits.items || bytes >= this.#limits.bytes;
  }

  #add(key: string, item: unknown): void {
    if (item instanceof WholeValue) {
      this.#values.set(key, item.value);
      this.#newValue = true;
      return;
    }
    const host = hostOf(item);
    const ready = this.#ready.get(host);
    const inputs = ready ?? this.#waiting.get(host) ?? { items: new Map(), count: 0, bytes: 0 };
    const items = inputs.items.get(key);
    if (items) items.push(item);
    else inputs.items.set(key, [item]);
    const bytes = this.#isMeasured ? this.#limits.sizeOf(item) : 0;
    inputs.count += 1;
    inputs.bytes += bytes;
    if (ready) {
      this.#readyItems += 1;
      this.#readyBytes += bytes;
    } else {
      this.#waitingBytes += bytes;
      if (this.#isComplete(inputs)) this.#complete(host, inputs);
      else this.#hold(host, inputs);
    }
    if (this.#isFull()) this.#wakeReader?.();
  }

  #isComplete(inputs: HostInputs): boolean {
    if (this.#keys.length === 1) return true;
    return this.#keys.every((key) => this.#ended.has(key) || (onePerHost.has(key) && inputs.items.has(key)));
  }

  #hold(host: string, inputs: HostInputs): void {
    this.#waiting.set(host, inputs);
    if (this.#waitingBytes > maxJoinedBytes) {
      throw new Error(
        `inputs of hosts that wait for ${this.#keys.join(', ')} take more than ${maxJoinedBytes} bytes`,
      );
    }
  }

  #complete(host: string, inputs: HostInputs): void {
    this.#waiting.delete(host);
    this.#waitingBytes -= inputs.bytes;
    if (this.#ready.size === 0) {
      this.#timer = setTimeout(() => {
        this.#due = true;
        this.#wakeReader?.();
      }, this.#limits.maxWaitMs);
    }
    this.#ready.set(host, inputs);
    this.#readyItems += inputs.count;
    this.#readyBytes += inputs.bytes;
  }

  #end(key: string): void {
    this.#ended.add(key);
    for (const [host, inputs] of this.#waiting) {
      if (this.#isComplete(inputs)) this.#complete(host, inputs);
    }
  }

  #take(): InputBatch {
    const batch = new Map<string, unknown[]>(this.#keys.map((key) => [key, []]));
    let hosts = 0;
    let items = 0;
    let bytes = 0;
    for (const [host, inputs] of this.#ready) {
      if (this.#reaches(hosts, items, bytes)) break;
      for (const [key, values] of inputs.items) for (const value of values) batch.get(key)?.push(value);
      this.#ready.delete(host);
      hosts += 1;
      items += inputs.count;
      bytes += inputs.bytes;
    }
    this.#readyItems -= items;
    this.#readyBytes -= bytes;
    clearTimeout(this.#timer);
    // Hosts that are left came long before: they do not wait again.
    this.#due = this.#ready.size > 0;
    this.#newValue = false;
    this.#makeRoom();
    return Object.fromEntries([...batch, ...this.#values]);
  }

  #makeRoom(): void {
    for (const wake of this.#room.splice(0)) wake();
  }
}
