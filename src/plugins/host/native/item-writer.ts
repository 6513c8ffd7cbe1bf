import { batchItems, batchMs } from '../messages.ts';
import { monotonicMs } from './exchange.ts';
import type { ThreadCalls } from './thread-calls.ts';

interface Batch {
  /** JSON of each item. */
  items: string[];
  characters: number;
  /** When its first item came, monotonic milliseconds. */
  since: number;
}

/** Characters of a batch, so that it stays far below the limit of a frame. */
const batchCharacters = 256 * 1024;

export type WriteOutcome = 'ok' | 'canceled' | 'failed';

/** What a node publishes, in batches. One batch is on its way at a time. */
export class ItemWriter {
  readonly #calls: ThreadCalls;
  readonly #batches = new Map<string, Batch>();
  #onItsWay: number | null = null;

  constructor(calls: ThreadCalls) {
    this.#calls = calls;
  }

  append(key: string, json: string): WriteOutcome {
    const value = this.#parse('append', key, json);
    if (value === undefined) return 'failed';
    const batch = this.#batchOf(key);
    if (Array.isArray(value)) for (const item of value) batch.items.push(JSON.stringify(item));
    else batch.items.push(json);
    batch.characters += json.length;
    if (batch.items.length < batchItems && batch.characters < batchCharacters) return this.flushOld();
    return this.#flush(key, batch);
  }

  set(key: string, json: string): WriteOutcome {
    if (this.#parse('set', key, json) === undefined) return 'failed';
    this.flush();
    const reply = this.#calls.wait(this.#calls.send({ op: 'set', key, text: json }));
    return this.#outcome(reply !== null);
  }

  /** Sends what has waited long enough. */
  flushOld(): WriteOutcome {
    if (this.#batches.size === 0) return 'ok';
    const oldest = monotonicMs() - batchMs;
    for (const [key, batch] of this.#batches) {
      if (batch.since > oldest) continue;
      const outcome = this.#flush(key, batch);
      if (outcome !== 'ok') return outcome;
    }
    return 'ok';
  }

  flush(): void {
    for (const [key, batch] of this.#batches) this.#flush(key, batch);
  }

  #batchOf(key: string): Batch {
    let batch = this.#batches.get(key);
    if (!batch) {
      batch = { items: [], characters: 0, since: monotonicMs() };
      this.#batches.set(key, batch);
    }
    return batch;
  }

  /** Sent even if the node is canceled: what was found is found. */
  #flush(key: string, batch: Batch): WriteOutcome {
    this.#batches.delete(key);
    const before = this.#onItsWay;
    const done = before === null || this.#calls.wait(before) !== null;
    if (batch.items.length > 0) {
      this.#onItsWay = this.#calls.send({ op: 'append', key, items: batch.items });
    }
    return this.#outcome(done);
  }

  #outcome(done: boolean): WriteOutcome {
    if (this.#calls.failure !== null) return 'failed';
    return done ? 'ok' : 'canceled';
  }

  #parse(called: string, key: string, json: string): unknown {
    try {
      return JSON.parse(json);
    } catch (error) {
      this.#calls.fail(`${called}("${key}"): not valid JSON: ${(error as Error).message}`);
      return undefined;
    }
  }
}
