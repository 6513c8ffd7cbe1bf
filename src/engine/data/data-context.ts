import type { Host, Port } from '../../domain/host.ts';
import type { Fingerprint } from '../../domain/service.ts';
import type { Target } from '../../domain/targets/target.ts';
import type { Banner } from '../../domain/text/banner.ts';
import type { DataContext } from '../module.ts';
import { Backlog } from './backlog.ts';
import { dataKeys, isStandardKey, itemIdentity, mergeRecords, type StandardKey } from './data-keys.ts';

/** No upstream node produces the key, or all producers failed before they published anything. */
export class MissingKeyError extends Error {
  readonly key: string;
  constructor(key: string, why: string) {
    super(`no data under "${key}": ${why}`);
    this.name = 'MissingKeyError';
    this.key = key;
  }
}

/** The value under a key does not have the requested type. */
export class TypeMismatchError extends Error {
  readonly key: string;
  constructor(key: string, expected: string, found: string) {
    super(`"${key}" is not ${expected}: ${found}`);
    this.name = 'TypeMismatchError';
    this.key = key;
  }
}

/** The items one node publishes under one key. */
export class ContextStream {
  readonly key: string;
  /** `<module_type>.<instance_id>.<output>` */
  readonly instanceKey: string;
  readonly #subscriptions: Subscription[] = [];
  #ended = false;
  count = 0;
  /** A value written by `set` that is not a list. */
  single: { value: unknown } | null = null;

  constructor(key: string, instanceKey: string) {
    this.key = key;
    this.instanceKey = instanceKey;
  }

  subscribe(subscription: Subscription): void {
    this.#subscriptions.push(subscription);
  }

  get ended(): boolean {
    return this.#ended;
  }

  append(item: unknown): Promise<unknown> | undefined {
    if (this.#ended) throw new Error(`"${this.instanceKey}" has ended and accepts no further items`);
    this.count++;
    let waits: Promise<void>[] | undefined;
    for (const subscription of this.#subscriptions) {
      const wait = subscription.push(item);
      if (wait) (waits ??= []).push(wait);
    }
    return waits && Promise.all(waits);
  }

  end(failed: boolean): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const subscription of this.#subscriptions) subscription.sourceEnded(this.count === 0 && failed);
  }
}

/** Subscription of one node to one key: all items its ancestors publish there. */
export class Subscription {
  readonly key: string;
  readonly channels: ContextStream[];
  readonly backlog: Backlog<unknown>;
  readonly #seen: Set<string> | null;
  #sources: number;
  #openSources: number;
  #barrenSources = 0;
  taken = false;
  itemsIn = 0;

  /** @param repeats an item may arrive twice from one channel, because the scan was resumed */
  constructor(key: string, channels: ContextStream[], backlog: Backlog<unknown>, repeats: boolean) {
    this.key = key;
    this.channels = channels;
    this.backlog = backlog;
    this.#sources = channels.length;
    this.#openSources = channels.length;
    const causesPackets = isStandardKey(key) && dataKeys[key].work;
    this.#seen = causesPackets && (repeats || channels.length > 1) ? new Set() : null;
    for (const channel of channels) channel.subscribe(this);
  }

  push(item: unknown): Promise<void> | undefined {
    if (this.#seen) {
      const identity = itemIdentity(this.key, item) ?? '';
      if (this.#seen.has(identity)) return undefined;
      this.#seen.add(identity);
    }
    return this.backlog.push(item);
  }

  /** Announces a source beside the channels; its items are pushed, and its end is announced like that of a channel. */
  addSource(): void {
    this.#sources++;
    this.#openSources++;
  }

  sourceEnded(barren: boolean): void {
    if (barren) this.#barrenSources++;
    if (--this.#openSources === 0) this.backlog.end();
  }

  /** Every producer failed or was skipped before it published anything. */
  get neverComes(): boolean {
    return this.#openSources === 0 && this.#barrenSources === this.#sources;
  }
}

export interface NodeDataOptions {
  /** Plain keys this node may read: required, optional and from `consumes`. */
  subscriptions: Map<string, Subscription>;
  /** Keys this node may write. */
  channels: Map<string, ContextStream>;
  /** Called for every item read or written, as a heartbeat of the node. */
  onActivity: () => void;
  /** Called with +1 before and -1 after waiting for input. */
  onWait: (change: 1 | -1) => void;
  /** Of a plugin: what it publishes is checked first. */
  guard?: OutputGuard | undefined;
}

/** Stands between a plugin and the streams that it writes. */
export interface OutputGuard {
  /** The items to publish of a batch. @throws for one that must not be; then nothing of the batch is published */
  accept(key: string, items: readonly unknown[]): unknown[];
  /** Ends the node, also if its module ignores the error. */
  fail(error: unknown): void;
  /** The node has ended: reports what was dropped. */
  end(): void;
}

/** One node's view of the shared data. */
export class NodeData implements DataContext {
  readonly #options: NodeDataOptions;
  readonly #complete = new Map<string, Promise<unknown>>();
  /** Why nothing more of a plugin is published. */
  #rejected: { error: unknown } | null = null;

  constructor(options: NodeDataOptions) {
    this.#options = options;
  }

  has(key: string): boolean {
    return this.#options.subscriptions.has(key);
  }

  keys(): string[] {
    return [...this.#options.subscriptions.keys()];
  }

  get<T>(key: string): Promise<T> {
    let value = this.#complete.get(key);
    if (!value) {
      value = this.#collect(key);
      this.#complete.set(key, value);
    }
    return value as Promise<T>;
  }

  async *stream<T>(key: string): AsyncGenerator<T, void, undefined> {
    const subscription = this.#subscription(key);
    if (subscription.taken) throw new Error(`"${key}" was already read; a node can read a stream only once`);
    subscription.taken = true;
    for (;;) {
      this.#options.onWait(1);
      const next = await subscription.backlog.next().finally(() => this.#options.onWait(-1));
      if (next.done) break;
      subscription.itemsIn++;
      this.#options.onActivity();
      yield next.value as T;
    }
    if (subscription.neverComes) throw new MissingKeyError(key, 'its producers failed or were skipped');
  }

  async append<T>(key: string, ...items: T[]): Promise<void> {
    const { channel, accepted } = this.#admit(key, items);
    for (const item of accepted) {
      assertRecord(key, item);
      this.#options.onActivity();
      const wait = channel.append(item);
      if (wait) await wait;
    }
  }

  async set<T>(key: string, value: T): Promise<void> {
    const { channel } = this.#admit(key, []);
    if (Array.isArray(value)) await this.append(key, ...value);
    else {
      for (const single of this.#admit(key, [value]).accepted) {
        channel.single = { value: single };
        await channel.append(single);
      }
    }
    channel.end(false);
  }

  getTargets(key: string): Promise<Target[]> {
    return this.#typed(key, 'targets', 'targets');
  }
  getHosts(key: string): Promise<Host[]> {
    return this.#typed(key, 'discovered_hosts', 'hosts');
  }
  getPorts(key: string): Promise<Port[]> {
    return this.#typed(key, 'open_ports', 'ports');
  }
  getBanners(key: string): Promise<Banner[]> {
    return this.#typed(key, 'banners', 'banners');
  }
  getFingerprints(key: string): Promise<Fingerprint[]> {
    return this.#typed(key, 'service_fingerprints', 'fingerprints');
  }

  async #typed<T>(key: string, standard: StandardKey, expected: string): Promise<T[]> {
    const value = await this.get<unknown>(key);
    if (!Array.isArray(value)) throw new TypeMismatchError(key, expected, `it is ${typeof value}`);
    for (const item of value) {
      const missing = missingField(standard, item);
      if (missing) throw new TypeMismatchError(key, expected, missing);
    }
    return value as T[];
  }

  async #collect(key: string): Promise<unknown> {
    const records = new Map<string, unknown>();
    const plain: unknown[] = [];
    for await (const item of this.stream(key)) {
      const identity = itemIdentity(key, item);
      if (identity === null) plain.push(item);
      else records.set(identity, records.has(identity) ? mergeRecords(records.get(identity), item) : item);
    }
    const single = this.#subscription(key).channels.find((channel) => channel.single)?.single;
    return single ? single.value : [...records.values(), ...plain];
  }

  /** The channel of a key, and the items that may enter it. */
  #admit(key: string, items: readonly unknown[]): { channel: ContextStream; accepted: readonly unknown[] } {
    const { guard } = this.#options;
    if (!guard) return { channel: this.#channel(key), accepted: items };
    if (this.#rejected) throw this.#rejected.error;
    try {
      return { channel: this.#channel(key), accepted: guard.accept(key, items) };
    } catch (error) {
      this.#rejected = { error };
      guard.fail(error);
      throw error;
    }
  }

  /** The node has ended. */
  end(): void {
    this.#options.guard?.end();
  }

  #subscription(key: string): Subscription {
    const subscription = this.#options.subscriptions.get(key);
    if (!subscription) throw new MissingKeyError(key, 'no upstream node provides it');
    return subscription;
  }

  #channel(key: string): ContextStream {
    const channel = this.#options.channels.get(key);
    if (!channel) throw new Error(`this module does not declare "${key}" in the keys it provides`);
    return channel;
  }
}

function assertRecord(key: string, item: unknown): void {
  if (!isStandardKey(key)) return;
  const missing = missingField(key, item);
  if (missing) throw new TypeMismatchError(key, 'such a record', missing);
}

function missingField(key: StandardKey, item: unknown): string | null {
  if (typeof item !== 'object' || item === null) return `an item is ${item === null ? 'null' : typeof item}`;
  for (const name of dataKeys[key].required) {
    if ((item as Record<string, unknown>)[name] === undefined) return `an item has no "${name}"`;
  }
  return null;
}

/** A backlog whose spill file is created in `spillDir` if needed. */
export function newSubscription(
  key: string,
  channels: ContextStream[],
  options: { limit: number; spillDir: string; repeats: boolean },
): Subscription {
  const backlog = new Backlog<unknown>(options.limit, options.spillDir);
  return new Subscription(key, channels, backlog, options.repeats);
}
