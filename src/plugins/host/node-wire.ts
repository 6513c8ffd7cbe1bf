import type { FrameOutput } from './frame-output.ts';
import type { HostWire, LogLevel } from './hosted-plugin.ts';
import { batchItems, batchMs, type NetRequest, type PulledItems } from './messages.ts';
import type { ScanCalls } from './scan-calls.ts';

/** A batch of this many characters is sent, however few its items are. */
const batchLength = 1024 ** 2;

/** Items of one key that wait for others. */
interface Batch {
  /** JSON of each item. */
  items: string[];
  length: number;
  timer: NodeJS.Timeout | null;
  /** The batch on its way to the scan; there is one at a time. */
  sending: Promise<unknown>;
}

/** What one node asks of the scan, over the pipe. */
export class NodeWire implements HostWire {
  readonly #node: string;
  readonly #calls: ScanCalls;
  readonly #output: FrameOutput;
  readonly #batches = new Map<string, Batch>();
  #failure: Error | null = null;

  constructor(node: string, calls: ScanCalls, output: FrameOutput) {
    this.#node = node;
    this.#calls = calls;
    this.#output = output;
  }

  async pull(key: string, complete = false): Promise<PulledItems> {
    const { value } = await this.#calls.call({ op: 'pull', node: this.#node, key, complete });
    return value as PulledItems;
  }

  async append(key: string, items: unknown[]): Promise<void> {
    await this.appendJson(
      key,
      items.map((item) => jsonOf(key, item)),
    );
  }

  async appendJson(key: string, items: readonly string[]): Promise<void> {
    const batch = this.#batchOf(key);
    for (const json of items) {
      batch.items.push(json);
      batch.length += json.length;
      if (batch.items.length >= batchItems || batch.length >= batchLength) await this.#send(key, batch);
    }
    if (this.#failure) throw this.#failure;
    if (batch.items.length > 0) batch.timer ??= setTimeout(() => this.#sendLater(key, batch), batchMs);
  }

  async set(key: string, value: unknown): Promise<void> {
    await this.#finish(key);
    jsonOf(key, value);
    await this.#calls.call({ op: 'set', node: this.#node, key, value });
  }

  async net(request: NetRequest, bytes?: Uint8Array): Promise<{ value: unknown; bytes: Buffer }> {
    return await this.#calls.call({ op: 'net', node: this.#node, request }, bytes);
  }

  log(level: LogLevel, message: string): void {
    this.#output.send({ op: 'log', node: this.#node, level, message });
  }

  progress(done: number, total?: number): void {
    this.#output.send({ op: 'progress', node: this.#node, done, total });
  }

  warn(code: string, message: string, target?: string): void {
    this.#output.send({ op: 'warn', node: this.#node, code, message, target });
  }

  /** Sends what still waits. @throws the first error of a batch */
  async finish(): Promise<void> {
    for (const key of this.#batches.keys()) await this.#finish(key);
  }

  #batchOf(key: string): Batch {
    const batch = this.#batches.get(key) ?? { items: [], length: 0, timer: null, sending: Promise.resolve() };
    this.#batches.set(key, batch);
    return batch;
  }

  /** Resolves when the batch is on its way, which the one before it must have completed. */
  async #send(key: string, batch: Batch): Promise<void> {
    await batch.sending;
    if (this.#failure) throw this.#failure;
    const { items } = batch;
    if (batch.timer) clearTimeout(batch.timer);
    Object.assign(batch, { items: [], length: 0, timer: null });
    if (items.length === 0) return;
    batch.sending = this.#calls.append(this.#node, key, items).catch((error: Error) => {
      this.#failure ??= error;
    });
  }

  #sendLater(key: string, batch: Batch): void {
    batch.timer = null;
    // The next append, or the end of the node, throws what failed.
    this.#send(key, batch).catch(() => undefined);
  }

  async #finish(key: string): Promise<void> {
    const batch = this.#batches.get(key);
    if (!batch) return;
    await this.#send(key, batch);
    await batch.sending;
    if (this.#failure) throw this.#failure;
  }
}

function jsonOf(key: string, item: unknown): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(item);
  } catch (error) {
    throw new Error(`an item of "${key}" is no JSON: ${(error as Error).message}`, { cause: error });
  }
  if (json === undefined) throw new Error(`an item of "${key}" is no JSON: it is ${typeof item}`);
  return json;
}
