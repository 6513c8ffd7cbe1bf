import { performance } from 'node:perf_hooks';
import type { PortCoverage } from '../domain/host.ts';
import type { Producer } from '../domain/producer.ts';
import type { StageRecord } from '../domain/scan.ts';
import { ContextStream, type Subscription } from './data/data-context.ts';
import type { PlannedNode } from './graph/plan.ts';

/**
 * Sees every item of every plain key once it is published; a returned promise blocks the producer.
 * @param plugin the plugin that published it
 */
export type Tap = (key: string, item: unknown, plugin: Producer | undefined) => Promise<void> | undefined;

/** A node's part of a checkpoint. A completed node that saves its state does not run again. */
export interface SavedState {
  completed: boolean;
  /** Last value of `progress` from the module: it only grows, so it shows whether a scan makes progress. */
  done: number;
  state: unknown;
  /** Coverage counted by then. */
  coverage?: PortCoverage | undefined;
}

/** One node of a running graph: its streams, its record and its activity. */
export class Node {
  readonly planned: PlannedNode;
  readonly stage: StageRecord;
  readonly channels = new Map<string, TappedChannel>();
  readonly subscriptions = new Map<string, Subscription>();
  /** Returns the state the module wants to save. */
  checkpoint: (() => unknown) | null = null;
  done = 0;
  /** Pending reads: a waiting node does not count as stalled. */
  waiting = 0;
  #begunAt = 0;
  #activeAt = performance.now();

  constructor(planned: PlannedNode, tap: Tap) {
    this.planned = planned;
    const { instanceId, definition } = planned;
    for (const key of definition.provides) {
      const instanceKey = `${definition.name}.${instanceId}.${key}`;
      this.channels.set(key, new TappedChannel(key, instanceKey, tap, definition.producer));
    }
    this.stage = {
      instance_id: instanceId,
      module_type: definition.name,
      version: definition.version,
      status: 'pending',
      started_at: null,
      completed_at: null,
      items_in: 0,
      items_out: 0,
      depends_on: [...planned.dependsOn],
      items_in_per_second: 0,
      items_out_per_second: 0,
      error: null,
    };
  }

  get id(): string {
    return this.planned.instanceId;
  }

  get ended(): boolean {
    return this.stage.status !== 'pending' && this.stage.status !== 'running';
  }

  get isReporter(): boolean {
    return this.planned.definition.type === 'reporter';
  }

  /** Items that wait to be read. */
  get queued(): number {
    return sumOf(this.subscriptions.values(), ({ backlog, itemsIn }) => backlog.pushed - itemsIn);
  }

  /** Nothing was read or written, so the execution can be repeated. */
  get untouched(): boolean {
    this.alive();
    return this.stage.items_in === 0 && this.stage.items_out === 0;
  }

  /** Milliseconds since the last activity. */
  get silentMs(): number {
    return performance.now() - this.#activeAt;
  }

  /** A required input key under which no data will arrive, or null. */
  get barrenInput(): string | null {
    const barren = this.planned.inputs.find((i) => i.required && this.subscriptions.get(i.key)?.neverComes);
    return barren?.key ?? null;
  }

  /** Channels of a plain or instance-scoped key. */
  channelsOf(key: string): ContextStream[] {
    return [...this.channels.values()].filter(
      (channel) => channel.key === key || channel.instanceKey === key,
    );
  }

  reads(channel: ContextStream): boolean {
    return [...this.subscriptions.values()].some(({ channels }) => channels.includes(channel));
  }

  /** Resolves when every required input has a first item, or has ended. */
  async started(): Promise<void> {
    const required = this.planned.inputs.filter((input) => input.required);
    await Promise.all(required.map((input) => this.subscriptions.get(input.key)?.backlog.started()));
  }

  cover(counts: PortCoverage): void {
    const sum = this.stage.coverage ?? { open: 0, closed: 0, filtered: 0, not_tried: 0 };
    for (const name of ['open', 'closed', 'filtered', 'not_tried'] as const) sum[name] += counts[name];
    this.stage.coverage = sum;
  }

  recount(counts: PortCoverage): void {
    this.stage.coverage = { ...counts };
  }

  begin(): void {
    this.stage.status = 'running';
    this.stage.started_at = new Date().toISOString();
    this.#begunAt = performance.now();
  }

  alive(): void {
    this.#activeAt = performance.now();
    this.stage.items_in = sumOf(this.subscriptions.values(), (subscription) => subscription.itemsIn);
    this.stage.items_out = sumOf(this.channels.values(), (channel) => channel.count);
  }

  /** Ends the node's streams; published items remain. */
  close(status: StageRecord['status'], error: string | null): void {
    this.alive();
    this.stage.status = status;
    this.stage.completed_at = this.#endTime();
    this.stage.error = error;
    for (const channel of this.channels.values()) channel.end(status !== 'completed');
    for (const subscription of this.subscriptions.values()) subscription.backlog.close();
  }

  /** Start time plus duration: setting the clock meanwhile changes no duration. */
  #endTime(): string {
    const { started_at } = this.stage;
    const end = started_at === null ? Date.now() : Date.parse(started_at) + performance.now() - this.#begunAt;
    return new Date(end).toISOString();
  }

  /** Makes every read of the node throw. */
  failInputs(reason: unknown): void {
    for (const subscription of this.subscriptions.values()) subscription.backlog.fail(reason);
  }

  /** State to save for the node, or null if its module saves nothing. */
  snapshot(): SavedState | null {
    if (this.checkpoint === null) return null;
    const completed = this.stage.status === 'completed';
    const { coverage } = this.stage;
    return {
      completed,
      done: this.done,
      state: completed ? null : this.checkpoint(),
      ...(coverage && { coverage: { ...coverage } }),
    };
  }
}

/** A channel whose items also go to the record of the scan. */
class TappedChannel extends ContextStream {
  readonly #tap: Tap;
  readonly #plugin: Producer | undefined;

  constructor(key: string, instanceKey: string, tap: Tap, plugin: Producer | undefined) {
    super(key, instanceKey);
    this.#tap = tap;
    this.#plugin = plugin;
  }

  /** Republishes an item that the record already has. */
  replay(item: unknown): Promise<unknown> | undefined {
    return super.append(item);
  }

  override append(item: unknown): Promise<unknown> | undefined {
    const wait = super.append(item);
    const recorded = this.#tap(this.key, item, this.#plugin);
    if (wait && recorded) return Promise.all([wait, recorded]);
    return wait ?? recorded;
  }
}

function sumOf<T>(items: Iterable<T>, figure: (item: T) => number): number {
  let sum = 0;
  for (const item of items) sum += figure(item);
  return sum;
}
