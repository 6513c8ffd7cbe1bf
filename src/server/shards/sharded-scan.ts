import { setTimeout as sleep } from 'node:timers/promises';
import type { FailureCode, ScanWarning, StageRecord } from '../../domain/scan.ts';
import type { ShardCommand } from '../../domain/shard.ts';
import type { Slots } from '../../net/gate/slots.ts';
import { machineNow } from '../../net/machine-clock.ts';
import { NameResolver } from '../../net/resolve.ts';
import type { ShardQueue } from '../../queue/shard-queue.ts';
import type { ScopeRules } from '../../scan-run/control.ts';
import type { LiveScan, ScanOutcome } from '../../scan-run/messages.ts';
import { withPlannedModules } from '../../scan-run/plan/plan-plugins.ts';
import { type ModuleCatalog, planScan } from '../../scan-run/plan/plan-scan.ts';
import { plannedPorts } from '../../scan-run/plan/planned-ports.ts';
import { prepareTargets } from '../../scan-run/prepare-targets.ts';
import { ScanTime } from '../../scan-run/run-time.ts';
import type { Store } from '../../store/open.ts';
import type { ShardState } from '../../store/shards.ts';
import type { RunningScan } from '../../worker/running-scan.ts';
import { ScanProcess, type ScanProcessInput } from '../../worker/scan-process.ts';
import type { WarmProcesses } from '../../worker/warm-processes.ts';
import { writeCheckpoint } from '../../workspace/record/checkpoint.ts';
import { openRecord } from '../../workspace/record/record-writer.ts';
import type { ScanFolder } from '../../workspace/scan-folder.ts';
import { addressesByName, asTargets, shardCount } from './divide.ts';
import { FairTurns } from './fair-turns.ts';
import { GatheredRows, importShards } from './gathered-rows.ts';
import { LostJobs } from './lost-jobs.ts';
import { SampledRates } from './sampled-rates.ts';
import { scopeRules } from './scan-settings.ts';
import { nextGrants } from './shard-rates.ts';
import { ShardReports, ShardTraffic } from './shard-reports.ts';
import {
  completedNodes,
  evaluationOf,
  lastStepStages,
  liveOf,
  lossesOf,
  stagesOf,
  warningsOf,
  wholeOutcome,
} from './shard-summary.ts';

/** Poll interval of the shards, milliseconds. */
const lookMs = 250;
/** Poll interval while all of them wait: a claim sends a notification. */
const idleLookMs = 1000;
/** Timeout of a command: workers that have not applied it by then count as dead, and their leases expire. */
const obeyMs = 1800;
/** Poll interval of the shards while waiting for a command, milliseconds. */
const watchMs = 100;
/** Types of modules that send packets. */
const sending = new Set<string>(['discovery', 'scanner']);
/** Maximum wait for the shards of a canceled scan, milliseconds. */
const cancelMs = 4000;

export interface ShardedScanInput {
  store: Store;
  line: ShardQueue;
  folder: ScanFolder;
  /** Limits concurrent processes of last steps. */
  lastSteps: Slots;
  /** Start of the process that completes the scan. */
  process: ScanProcessInput;
  /** One of them runs that process. */
  processes: WarmProcesses;
  /** Starts paused. */
  paused: boolean;
  /** Installation that the scan is planned with. */
  catalogue: ModuleCatalog;
  /** When the scan started; null if it has not. */
  startedAt: string | null;
  /** Stores the start of the first shard; called again if it fails. */
  storeBegin: (startedAt: string) => Promise<void>;
  /** Called after `storeBegin`. */
  onBegin: () => void;
  onWarning: (error: unknown, message: string) => void;
}

/**
 * A scan whose addresses are divided among workers, on this and other hosts. Gathers what they have stored; when all are
 * done, runs the scan process over the record, as after an interruption with nothing left to send.
 */
export class ShardedScan implements RunningScan {
  startedAt: string | null;
  outcome: ScanOutcome | null = null;
  ownStages: StageRecord[] = [];
  failure: { code: FailureCode; message: string } | null = null;
  readonly gone: Promise<void>;
  readonly #input: ShardedScanInput;
  #shards: ShardState[] = [];
  readonly #reports = new ShardReports();
  readonly #traffic = new ShardTraffic();
  #nap = new AbortController();
  #gathered: LiveScan | null = null;
  #last: ScanProcess | null = null;
  #rate = 0;
  readonly #rates: SampledRates;
  readonly #turns: FairTurns;
  readonly #lostJobs: LostJobs;
  #paused: boolean;
  #canceledAt: number | null = null;
  /** Pending command to the shards, until they exist and the store can be reached; null = sent. */
  #command: ShardCommand | null;
  #rules: ScopeRules | null = null;
  /** Serializes commands. */
  #telling: Promise<void> = Promise.resolve();
  #ofNames: ScanWarning[] = [];
  /** No lease is expired before this time, performance.now(). */
  #lapsesFrom = 0;
  /** Running time; null before the start. */
  #time: ScanTime | null;
  /** Aborted when the scan is left to a later resume. */
  readonly #letGo = new AbortController();

  constructor(input: ShardedScanInput) {
    this.#input = input;
    const { request, config, rateHistory, tenant } = input.process.start;
    this.#rates = new SampledRates(rateHistory);
    this.#turns = new FairTurns({ ...input, ...request, tenant, weights: config.multi_tenant.weights });
    this.#lostJobs = new LostJobs(this.#scanId, input.line, (count) =>
      input.onWarning(
        new Error(`${count} shards had no job`),
        'the database has lost jobs of a scan; its shards have new ones',
      ),
    );
    this.startedAt = input.startedAt;
    this.#time = input.startedAt === null ? null : timeSince(input.startedAt);
    this.#paused = input.paused;
    this.#command = this.#paused ? 'pause' : 'run';
    this.gone = this.#run().catch((error: unknown) => {
      input.onWarning(error, 'sharded scan failed');
    });
  }

  get live(): LiveScan | null {
    const last = this.#last?.live;
    if (!last || !this.#gathered) return this.#gathered;
    const { shards, tried, not_tried, unit, rate_history } = this.#gathered.progress;
    const work = { tried, not_tried, unit, rate_history };
    return {
      ...last,
      progress: { ...last.progress, ...work, shards: { ...shards, done: shards.total, running: 0 } },
      warnings: warningsOf([this.#gathered, last]),
    };
  }

  get hangs(): boolean {
    return this.#last?.hangs ?? false;
  }

  get pid(): number | undefined {
    return this.#last?.pid;
  }

  cancel(): void {
    if (this.#canceledAt !== null) return;
    this.#canceledAt = performance.now();
    this.#last?.cancel();
    void this.#order('cancel').then(() => this.#nap.abort());
  }

  async pause(): Promise<void> {
    this.#paused = true;
    if (this.#last) return await this.#last.pause();
    await this.#order('pause');
    await this.#until(
      () => this.#running.every(({ applied_command }) => applied_command === 'pause'),
      obeyMs,
    );
  }

  resume(): void {
    this.#paused = false;
    if (this.#last) this.#last.resume();
    else void this.#order('run');
  }

  /** An absent worker keeps its share until the lease expires: its process may still be sending. */
  async setRate(rate: number): Promise<void> {
    this.#rate = rate;
    if (this.#last) return await this.#last.setRate(rate);
    this.#nap.abort();
    const kept = () =>
      this.#running.reduce((sum, shard) => sum + Math.max(shard.rate, shard.applied_rate ?? 0), 0);
    await this.#until(() => kept() <= rate, this.#input.line.leaseMs);
  }

  narrow(rules: ScopeRules): void {
    const { start } = this.#input.process;
    const { scanner } = start.config;
    const { blocklist, ...lists } = rules;
    start.config = {
      ...start.config,
      scanner: { ...scanner, blocklist, scope: { ...scanner.scope, ...lists } },
    };
    this.#last?.narrow(rules);
    this.#rules = rules;
    void this.#tellOrWarn();
  }

  /** Workers continue by themselves; the server that resumes the scan gathers their results. */
  detach(): void {
    this.#letGo.abort();
    this.#nap.abort();
    this.#last?.detach();
  }

  kill(): void {
    this.#letGo.abort();
    this.#nap.abort();
    this.#last?.kill();
  }

  get #left(): boolean {
    return this.#letGo.signal.aborted;
  }

  get #store(): Store {
    return this.#input.store;
  }

  get #scanId(): string {
    return this.#input.process.start.request.scan_id;
  }

  get #running(): ShardState[] {
    return this.#shards.filter(({ state }) => state === 'running');
  }

  async #run(): Promise<void> {
    const { folder, line, onWarning } = this.#input;
    const imported = await importShards(this.#input, this.#scanId);
    await this.#layOut();
    const record = await openRecord(folder, {
      onSealed: () => this.#input.process.onNews(),
      isDurable: false,
    });
    const rows = new GatheredRows({
      store: this.#store,
      scanId: this.#scanId,
      sink: record,
      // An earlier version had another order: all rows come again, and each counts once at the end.
      skip: imported ? 0 : record.rows,
      onInvalid: (message) => onWarning(new Error(message), 'rows of a worker left out'),
    });
    const forgetNews = line.onNews((scanId) => scanId === this.#scanId && this.#nap.abort());
    try {
      await this.#gather(rows);
    } finally {
      forgetNews();
      await record.close();
    }
    if (this.#left) return;
    // The canceler ends the scan; no process is needed.
    if (this.#canceledAt !== null && this.#isUntouched) return;
    this.failure = this.#failureOf();
    if (this.failure === null) await this.#conclude();
  }

  /** Divides the addresses, unless that was done before. */
  async #layOut(): Promise<void> {
    await this.#look();
    const { request, config } = this.#input.process.start;
    if (this.#shards.length > 0) {
      await this.#input.line.giveJobs(this.#scanId);
      // The configuration may have changed since the scan was divided.
      this.#rules ??= scopeRules(config);
      return;
    }
    const { servers, timeout } = config.scanner.dns;
    const resolver = new NameResolver({ servers, timeoutMs: timeout });
    const stop = new AbortController();
    const { addresses, hostnames, warnings } = await prepareTargets(request, config, (name) =>
      resolver.resolve(name, stop.signal),
    );
    // The last step uses the names resolved here, and does not report this warning.
    this.#ofNames = warnings.filter(({ code }) => code === 'too_many_addresses');
    const count = shardCount(addresses.size, config.workers.shard_size, await this.#portsPerAddress());
    const division = {
      addresses: asTargets(addresses),
      hostnames: Object.fromEntries([...hostnames].filter(([ip]) => addresses.has(ip))),
    };
    if (count > 0) await this.#input.line.layOut(request, division, count);
    // Shards start with this command, and another server may have sent a different one by now.
    if (this.#command === 'run') this.#command = null;
    await this.#look();
  }

  /** Workers report the error if the scan can no longer be planned. */
  async #portsPerAddress(): Promise<number> {
    const { process, catalogue } = this.#input;
    const { request, config } = process.start;
    const ports = await planScan(request, config, catalogue).then(plannedPorts, () => null);
    return ports === null ? 0 : ports.tcp.size + ports.udp.size;
  }

  /** Polls until no shard waits or runs. */
  async #gather(rows: GatheredRows): Promise<void> {
    let warned = false;
    while (!this.#left) {
      this.#nap = new AbortController();
      try {
        await this.#lookAfter();
        // After the look: a shard that it saw as over has stored all its rows.
        await rows.take(this.#shards);
        warned = false;
      } catch (error) {
        const message = 'cannot read the shards of a scan; workers continue';
        if (!warned) this.#input.onWarning(error, message);
        warned = true;
        // Workers could not reach the store either; their heartbeats resume with it.
        this.#lapsesFrom = performance.now() + this.#input.line.leaseMs;
      }
      if (!warned && this.#shards.every(isOver)) return;
      if (this.#isLongCanceled) return;
      const pauseMs = this.#running.length > 0 ? lookMs : idleLookMs;
      await sleep(pauseMs, undefined, { signal: this.#nap.signal }).catch(() => undefined);
    }
  }

  async #lookAfter(): Promise<void> {
    const { line } = this.#input;
    await this.#tell();
    if (this.#canceledAt !== null) await line.endWaiting(this.#scanId);
    await this.#look();
    if (this.#shards.some(isBegun)) await this.#begin();
    const now = await line.now();
    const silent = this.#running.some(({ lease_until }) => (lease_until ?? now) < now);
    if (silent && performance.now() > this.#lapsesFrom) {
      await line.lapse(this.#scanId);
      await this.#look();
    }
    await this.#turns.look(this.#shards);
    await this.#lostJobs.look(this.#shards);
    // A shard claimed just before the cancel has no rate yet, and gets none.
    if (this.#canceledAt === null) await line.grant(this.#scanId, nextGrants(this.#shards, this.#rate));
  }

  /** The scan starts with its first shard. */
  async #begin(): Promise<void> {
    if (this.startedAt !== null) return;
    const startedAt = (await this.#input.line.begin(this.#scanId)) ?? new Date().toISOString();
    await this.#input.storeBegin(startedAt);
    this.startedAt = startedAt;
    this.#time = timeSince(startedAt);
    this.#input.onBegin();
  }

  /** No worker has sent a packet or found anything: no last step is needed. */
  get #isUntouched(): boolean {
    return this.#shards.every(
      (shard) =>
        shard.rows === 0 &&
        (shard.attempt === 0 || (shard.outcome !== null && this.#reports.newest(shard)?.packets_sent === 0)),
    );
  }

  get #isLongCanceled(): boolean {
    return this.#canceledAt !== null && performance.now() - this.#canceledAt > cancelMs;
  }

  async #look(): Promise<void> {
    const before = JSON.stringify(this.#gathered);
    const over = this.#shards.filter(isOver);
    const fresh = await this.#store.shards.ofScan(
      this.#scanId,
      over.map(({ shard }) => shard),
    );
    // A concurrent call may have updated the shards.
    const all = new Map([...this.#shards.filter(isOver), ...fresh].map((shard) => [shard.shard, shard]));
    this.#shards = [...all.values()].sort((a, b) => a.shard - b.shard);
    if (this.#shards.length === 0) return;
    this.#input.process.onTraffic(this.#traffic.since(this.#shards, this.#reports));
    const live = liveOf(this.#shards, this.#reports.of(this.#shards), this.#paused);
    const gathered = {
      ...live,
      progress: { ...live.progress, rate_history: this.#rates.add(live.progress.rate) },
    };
    // Identity means "unchanged".
    if (JSON.stringify(gathered) === before) return;
    this.#gathered = gathered;
    this.#input.process.onNews();
  }

  async #order(command: ShardCommand): Promise<void> {
    this.#command = this.#canceledAt === null ? command : 'cancel';
    await this.#tellOrWarn();
  }

  async #tellOrWarn(): Promise<void> {
    await this.#tell().catch((error: unknown) =>
      this.#input.onWarning(error, 'sending a command to the shards failed, retrying'),
    );
  }

  /** Sends commands and rules; rates are granted after them. */
  #tell(): Promise<void> {
    const told = this.#telling.then(() => this.#handOn());
    this.#telling = told.catch(() => undefined);
    return told;
  }

  async #handOn(): Promise<void> {
    if (this.#shards.length === 0) return;
    const [rules, command] = [this.#rules, this.#command];
    const { line } = this.#input;
    if (rules !== null) await line.setRules(this.#scanId, JSON.stringify(rules));
    if (command !== null) await line.command(this.#scanId, command);
    if (this.#rules === rules) this.#rules = null;
    if (this.#command === command) this.#command = null;
  }

  /** Polls the shards until a condition holds, or until the timeout. */
  async #until(holds: () => boolean, patienceMs: number): Promise<void> {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      await this.#look().catch(() => undefined);
      if (holds() || this.#left || this.#last || performance.now() > deadline) return;
      await sleep(watchMs);
    }
  }

  /** Why the last step cannot run; null if it can. */
  #failureOf(): { code: FailureCode; message: string } | null {
    if (this.#canceledAt !== null || this.#shards.length === 0) return null;
    const outcomes = this.#reports.outcomes(this.#shards);
    if (outcomes.some(({ status }) => status === 'completed')) return null;
    const error = outcomes.find((outcome) => outcome.error !== null)?.error;
    if (error) return { code: error.code as FailureCode, message: error.message };
    if (this.#shards.some(({ rows }) => rows > 0)) return null;
    return { code: 'worker_lost', message: 'All workers of the scan were lost before they found anything.' };
  }

  async #conclude(): Promise<void> {
    const { lastSteps } = this.#input;
    if (!(await lastSteps.acquire(this.#letGo.signal))) return;
    try {
      // Nothing was left to scan, or no worker lived long enough to report its start.
      await this.#begin();
      await this.#runLastStep();
    } finally {
      lastSteps.release();
    }
  }

  /** Profiles, evaluation, reports and the summary concern the whole scan. */
  async #runLastStep(): Promise<void> {
    const { process, processes, folder, catalogue } = this.#input;
    const reports = this.#reports.of(this.#shards);
    const modules = withPlannedModules(catalogue.registry, process.start.request);
    const sends = (module: string) => sending.has(modules.get(module)?.type ?? '');
    const states = completedNodes(stagesOf(reports), sends);
    // Without shards nothing was left to scan; the process detects and reports that.
    const time = this.#time?.save(process.start.pausedMs);
    if (this.#shards.length > 0) await writeCheckpoint(folder, states, time);
    const division = await this.#store.shards.plan(this.#scanId);
    const { tenant, request } = process.start;
    const shared = await processes.takeFor(tenant, request, process.isSmall);
    if (this.#left) return processes.giveBack(shared);
    const outcomes = this.#reports.outcomes(this.#shards);
    const losses = this.#canceledAt === null ? lossesOf(this.#shards, outcomes) : [];
    const input = {
      ...process,
      start: {
        ...process.start,
        startedAt: this.startedAt ?? process.start.startedAt,
        names: addressesByName(division?.hostnames ?? {}),
        evaluated: evaluationOf(outcomes, this.#shards.length),
        warnings: warningsOf([...reports, { warnings: losses }]),
      },
    };
    const last = new ScanProcess(input, shared);
    this.#last = last;
    void last.setRate(this.#rate);
    if (this.#paused) void last.pause();
    if (this.#canceledAt !== null) last.cancel();
    await last.gone;
    processes.giveBack(shared);
    this.failure = last.failure;
    if (!last.outcome) return;
    this.ownStages = lastStepStages(last.outcome, reports);
    const warnings = [...this.#ofNames, ...losses];
    const { history } = this.#rates;
    this.outcome = wholeOutcome(last.outcome, reports, this.#shards.length, warnings, history);
  }
}

/** The time before this process followed the scan is measured by the wall clock. */
function timeSince(startedAt: string): ScanTime {
  const elapsed = Math.max(0, Date.now() - Date.parse(startedAt));
  return new ScanTime({ elapsed_ms: elapsed, paused_ms: 0 }, machineNow());
}

/** Whether a worker of the shard has sent a heartbeat, in this attempt or an earlier one. */
function isBegun({ applied_command, outcome }: ShardState): boolean {
  return applied_command !== null || outcome !== null;
}

function isOver({ state }: ShardState): boolean {
  return state === 'done' || state === 'failed';
}
