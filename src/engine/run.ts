import { tmpdir } from 'node:os';
import { performance } from 'node:perf_hooks';
import type { PortCoverage, Protocol } from '../domain/host.ts';
import type { StageRecord } from '../domain/scan.ts';
import type { Target } from '../domain/targets/target.ts';
import type { RuleSet } from '../knowledge/evaluation-rules/rule-set.ts';
import type { RuleCatalog } from '../knowledge/rules/rule-catalog.ts';
import type { CveSource } from '../knowledge/vulndb/cve-record.ts';
import type { NetworkGate } from '../net/gate/gate.ts';
import { PauseGate } from '../net/gate/pause-gate.ts';
import { Slots } from '../net/gate/slots.ts';
import { ContextStream, NodeData, newSubscription, type OutputGuard } from './data/data-context.ts';
import { LimitedOutput, type OutputLimits, type Published } from './data/output-limits.ts';
import { errorText } from './error-text.ts';
import type { Plan } from './graph/plan.ts';
import type { ScanModules } from './lifecycle.ts';
import type { ExecContext, Logger, ResultSource } from './module.ts';
import { Node, type SavedState, type Tap } from './node.ts';
import { abortSignalled, type NodeWatch, watchNode } from './node-watch.ts';
import { requireOptions } from './options.ts';
import { answerable } from './uncaught-errors.ts';

/** Maximum length of a method text, characters. */
const maxMethodLength = 500;

export interface RunEnvironment {
  scanId: string;
  targets: Target[];
  net: NetworkGate;
  log: Logger;
  modules: ScanModules;
  results: ResultSource;
  /** See ExecContext. */
  fingerprints: (rulesFile: string) => Promise<RuleCatalog>;
  /** See ExecContext. */
  evaluationRules: () => Promise<RuleSet>;
  /** See ExecContext. */
  vulnerabilities: () => Promise<CveSource>;
  /** Cancels the whole scan; its reason becomes the reason of every node. */
  signal: AbortSignal;
  /** Items a stream buffers before its producer blocks. */
  streamBuffer: number;
  maxParallelNodes: number;
  /** Of the plugins; what they publish beyond is dropped. */
  pluginOutput: OutputLimits;
  failFast: boolean;
  /** A node without activity for this long fails; 0 = never, milliseconds. */
  stallTimeoutMs: number;
  /** While it is paused, the clocks of all nodes except reporters stand still. */
  hold?: PauseGate;
  tap: Tap;
  /** Called when everything except the reporters has ended, before they start. */
  beforeReporters: () => Promise<void>;
  onWarning: (warning: { code: string; message: string; node?: string; target?: string }) => void;
  onProgress: (instanceId: string, done: number, total: number | undefined) => void;
  /** State of an interrupted run of this scan; null at the first start. */
  earlier: EarlierRun | null;
}

/** State of the previous run. */
export interface EarlierRun {
  /** Saved states by instance ID. */
  states: ReadonlyMap<string, SavedState>;
  /** Items that were published under a key and are durable. */
  items(key: string): AsyncIterable<unknown>;
  /** The best banner of each port that is not probed again; for the nodes that reread banners. */
  banners(): AsyncIterable<unknown>;
  /** True if the result of this piece of work is durable. */
  has(key: string, record: object): boolean;
  /** Durable sweep results per host. */
  counts(protocol: Protocol): ReadonlyMap<string, PortCoverage>;
}

export interface GraphRun {
  /** Live stage records, one per node, in the order of the plan. */
  stages: StageRecord[];
  /** Resolves when every node has ended; never rejects because of a module. */
  finished: Promise<void>;
  /** Progress of every node that saves its state, by instance ID. */
  snapshot(): Record<string, SavedState>;
  /** Items that wait for each node, by instance ID. */
  queued(): ReadonlyMap<string, number>;
}

/** Runs a planned graph: every node at once, connected by streams with backpressure. */
export function runGraph(plan: Plan, environment: RunEnvironment): GraphRun {
  const run = new Run(plan, environment);
  const { stages } = run;
  return { stages, finished: run.execute(), snapshot: () => run.snapshot(), queued: () => run.queued() };
}

class Run {
  readonly #environment: RunEnvironment;
  readonly #nodes: Node[];
  readonly #targets = new ContextStream('targets', 'targets');
  /** The node that republishes what the previous run published under a key. */
  readonly #replayers = new Map<string, Node>();
  readonly #slots: Slots;
  readonly #publishedByPlugins: Published = { items: 0, bytes: 0 };
  /** Aborted by the first failure under fail_fast. */
  readonly #stop = new AbortController();

  constructor(plan: Plan, environment: RunEnvironment) {
    this.#environment = environment;
    this.#slots = new Slots(Math.max(1, environment.maxParallelNodes));
    this.#nodes = plan.nodes.map((planned) => new Node(planned, environment.tap));
    for (const node of this.#nodes) this.#connect(node);
    for (const node of this.#nodes) {
      const coverage = environment.earlier?.states.get(node.id)?.coverage;
      if (coverage) node.cover(coverage);
    }
    if (environment.earlier) this.#chooseReplayers();
  }

  get stages(): StageRecord[] {
    return this.#nodes.map((node) => node.stage);
  }

  queued(): ReadonlyMap<string, number> {
    return new Map(this.#nodes.map((node) => [node.id, node.ended ? 0 : node.queued]));
  }

  snapshot(): Record<string, SavedState> {
    const { earlier } = this.#environment;
    // A node that has not started again, or had completed, keeps the state of the previous run.
    const saved = this.#nodes.map(
      (node) => [node.id, node.snapshot() ?? earlier?.states.get(node.id) ?? null] as const,
    );
    return Object.fromEntries(saved.filter((entry): entry is [string, SavedState] => entry[1] !== null));
  }

  async execute(): Promise<void> {
    const [reporters, workers] = partition(this.#nodes, (node) => node.isReporter);
    const working = Promise.all(workers.map((node) => this.#runNode(node)));
    for (const node of workers) void this.#reread(node);
    await this.#publishTargets();
    await working;
    await this.#environment.beforeReporters();
    await Promise.all(reporters.map((node) => this.#runNode(node)));
  }

  #connect(node: Node): void {
    if (node.planned.skipped) return;
    const { streamBuffer, earlier } = this.#environment;
    for (const { key, producers } of node.planned.inputs) {
      const channels = producers.flatMap((id) => this.#channelsOf(id, key));
      const options = { limit: streamBuffer, spillDir: tmpdir(), repeats: earlier !== null };
      const subscription = newSubscription(key, channels, options);
      if (earlier && rereads(node, key)) subscription.addSource();
      node.subscriptions.set(key, subscription);
    }
  }

  #channelsOf(producer: string, key: string): ContextStream[] {
    if (producer === '') return [this.#targets];
    return this.#nodes.find((node) => node.id === producer)?.channelsOf(key) ?? [];
  }

  /** Chooses the first running producer of each key to replay for all producers of the previous run. */
  #chooseReplayers(): void {
    for (const node of this.#nodes.filter(({ planned }) => !planned.skipped)) {
      for (const key of node.channels.keys()) if (!this.#replayers.has(key)) this.#replayers.set(key, node);
    }
  }

  async #publishTargets(): Promise<void> {
    for (const target of this.#environment.targets) await this.#targets.append(target);
    this.#targets.end(false);
  }

  get #stopped(): boolean {
    return this.#environment.signal.aborted || this.#stop.signal.aborted;
  }

  async #runNode(node: Node): Promise<void> {
    try {
      if (!node.planned.skipped && !node.isReporter && !this.#wasCompleted(node)) await node.started();
      const reason = this.#reasonToSkip(node);
      if (reason) return node.close('skipped', reason);
      await this.#slots.acquire(neverAborted);
      await this.#attempt(node).finally(() => this.#slots.release());
    } catch (error) {
      this.#fail(node, error);
    }
  }

  #reasonToSkip(node: Node): string | null {
    if (node.planned.skipped) return node.planned.skipped;
    if (node.isReporter || this.#wasCompleted(node)) return null;
    if (this.#stopped) return 'the scan was stopped';
    return node.barrenInput && `no data will arrive under "${node.barrenInput}"`;
  }

  async #attempt(node: Node): Promise<void> {
    const { retry } = node.planned;
    node.begin();
    await this.#replay(node);
    for (let attempt = 1; ; attempt++) {
      try {
        if (!this.#wasCompleted(node)) await this.#executeOnce(node);
        return node.close('completed', null);
      } catch (error) {
        // A stream cannot be read twice, so only an attempt that read and wrote nothing can be repeated.
        if (attempt >= retry.attempts || !node.untouched || this.#stopped) return this.#fail(node, error);
        await new Promise((resolve) => setTimeout(resolve, retry.backoffMs * attempt));
      }
    }
  }

  /** Republishes what the previous run published for the nodes that read it; the record already has it. */
  async #replay(node: Node): Promise<void> {
    const { earlier } = this.#environment;
    if (!earlier) return;
    for (const [key, channel] of node.channels) {
      if (this.#replayers.get(key) !== node || !this.#isRead(channel)) continue;
      for await (const item of earlier.items(key)) {
        if (this.#stopped) return;
        await channel.replay(item);
      }
    }
  }

  /** Gives a node the banners that the record has; the record does not get them again. */
  async #reread(node: Node): Promise<void> {
    const { earlier, log } = this.#environment;
    const subscription = node.subscriptions.get('banners');
    if (!earlier || !subscription || !rereads(node, 'banners')) return;
    let count = 0;
    try {
      for await (const item of earlier.banners()) {
        // A node that has ended reads no more.
        if (this.#stopped || node.ended) break;
        count++;
        await subscription.push(item);
      }
    } catch (error) {
      log.warn('recorded banners cannot be read', { node: node.id, error: errorText(error) });
    }
    subscription.sourceEnded(count === 0);
  }

  /** Whether an unfinished node reads a channel. */
  #isRead(channel: ContextStream): boolean {
    return this.#nodes.some((node) => !this.#wasCompleted(node) && node.reads(channel));
  }

  #wasCompleted(node: Node): boolean {
    return this.#environment.earlier?.states.get(node.id)?.completed ?? false;
  }

  async #executeOnce(node: Node): Promise<void> {
    const { signal, stallTimeoutMs, modules } = this.#environment;
    const { definition, config } = node.planned;
    // Reporters always run: a cancel stops the collection, not the report of what was collected.
    const signals = node.isReporter ? [] : [signal, this.#stop.signal];
    const hold = (node.isReporter ? null : this.#environment.hold) ?? new PauseGate();
    const watch = watchNode(node, { signals, stallTimeoutMs, hold });
    const blame = (error: unknown) => this.#onUncaught(node, watch, error);
    const abandon = () => modules.abandon(definition);
    try {
      await answerable(blame, async () => {
        await abortSignalled(watch.signal, () => modules.initialize(definition), abandon);
        const module = definition.create();
        await module.configure(config);
        const data = await this.#dataOf(node, watch);
        const context = this.#context(node, watch.signal);
        const work = () => module.execute(context, data);
        await abortSignalled(watch.signal, work, abandon).finally(() => data.end());
      });
    } finally {
      watch.stop();
    }
  }

  async #dataOf(node: Node, watch: NodeWatch): Promise<NodeData> {
    const { producer } = node.planned.definition;
    return new NodeData({
      subscriptions: node.subscriptions,
      channels: node.channels,
      onActivity: () => node.alive(),
      onWait: (change) => {
        node.waiting += change;
        node.alive();
      },
      guard: producer && (await this.#guardOf(node, watch)),
    });
  }

  /** Loaded for plugins only. */
  async #guardOf(node: Node, watch: NodeWatch): Promise<OutputGuard> {
    const { ItemCheck } = await import('./data/item-check.ts');
    const { name } = node.planned.definition;
    const { net, pluginOutput } = this.#environment;
    const warn = this.#warnerOf(node);
    const check = new ItemCheck({ module: name, addresses: net.addresses, warn });
    const output = new LimitedOutput(pluginOutput, this.#publishedByPlugins);
    return {
      accept: (key, items) => output.accept(check.accept(key, items)),
      fail: watch.fail,
      end: () => {
        const { loss } = output;
        if (loss !== null) warn('output_dropped', `${name} published too much: ${loss}`);
      },
    };
  }

  /** Handles an uncaught error of a module. After its end there is nothing to stop, but the node counts as failed. */
  #onUncaught(node: Node, watch: NodeWatch, error: unknown): void {
    const reason = new Error(`uncaught error: ${errorText(error)}`);
    const { status } = node.stage;
    if (status === 'running' && !watch.signal.aborted) watch.fail(reason);
    else if (status === 'completed') this.#fail(node, reason);
  }

  #context(node: Node, signal: AbortSignal): ExecContext {
    const { scanId, net, log, results, fingerprints, vulnerabilities } = this.#environment;
    const { evaluationRules, earlier, onProgress } = this.#environment;
    const { instanceId, definition, config, timeoutMs } = node.planned;
    return {
      signal,
      deadline: timeoutMs === null ? null : performance.now() + timeoutMs,
      instanceId,
      scanId,
      options: requireOptions(definition.options, config),
      net,
      log,
      fingerprints,
      evaluationRules,
      vulnerabilities,
      results,
      upstream: () => this.#upstreamOf(node),
      restored: earlier?.states.get(instanceId)?.state ?? null,
      checkpoint: (save) => {
        node.checkpoint = save;
      },
      recorded: (key, record) => earlier?.has(key, record) ?? false,
      progress: (done, total) => {
        node.done = done;
        node.alive();
        onProgress(instanceId, done, total);
      },
      recordedCounts: (protocol) => earlier?.counts(protocol) ?? new Map(),
      cover: (counts) => node.cover(counts),
      recount: (counts) => node.recount(counts),
      method: (text) => {
        node.stage.method = text.slice(0, maxMethodLength);
      },
      warn: this.#warnerOf(node),
    };
  }

  /** The same code and target are reported once. */
  #warnerOf(node: Node): ExecContext['warn'] {
    const warned = new Set<string>();
    return (code, message, target) => {
      const identity = `${code} ${target ?? ''}`;
      if (warned.has(identity)) return;
      warned.add(identity);
      this.#environment.onWarning({ code, message, node: node.id, ...(target ? { target } : {}) });
    };
  }

  #upstreamOf(node: Node): Map<string, Record<string, unknown>> {
    const before = this.#nodes.filter(
      ({ id, stage }) =>
        node.planned.ancestors.includes(id) && stage.status !== 'skipped' && stage.status !== 'failed',
    );
    return new Map(
      before.map(({ planned: { definition, config } }) => [
        definition.name,
        requireOptions(definition.options, config),
      ]),
    );
  }

  #fail(node: Node, error: unknown): void {
    const { log, onWarning, failFast } = this.#environment;
    const message = errorText(error);
    // Of a scan that is stopped every node fails, for the same reason.
    const level = this.#stopped ? 'debug' : 'warn';
    log[level]('node failed', { node: node.id, error: message });
    if (!this.#stopped) {
      const name = node.planned.definition.name;
      onWarning({ code: 'node_failed', message: `${name} failed: ${message}`, node: node.id });
    }
    node.close('failed', message);
    if (failFast && !node.isReporter) this.#stop.abort(new Error(`stopped because ${node.id} failed`));
  }
}

function rereads({ planned: { definition } }: Node, key: string): boolean {
  return key === 'banners' && (definition.rereadsBanners ?? definition.producer !== undefined);
}

const neverAborted = new AbortController().signal;

function partition<T>(items: T[], test: (item: T) => boolean): [T[], T[]] {
  return [items.filter(test), items.filter((item) => !test(item))];
}
