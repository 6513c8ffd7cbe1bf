import { randomBytes } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/schema.ts';
import { PortolanError } from '../domain/errors.ts';
import { servedPools } from '../domain/pool-tags.ts';
import type { ScanRequest } from '../domain/scan.ts';
import { type ScanLogFields, type ScanOrigin, scanLogFields, unknownOrigin } from '../domain/scan-origin.ts';
import type { Listener } from '../net/local-listeners.ts';
import { machineNow } from '../net/machine-clock.ts';
import type { PlacedPlugin } from '../plugins/plugin.ts';
import type { QueuedShard, ShardQueue } from '../queue/shard-queue.ts';
import type { Store } from '../store/open.ts';
import type { Tracer } from '../telemetry/tracer.ts';
import { isAlive } from '../workspace/process-identity.ts';
import { logReason } from './log-reason.ts';
import { rateShares } from './rate-shares.ts';
import { ShardResults } from './shard-results.ts';
import { roomFor } from './shard-room.ts';
import { type ShardEnd, ShardRun } from './shard-run.ts';
import type { WarmProcesses } from './warm-processes.ts';
import { WorkerPlace } from './worker-place.ts';
import { requireSameMajor } from './worker-version.ts';

/** Poll interval of the queues in case a NOTIFY is lost, milliseconds. */
const pollMs = 1000;
/** Servers seen within this time say which tags their pools ask for, milliseconds. */
const presentMs = 15_000;
/** Interval of worker heartbeats, milliseconds. */
const heartbeatMs = 5000;
/** Shortest time between two of them, milliseconds. */
const minHeartbeatMs = 1000;
/** Pause after a shard that cannot run here, so that others can claim it, milliseconds. */
const rejectedPauseMs = 3000;
/** Parent folder of the running shards. */
const folderName = 'worker';

export interface ShardWorkerInput {
  store: Store;
  line: ShardQueue;
  /** The worker's own settings: its scope and block list apply in addition to those of the server. */
  config: Config;
  /** Contains the folder `worker/`. */
  workspaceDir: string;
  /** Prefix of the worker id, by which others recognize its server. */
  idPrefix: string;
  pools: string[];
  tags: string[];
  /** Maximum number of concurrent shards. */
  concurrency: number;
  /** Reported capacity when that scales with the load; null = `concurrency`. */
  scale: { size: number; follow(busy: number): void } | null;
  version: string;
  /** They run the shards; closed by whoever opened them. */
  processes: WarmProcesses;
  /** Listeners of this process, which no scan may probe. */
  listeners: readonly Listener[];
  /** Where this machine has the plugins of a scan. */
  placePlugins: (request: ScanRequest) => Promise<PlacedPlugin[]>;
  /** Null = no traces. */
  traces: Pick<Tracer, 'shardEnded'> | null;
  log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
  };
}

/** Claims shards of its pools and runs them until it is stopped. */
export class ShardWorker {
  readonly id: string;
  readonly #input: ShardWorkerInput;
  readonly #runs = new Map<string, ShardRun>();
  /** Taken by scans that the server of this worker runs undivided. */
  readonly #places = new Set<WorkerPlace>();
  readonly #stopping = new AbortController();
  readonly #startedAt = new Date().toISOString();
  #polling: Promise<void> = Promise.resolve();
  #nap = new AbortController();
  #heartbeatTimer: NodeJS.Timeout | undefined;
  /** Of a heartbeat that is due early. */
  #heartbeatDue: NodeJS.Timeout | undefined;
  /** Of the last one, performance.now(). */
  #heartbeatAt = Number.NEGATIVE_INFINITY;
  #heartbeatOk = true;
  /** Updates of the rate shares, one after another. */
  #sharing: Promise<void> = Promise.resolve();
  /** Pools whose tags it has. */
  #served: readonly string[];
  /** Whether no shard waited at the last look, for want of room neither, and none has come since. */
  #foundNothing = false;
  /** Reasons for rejecting shards that were logged. */
  readonly #loggedRejections = new Set<string>();
  #unsubscribe: () => void = () => undefined;

  constructor(input: ShardWorkerInput) {
    this.#input = input;
    this.#served = input.pools;
    this.id = `${input.idPrefix}${hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`;
  }

  async start(): Promise<void> {
    const { line } = this.#input;
    const subscriptions = [
      line.onWork(() => {
        this.#foundNothing = false;
        this.#nap.abort();
      }),
      line.onNews((scanId) => {
        for (const run of this.#runs.values()) if (run.scanId === scanId) run.wake();
      }),
    ];
    this.#unsubscribe = () => {
      for (const unsubscribe of subscriptions) unsubscribe();
    };
    await removeLeftovers(workerFolders(this.#input.workspaceDir));
    await this.#heartbeat();
    this.#heartbeatTimer = setInterval(() => void this.#heartbeat(), heartbeatMs);
    this.#polling = this.#poll();
  }

  /** Claims no more shards and releases the running ones. @param timeoutMs after which leases are left to expire */
  async stop(timeoutMs: number): Promise<void> {
    this.#stopping.abort();
    clearInterval(this.#heartbeatTimer);
    clearTimeout(this.#heartbeatDue);
    for (const run of this.#runs.values()) run.release();
    const ends = this.#polling.then(async () => {
      await Promise.all([...this.#runs.values()].map(({ finished }) => finished));
    });
    await Promise.race([ends, sleep(timeoutMs, undefined, { ref: false })]);
    for (const run of this.#runs.values()) run.kill();
    this.#unsubscribe();
    await this.#input.store.hosts.deleteWorker(this.id).catch(() => undefined);
    if (this.#runs.size === 0) await rm(this.#dir, { recursive: true, force: true });
  }

  /**
   * Takes a place for a scan that the server of this worker runs undivided; null if it has none for it.
   * @param isBegun whether it is over the number of places, too: nobody else can continue the scan
   */
  takePlace({ pool, isSmall }: { pool: string; isSmall: boolean }, isBegun: boolean): WorkerPlace | null {
    const room = roomFor(this.#busy, this.#input.concurrency);
    const hasRoom = isBegun || (isSmall ? room.small : room.all);
    if (this.#stopping.signal.aborted || !this.serves(pool) || !hasRoom) return null;
    const leave = () => {
      if (!this.#places.delete(place)) return;
      void this.#shareRate();
      this.#lookAgain();
      this.#followPlaces();
    };
    const place: WorkerPlace = new WorkerPlace(isSmall, () => this.#shareRate(), leave);
    this.#places.add(place);
    this.#followPlaces();
    return place;
  }

  /** Whether it takes shards of a pool. */
  serves(pool: string): boolean {
    return this.#served.includes(pool);
  }

  #followPlaces(): void {
    this.#input.scale?.follow(this.#busy.length);
    if (!this.#stopping.signal.aborted) this.#heartbeatSoon();
  }

  /** A place is free. */
  #lookAgain(): void {
    if (!this.#foundNothing) this.#nap.abort();
  }

  get #busy(): (ShardRun | WorkerPlace)[] {
    return [...this.#runs.values(), ...this.#places];
  }

  /** Separate folder per worker: several may share a workspace. */
  get #dir(): string {
    return join(workerFolders(this.#input.workspaceDir), `${process.pid}-${this.id.slice(-8)}`);
  }

  async #poll(): Promise<void> {
    const { log } = this.#input;
    let warned = false;
    while (!this.#stopping.signal.aborted) {
      this.#nap = new AbortController();
      const signal = AbortSignal.any([this.#nap.signal, this.#stopping.signal]);
      try {
        await this.#claimAll();
        this.#input.scale?.follow(this.#busy.length);
        if (warned) log.info({}, 'queue reachable again');
        warned = false;
      } catch (err) {
        if (!warned) log.warn(logReason(err), 'queue unreachable, retrying');
        warned = true;
      }
      await sleep(pollMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async #claimAll(): Promise<void> {
    const { line, concurrency } = this.#input;
    while (!this.#stopping.signal.aborted) {
      const room = roomFor(this.#busy, concurrency);
      if (!room.begun && !room.small && !room.all) return;
      const asked = machineNow();
      this.#foundNothing = room.all && room.begun;
      const shard = await line.claim(this.id, this.#served, room);
      if (shard === null) return;
      this.#foundNothing = false;
      await this.#begin(shard, asked);
    }
  }

  async #begin(shard: QueuedShard, claimedAt: number): Promise<void> {
    const { store, line, config, processes, listeners, log } = this.#input;
    let place = shardFields(shard, unknownOrigin);
    try {
      const scan = await store.scans.forWorker(shard.scanId);
      if (scan === null) throw new PortolanError('not_found', 'the scan no longer exists');
      const { request, origin, tenant, owner } = scan;
      place = shardFields(shard, origin);
      await this.#requireSameMajor(owner);
      const startedAt = await line.begin(shard.scanId);
      if (startedAt === null) throw new PortolanError('not_found', 'the scan no longer exists');
      const { pausedMs } = await store.scanPauses.pauseOf(shard.scanId, Date.now());
      const plugins = await this.#input.placePlugins(request);
      const id = `${shard.scanId}-${shard.shard}-${shard.attempt}`;
      const input = {
        shard,
        request,
        tenant,
        origin,
        startedAt,
        pausedMs,
        plugins,
        config,
        line,
        results: ShardResults.ofShard(store, shard),
        dir: join(this.#dir, id),
        processes,
        listeners,
        onGrant: () => void this.#shareRate(),
        onWarning: (err: unknown, message: string) => log.warn({ ...logReason(err), ...place }, message),
      };
      const run = new ShardRun(input, claimedAt);
      this.#follow(id, run, { ...place, attempt: shard.attempt }, (end) =>
        this.#input.traces?.shardEnded(request, origin, run.traceOf(end)),
      );
    } catch (err) {
      this.#logRejection(err, place);
      await line.release(shard);
      await sleep(rejectedPauseMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
    }
  }

  /** Logs a configuration error only once. */
  #logRejection(err: unknown, place: object): void {
    const known = err instanceof PortolanError && err.code === 'configuration' ? err.message : null;
    if (known !== null && this.#loggedRejections.has(known)) return;
    if (known !== null) this.#loggedRejections.add(known);
    this.#input.log.warn({ ...logReason(err), ...place }, 'shard returned to the queue');
  }

  #follow(id: string, run: ShardRun, place: object, trace: (end: ShardEnd) => void): void {
    const { log } = this.#input;
    this.#runs.set(id, run);
    this.#input.scale?.follow(this.#busy.length);
    log.info(place, 'shard started');
    this.#heartbeatSoon();
    void run.finished
      .then((end) => {
        log.info({ ...place, end }, 'shard ended');
        trace(end);
      })
      .catch((err: unknown) => log.warn({ ...logReason(err), ...place }, 'shard run failed'))
      .finally(() => {
        this.#runs.delete(id);
        void this.#shareRate();
        this.#lookAgain();
        if (!this.#stopping.signal.aborted) this.#heartbeatSoon();
      });
    if (this.#stopping.signal.aborted) run.release();
  }

  /** @throws PortolanError `configuration` when the server of the scan is of another major version */
  async #requireSameMajor(owner: string | null): Promise<void> {
    const { store, version } = this.#input;
    const server = owner === null ? null : await store.hosts.server(owner);
    if (server !== null) requireSameMajor(server, version);
  }

  /**
   * Divides this worker's own `scanner.max_rate` among its runs, within the rates that owners assign. Rates are lowered
   * before others are raised, so that the sum never exceeds the limit.
   */
  #shareRate(): Promise<void> {
    this.#sharing = this.#sharing
      .then(() => this.#applyShares())
      .catch((err: unknown) => this.#input.log.warn(logReason(err), 'distributing the packet rate failed'));
    return this.#sharing;
  }

  async #applyShares(): Promise<void> {
    const runs = this.#busy;
    const granted = new Map(runs.map((run) => [run, run.granted]));
    const shares = rateShares(granted, this.#input.config.scanner.max_rate);
    const shareOf = (run: ShardRun | WorkerPlace) => shares.get(run) ?? 0;
    const keep = (run: ShardRun | WorkerPlace) => run.keep(shareOf(run));
    await Promise.all(runs.filter((run) => shareOf(run) < run.rate).map(keep));
    await Promise.all(runs.filter((run) => shareOf(run) > run.rate).map(keep));
  }

  /** Which of its pools servers want workers with other tags for. */
  async #readPoolTags(): Promise<void> {
    const { store, line, pools, tags, log } = this.#input;
    const served = servedPools({ pools, tags }, await store.hosts.poolTags((await line.now()) - presentMs));
    const [before, now] = [this.#served.join(), served.join()];
    this.#served = served;
    const left = pools.filter((pool) => !served.includes(pool));
    if (before !== now && left.length > 0)
      log.warn({ pools: left, tags }, 'pools need workers with other tags');
  }

  /** A worker of small shards starts many in a second. */
  #heartbeatSoon(): void {
    this.#heartbeatDue ??= setTimeout(
      () => void this.#heartbeat(),
      Math.max(0, this.#heartbeatAt + minHeartbeatMs - performance.now()),
    );
  }

  async #heartbeat(): Promise<void> {
    clearTimeout(this.#heartbeatDue);
    this.#heartbeatDue = undefined;
    this.#heartbeatAt = performance.now();
    const { store, line, pools, tags, version, concurrency, scale, log } = this.#input;
    try {
      await store.hosts.saveWorker({
        worker_id: this.id,
        host: hostname(),
        pools,
        tags,
        version,
        capacity: scale?.size ?? concurrency,
        active: this.#busy.length,
        started_at: this.#startedAt,
        last_seen: await line.now(),
      });
      await this.#readPoolTags();
      this.#heartbeatOk = true;
    } catch (err) {
      if (this.#heartbeatOk) log.warn(logReason(err), 'heartbeat failed, retrying');
      this.#heartbeatOk = false;
    }
  }
}

/** What log lines about a shard name. */
function shardFields(
  { scanId, shard }: QueuedShard,
  { requestId }: ScanOrigin,
): ScanLogFields & { shard: number } {
  return { ...scanLogFields(scanId, requestId), shard };
}

/** Contains a folder for each worker process, named after it. */
export function workerFolders(workspaceDir: string): string {
  return join(workspaceDir, folderName);
}

/** Removes folders of killed workers: their results are stored. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const pid = Number(/^(\d+)-/.exec(name)?.[1] ?? 0);
    if (pid === process.pid || !isAlive(pid)) await rm(join(folder, name), { recursive: true, force: true });
  }
}
