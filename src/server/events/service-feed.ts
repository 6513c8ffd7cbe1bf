import { setTimeout as sleep } from 'node:timers/promises';
import type { TokenScope } from '../../actions/access/verify-token.ts';
import { EventRing, type ServiceEvent, type ServiceEventName } from './event-ring.ts';

/** Poll interval of the sources while somebody reads, milliseconds. */
const pollMs = 250;

/** Where sources report what changed. */
export interface EventSink {
  /** An event that every reader gets, in order. @param needs only tokens with this scope get it */
  emit(event: ServiceEventName, data: object, needs?: TokenScope): void;
  /** The newest value under a key: a slow reader gets only the last one. */
  setLatest(key: string, event: ServiceEventName, data: object): void;
  dropLatest(key: string): void;
}

/** Finds what changed since its last poll. The first poll reads the state and emits nothing. */
export interface ChangeSource {
  poll(sink: EventSink): Promise<void>;
}

/** A value that replaces its predecessor. */
export interface LatestValue {
  version: number;
  event: ServiceEventName;
  data: string;
}

/** Events of the service as one tenant sees them, read once for all its readers. */
export class ServiceFeed implements EventSink {
  readonly ring: EventRing;
  readonly #sources: readonly ChangeSource[];
  readonly #onFault: (error: unknown) => void;
  readonly #waiting = new Set<() => void>();
  /** By key, in order of their versions. */
  readonly #latest = new Map<string, LatestValue>();
  #version = 0;
  #changes = 0;
  #readers = 0;
  /** First poll since somebody reads. */
  #first: Promise<void> | null = null;
  #polling: Promise<void> = Promise.resolve();
  /** When the last reader left, `performance.now()`. */
  #leftAt = performance.now();

  constructor(sources: readonly ChangeSource[], onFault: (error: unknown) => void, ring = new EventRing()) {
    this.#sources = sources;
    this.#onFault = onFault;
    this.ring = ring;
  }

  /** Since when nobody reads, `performance.now()`; null while somebody does. */
  get idleSince(): number | null {
    return this.#readers > 0 ? null : this.#leftAt;
  }

  /** Adds a reader; resolves when the state is known. @returns a function to call when it leaves; idempotent */
  async join(): Promise<() => void> {
    this.#readers += 1;
    if (this.#readers === 1) {
      this.#first = this.#poll();
      void this.#keepPolling(this.#first);
    }
    await this.#first;
    let joined = true;
    return () => {
      if (joined) this.#leave();
      joined = false;
    };
  }

  #leave(): void {
    this.#readers -= 1;
    if (this.#readers > 0) return;
    this.#leftAt = performance.now();
    this.#wake();
  }

  emit(event: ServiceEventName, data: object, needs?: TokenScope): void {
    this.ring.push(event, JSON.stringify(data), needs ?? null);
    this.#wake();
  }

  setLatest(key: string, event: ServiceEventName, data: object): void {
    const text = JSON.stringify(data);
    if (this.#latest.get(key)?.data === text) return;
    this.#latest.delete(key);
    this.#version += 1;
    this.#latest.set(key, { version: this.#version, event, data: text });
    this.#wake();
  }

  dropLatest(key: string): void {
    this.#latest.delete(key);
  }

  /** The oldest value that is newer than a version. */
  latestAfter(version: number): LatestValue | null {
    if (version >= this.#version) return null;
    for (const value of this.#latest.values()) if (value.version > version) return value;
    return null;
  }

  /** Grows with each change. */
  get changes(): number {
    return this.#changes;
  }

  /** Resolves at a change after `seen`, or on abort. */
  async changed(seen: number, signal: AbortSignal): Promise<void> {
    if (this.#changes > seen || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        signal.removeEventListener('abort', done);
        this.#waiting.delete(done);
        resolve();
      };
      signal.addEventListener('abort', done);
      this.#waiting.add(done);
    });
  }

  #wake(): void {
    this.#changes += 1;
    for (const wake of this.#waiting) wake();
  }

  async #keepPolling(first: Promise<void>): Promise<void> {
    await first;
    // A reader that joins after all had left begins polling anew.
    const isWanted = () => this.#readers > 0 && this.#first === first;
    while (isWanted()) {
      await sleep(pollMs, undefined, { ref: false });
      if (isWanted()) await this.#poll();
    }
  }

  /** One poll at a time. */
  #poll(): Promise<void> {
    this.#polling = this.#polling.then(async () => {
      for (const source of this.#sources) await source.poll(this).catch(this.#onFault);
    });
    return this.#polling;
  }
}

/** Events of the ring that a token may read. */
export function permitted(
  events: readonly ServiceEvent[],
  holds: (scope: TokenScope) => boolean,
): ServiceEvent[] {
  return events.filter(({ needs }) => needs === null || holds(needs));
}
