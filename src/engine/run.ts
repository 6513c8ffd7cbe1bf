import { tmpdir } from 'node:os';
import { performance } from 'node:perf_hooks';
import type { StageRecord } from '../domain/scan.ts';
import type { Target } from '../domain/target.ts';
import type { NetworkGate } from '../net/gate.ts';
import { Channel, NodeData, newSubscription, type Subscription } from './data-context.ts';
import type { ExecContext, Logger, Module, ResultSource } from './module.ts';
import { requireOptions } from './options.ts';
import type { Plan, PlannedNode } from './plan.ts';

/** A module that is still silent this long after it was told to stop is left behind. */
const abandonAfterMs = 2000;

export interface RunEnvironment {
  scanId: string;
  targets: Target[];
  net: NetworkGate;
  log: Logger;
  results: ResultSource;
  /** Cancel of the whole scan; its reason becomes the reason of every node. */
  signal: AbortSignal;
  /** Items a stream holds before its producer waits. */
  streamBuffer: number;
  maxParallelNodes: number;
  failFast: boolean;
  /** A node without any sign of life for this long fails; 0 = never. */
  stallTimeoutMs: number;
  /** Sees every item of every plain key once it is published; a promise holds the producer back. */
  tap: (key: string, item: unknown) => Promise<void> | undefined;
  /** Called when everything but the reporters has ended, before they start. */
  beforeReporters: () => Promise<void>;
  onWarning: (warning: { code: string; message: string; node?: string; target?: string }) => void;
  onProgress: (instanceId: string, done: number, total: number | undefined) => void;
  /** What an interrupted run of this scan left behind; null at the first start. */
  earlier: EarlierRun | null;
}

/** What is known of the run before. */
export interface EarlierRun {
  /** Saved states by instance id. */
  states: ReadonlyMap<string, SavedState>;
  /** Items that were published under a key and are durable. */
  items(key: string): AsyncIterable<unknown>;
  /** True when the outcome of this piece of work is durable. */
  has(key: string, record: object): boolean;
}

/** A node's part of a checkpoint. A node that saves its state and completed is not run again. */
export interface SavedState {
  completed: boolean;
  /** Last figure that the module gave to `progress`: it grows, so it tells a scan that gets on from one that does not. */
  done: number;
  state: unknown;
}

export interface GraphRun {
  /** Live records, one a node, in the order of the plan. */
  stages: StageRecord[];
  /** Resolves when every node has ended; never rejects for what a module does. */
  finished: Promise<void>;
  /** How far every node is that saves its state, by instance id. */
  snapshot(): Record<string, SavedState>;
}

/** Runs a planned graph: every node at once, connected by streams with backpressure. */
export function runGraph(plan: Plan, environment: RunEnvironment): GraphRun {
  const run = new Run(plan, environment);
  return { stages: run.stages, finished: run.execute(), snapshot: () => run.snapshot() };
}

interface NodeState {
  node: PlannedNode;
  stage: StageRecord;
  channels: Map<string, Channel>;
  subscriptions: Map<string, Subscription>;
  /** Gives what the module wants to have saved. */
  checkpoint: (() => unknown) | null;
  done: number;
  /** Monotonic time of the last sign of life. */
  activeAt: number;
  /** Reads that wait for input: a waiting node does not stall. */
  waiting: number;
}

class Run {
  readonly #environment: RunEnvironment;
  readonly #states = new Map<string, NodeState>();
  /** The node that hands on what the run before published under a key. */
  readonly #replayers = new Map<string, NodeState>();
  readonly #slots: Slots;
  readonly #stop = new AbortController();
  readonly #targets: Channel;

  constructor(plan: Plan, environment: RunEnvironment) {
    this.#environment = environment;
    this.#slots = new Slots(environment.maxParallelNodes);
    this.#targets = new Channel('targets', 'targets');
    for (const node of plan.nodes) this.#states.set(node.instanceId, this.#prepare(node));
    for (const state of this.#states.values()) this.#connect(state);
    if (environment.earlier) this.#chooseReplayers();
  }

  /** The first running producer of each key stands for all producers of the run before. */
  #chooseReplayers(): void {
    for (const state of this.#states.values()) {
      if (state.node.skipped) continue;
      for (const key of state.channels.keys()) if (!this.#replayers.has(key)) this.#replayers.set(key, state);
    }
  }

  snapshot(): Record<string, SavedState> {
    const states: Record<string, SavedState> = {};
    for (const [id, { stage, checkpoint, done }] of this.#states) {
      if (checkpoint === null) continue;
      const completed = stage.status === 'completed';
      states[id] = { completed, done, state: completed ? null : checkpoint() };
    }
    return states;
  }

  get stages(): StageRecord[] {
    return [...this.#states.values()].map((state) => state.stage);
  }

  async execute(): Promise<void> {
    const { signal } = this.#environment;
    const abort = () => this.#abort(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    const [reporters, workers] = partition([...this.#states.values()], isReporter);
    const working = Promise.all(workers.map((state) => this.#runNode(state)));
    await this.#publishTargets();
    await working;
    await this.#environment.beforeReporters();
    await Promise.all(reporters.map((state) => this.#runNode(state)));
    signal.removeEventListener('abort', abort);
  }

  #prepare(node: PlannedNode): NodeState {
    const channels = new Map<string, Channel>();
    for (const key of node.definition.provides) {
      channels.set(
        key,
        new TappedChannel(key, `${node.definition.name}.${node.instanceId}.${key}`, this.#environment.tap),
      );
    }
    const stage: StageRecord = {
      instance_id: node.instanceId,
      module_type: node.definition.name,
      status: 'pending',
      started_at: null,
      completed_at: null,
      items_in: 0,
      items_out: 0,
      error: null,
    };
    return {
      node,
      stage,
      channels,
      subscriptions: new Map(),
      checkpoint: null,
      done: 0,
      activeAt: 0,
      waiting: 0,
    };
  }

  #connect(state: NodeState): void {
    if (state.node.skipped) return;
    for (const input of state.node.inputs) {
      const channels = input.producers.flatMap((id) => this.#channelsOf(id, input.key));
      const subscription = newSubscription(input.key, channels, {
        limit: this.#environment.streamBuffer,
        spillDir: tmpdir(),
        repeats: this.#environment.earlier !== null,
      });
      state.subscriptions.set(input.key, subscription);
    }
  }

  #channelsOf(producer: string, key: string): Channel[] {
    if (producer === '') return [this.#targets];
    const channels = [...(this.#states.get(producer)?.channels.values() ?? [])];
    return channels.filter((channel) => channel.key === key || channel.instanceKey === key);
  }

  async #publishTargets(): Promise<void> {
    for (const target of this.#environment.targets) await this.#targets.append(target);
    this.#targets.end(false);
  }

  async #runNode(state: NodeState): Promise<void> {
    try {
      await this.#awaitStart(state);
      const reason = this.#reasonToSkip(state);
      if (reason) this.#close(state, 'skipped', reason);
      else await this.#slots.use(() => this.#attempt(state));
    } catch (error) {
      this.#fail(state, error);
    }
  }

  /** Every required input has a first item, or has ended. */
  async #awaitStart(state: NodeState): Promise<void> {
    if (state.node.skipped || isReporter(state)) return;
    const required = state.node.inputs.filter((input) => input.required);
    await Promise.all(required.map((input) => state.subscriptions.get(input.key)?.backlog.started()));
  }

  #reasonToSkip(state: NodeState): string | null {
    if (state.node.skipped) return state.node.skipped;
    if (isReporter(state)) return null;
    if (this.#environment.signal.aborted || this.#stop.signal.aborted) return 'the scan was stopped';
    const barren = state.node.inputs.find((i) => i.required && state.subscriptions.get(i.key)?.neverComes);
    return barren ? `no data will come under "${barren.key}"` : null;
  }

  async #attempt(state: NodeState): Promise<void> {
    const { node, stage } = state;
    stage.status = 'running';
    stage.started_at = new Date().toISOString();
    await this.#replay(state);
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#executeOnce(state);
        return this.#close(state, 'completed', null);
      } catch (error) {
        // A stream cannot be read twice, so only an attempt that touched nothing can be repeated.
        const untouched = this.#itemsIn(state) === 0 && this.#itemsOut(state) === 0;
        const aborted = this.#environment.signal.aborted || this.#stop.signal.aborted;
        if (attempt >= node.retry.attempts || !untouched || aborted) return this.#fail(state, error);
        await new Promise((resolve) => setTimeout(resolve, node.retry.backoffMs * attempt));
      }
    }
  }

  /** Publishes again what the run before published, for the nodes that read it; the record has it already. */
  async #replay(state: NodeState): Promise<void> {
    const { earlier } = this.#environment;
    if (!earlier) return;
    for (const [key, channel] of state.channels) {
      if (this.#replayers.get(key) !== state) continue;
      for await (const item of earlier.items(key)) {
        if (this.#environment.signal.aborted) return;
        await (channel as TappedChannel).replay(item);
      }
    }
  }

  async #executeOnce(state: NodeState): Promise<void> {
    const { node } = state;
    if (this.#wasCompleted(state)) return;
    const module = node.definition.create();
    const abort = new AbortController();
    const context = this.#context(state, abort.signal);
    const data = new NodeData({
      subscriptions: state.subscriptions,
      channels: state.channels,
      onActivity: () => this.#alive(state),
      onWait: (change) => {
        state.waiting += change;
        this.#alive(state);
      },
    });
    const watch = this.#watch(state, abort);
    try {
      await module.initialize();
      await module.configure(node.config);
      await raceAbort(abort.signal, () => module.execute(context, data));
    } finally {
      watch.stop();
      await cleanUp(module, this.#environment.log);
    }
  }

  #wasCompleted({ node }: NodeState): boolean {
    return this.#environment.earlier?.states.get(node.instanceId)?.completed ?? false;
  }

  #context(state: NodeState, signal: AbortSignal): ExecContext {
    const { node } = state;
    const environment = this.#environment;
    const warned = new Set<string>();
    return {
      signal,
      deadline: node.timeoutMs === null ? null : performance.now() + node.timeoutMs,
      instanceId: node.instanceId,
      scanId: environment.scanId,
      options: requireOptions(node.definition.options, node.config),
      net: environment.net,
      log: environment.log,
      results: environment.results,
      restored: environment.earlier?.states.get(node.instanceId)?.state ?? null,
      checkpoint: (save) => {
        state.checkpoint = save;
      },
      recorded: (key, record) => environment.earlier?.has(key, record) ?? false,
      progress: (done, total) => {
        state.done = done;
        this.#alive(state);
        environment.onProgress(node.instanceId, done, total);
      },
      warn: (code, message, target) => {
        const identity = `${code} ${target ?? ''}`;
        if (warned.has(identity)) return;
        warned.add(identity);
        environment.onWarning({ code, message, node: node.instanceId, ...(target ? { target } : {}) });
      },
    };
  }

  /** Aborts the node on cancel, at its deadline and when it stalls. */
  #watch(state: NodeState, abort: AbortController): { stop: () => void } {
    const { signal, stallTimeoutMs } = this.#environment;
    const reporter = isReporter(state);
    const onAbort = () => abort.abort(signal.aborted ? signal.reason : this.#stop.signal.reason);
    const timers: NodeJS.Timeout[] = [];
    // Reporters always run: a cancel stops the gathering, not the report of what was gathered.
    if (!reporter) {
      signal.addEventListener('abort', onAbort);
      this.#stop.signal.addEventListener('abort', onAbort);
      if (signal.aborted || this.#stop.signal.aborted) onAbort();
    }
    if (state.node.timeoutMs !== null) {
      const ms = state.node.timeoutMs;
      timers.push(setTimeout(() => abort.abort(new Error(`ran longer than its timeout of ${ms} ms`)), ms));
    }
    if (stallTimeoutMs > 0) {
      this.#alive(state);
      timers.push(setInterval(() => this.#checkStall(state, abort), Math.max(50, stallTimeoutMs / 10)));
    }
    return {
      stop: () => {
        for (const timer of timers) clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        this.#stop.signal.removeEventListener('abort', onAbort);
      },
    };
  }

  #checkStall(state: NodeState, abort: AbortController): void {
    const { stallTimeoutMs } = this.#environment;
    if (state.waiting > 0 || performance.now() - state.activeAt < stallTimeoutMs) return;
    abort.abort(new Error(`made no progress for ${stallTimeoutMs} ms`));
  }

  #alive(state: NodeState): void {
    state.activeAt = performance.now();
    state.stage.items_in = this.#itemsIn(state);
    state.stage.items_out = this.#itemsOut(state);
  }

  #itemsIn(state: NodeState): number {
    let sum = 0;
    for (const subscription of state.subscriptions.values()) sum += subscription.itemsIn;
    return sum;
  }

  #itemsOut(state: NodeState): number {
    let sum = 0;
    for (const channel of state.channels.values()) sum += channel.count;
    return sum;
  }

  #fail(state: NodeState, error: unknown): void {
    const message = describe(error);
    this.#environment.log.warn('node failed', { node: state.node.instanceId, error: message });
    if (!this.#environment.signal.aborted && !this.#stop.signal.aborted) {
      this.#environment.onWarning({
        code: 'node_failed',
        message: `${state.node.definition.name} failed: ${message}`,
        node: state.node.instanceId,
      });
    }
    this.#close(state, 'failed', message);
    if (this.#environment.failFast && !isReporter(state)) {
      this.#stop.abort(new Error(`stopped because ${state.node.instanceId} failed`));
      this.#abort(this.#stop.signal.reason);
    }
  }

  #close(state: NodeState, status: StageRecord['status'], error: string | null): void {
    this.#alive(state);
    state.stage.status = status;
    state.stage.completed_at = new Date().toISOString();
    state.stage.error = error;
    for (const channel of state.channels.values()) channel.end(status !== 'completed');
    for (const subscription of state.subscriptions.values()) subscription.backlog.close();
  }

  #abort(reason: unknown): void {
    for (const state of this.#states.values()) {
      if (isReporter(state)) continue;
      for (const subscription of state.subscriptions.values()) subscription.backlog.fail(reason);
    }
  }
}

/** A channel whose items the scan's record sees as well. */
class TappedChannel extends Channel {
  readonly #tap: RunEnvironment['tap'];

  constructor(key: string, instanceKey: string, tap: RunEnvironment['tap']) {
    super(key, instanceKey);
    this.#tap = tap;
  }

  /** Hands an item on that the record already has. */
  replay(item: unknown): Promise<unknown> | undefined {
    return super.append(item);
  }

  override append(item: unknown): Promise<unknown> | undefined {
    const wait = super.append(item);
    const recorded = this.#tap(this.key, item);
    if (wait && recorded) return Promise.all([wait, recorded]);
    return wait ?? recorded;
  }
}

/** Bounds how many nodes work at once. */
class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = Math.max(1, count);
  }

  async use(work: () => Promise<void>): Promise<void> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}

function isReporter(state: NodeState): boolean {
  return state.node.definition.type === 'reporter';
}

function partition<T>(items: T[], test: (item: T) => boolean): [T[], T[]] {
  return [items.filter(test), items.filter((item) => !test(item))];
}

/** Runs the work; once aborted, gives it a short while to end and then goes on without it. */
async function raceAbort(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  signal.throwIfAborted();
  const working = work();
  working.catch(() => {});
  let timer: NodeJS.Timeout | undefined;
  const abandoned = new Promise<never>((_, reject) => {
    const onAbort = () => {
      timer = setTimeout(() => reject(signal.reason), abandonAfterMs);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  abandoned.catch(() => {});
  try {
    await Promise.race([working, abandoned]);
    signal.throwIfAborted();
  } finally {
    clearTimeout(timer);
  }
}

async function cleanUp(module: Module, log: Logger): Promise<void> {
  try {
    await module.cleanup();
  } catch (error) {
    log.warn('cleanup failed', { module: module.name(), error: describe(error) });
  }
}

/** The message of an error followed by its causes. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : `: ${describe(error.cause)}`;
  return `${error.message}${cause}`;
}
