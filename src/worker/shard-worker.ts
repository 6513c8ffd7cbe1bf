import { randomBytes } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/schema.ts';
import { PortolanError } from '../domain/errors.ts';
import type { Listener } from '../net/local-listeners.ts';
import { machineNow } from '../net/machine-clock.ts';
import type { QueuedShard, ShardQueue } from '../queue/shard-queue.ts';
import type { Store } from '../store/open.ts';
import type { ServerTableRow } from '../store/schema/tables.ts';
import { isAlive } from '../workspace/process-identity.ts';
import { type Fetch, HomeClient } from './home-client.ts';
import { logReason } from './log-reason.ts';
import { rateShares } from './rate-shares.ts';
import type { ShardHome } from './shard-home.ts';
import { ShardRun } from './shard-run.ts';
import { requireSameMajor } from './worker-version.ts';

/** The lines of the pools are looked at this often even when nobody says that something waits, milliseconds. */
const lookMs = 300;
/** The worker says this often that it is there, milliseconds. */
const signMs = 5000;
/** After a shard that cannot be run here, others have time to take it, milliseconds. */
const refusedMs = 3000;
/** A place in a folder for each shard under way. */
const folderName = 'worker';

export interface ShardWorkerInput {
  store: Store;
  line: ShardQueue;
  /** The worker's own settings: its scope and block list hold beside those of the home. */
  config: Config;
  /** The folder `worker/` lies in it. */
  workspaceDir: string;
  /** Others tell by it whose worker it is. */
  idPrefix: string;
  pools: string[];
  tags: string[];
  /** Shards at a time. */
  concurrency: number;
  /** How many places there are said to be when that follows the work; null = `concurrency`. */
  scale: { size: number; follow(busy: number): void } | null;
  version: string;
  /** The program that scan processes run. */
  entryFile: string;
  env: NodeJS.ProcessEnv;
  /** Where this process takes connections, which no scan may reach. */
  listeners: readonly Listener[];
  /** Where homes are, in place of what they say themselves. */
  homeUrl: string | null;
  /** The home when it is this very process; null when it is not. */
  ownHome: (homeId: string, shard: QueuedShard) => ShardHome | null;
  fetch?: Fetch;
  onLogLine: ((line: string) => void) | null;
  log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
  };
}

/** Takes shards of its pools and runs them, as long as it lives. */
export class ShardWorker {
  readonly id: string;
  readonly #input: ShardWorkerInput;
  readonly #runs = new Map<string, ShardRun>();
  readonly #stopping = new AbortController();
  readonly #startedAt = new Date().toISOString();
  #looking: Promise<void> = Promise.resolve();
  #nap = new AbortController();
  #signer: NodeJS.Timeout | undefined;
  #signed = true;
  /** Changes of the shares of the rate, one after the other. */
  #sharing: Promise<void> = Promise.resolve();
  /** Why shards were not taken, as the log was told. */
  readonly #refusals = new Set<string>();
  #forgetNews: () => void = () => undefined;

  constructor(input: ShardWorkerInput) {
    this.#input = input;
    this.id = `${input.idPrefix}${hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`;
  }

  async start(): Promise<void> {
    const { line } = this.#input;
    this.#forgetNews = line.onNews((scanId) => {
      this.#nap.abort();
      for (const run of this.#runs.values()) if (run.scanId === scanId) run.wake();
    });
    await removeLeftovers(join(this.#input.workspaceDir, folderName));
    await this.#sign();
    this.#signer = setInterval(() => void this.#sign(), signMs);
    this.#looking = this.#look();
  }

  /** Takes nothing more and gives back what runs. @param timeoutMs after which it is left to its lease */
  async stop(timeoutMs: number): Promise<void> {
    this.#stopping.abort();
    clearInterval(this.#signer);
    for (const run of this.#runs.values()) run.release();
    const ends = this.#looking.then(async () => {
      await Promise.all([...this.#runs.values()].map(({ finished }) => finished));
    });
    await Promise.race([ends, sleep(timeoutMs, undefined, { ref: false })]);
    for (const run of this.#runs.values()) run.kill();
    this.#forgetNews();
    await this.#input.store.hosts.forgetWorker(this.id).catch(() => undefined);
    if (this.#runs.size === 0) await rm(this.#place, { recursive: true, force: true });
  }

  /** Two workers of one workspace do not get in each other's way. */
  get #place(): string {
    return join(this.#input.workspaceDir, folderName, `${process.pid}-${this.id.slice(-8)}`);
  }

  async #look(): Promise<void> {
    const { log } = this.#input;
    let warned = false;
    while (!this.#stopping.signal.aborted) {
      this.#nap = new AbortController();
      const signal = AbortSignal.any([this.#nap.signal, this.#stopping.signal]);
      try {
        await this.#takeAll();
        this.#input.scale?.follow(this.#runs.size);
        if (warned) log.info({}, 'the queue can be reached again');
        warned = false;
      } catch (err) {
        if (!warned) log.warn(logReason(err), 'the queue cannot be reached; it is tried again');
        warned = true;
      }
      await sleep(lookMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async #takeAll(): Promise<void> {
    const { line, pools, concurrency } = this.#input;
    // One more than there are places for what another worker has lost: it would wait for the end of a whole shard.
    while (this.#runs.size <= concurrency && !this.#stopping.signal.aborted) {
      const asked = machineNow();
      const shard = await line.claim(this.id, pools, this.#runs.size < concurrency ? 'all' : 'begun');
      if (shard === null) return;
      await this.#begin(shard, asked);
    }
  }

  async #begin(shard: QueuedShard, claimedAt: number): Promise<void> {
    const { store, line, config, entryFile, env, listeners, onLogLine, log } = this.#input;
    const place = { scan_id: shard.scanId, shard: shard.shard };
    try {
      const request = await store.scans.request(shard.scanId);
      if (request === null) throw new PortolanError('not_found', 'the scan is not there any more');
      const home = await this.#homeOf(shard);
      const startedAt = await line.begin(shard.scanId);
      if (startedAt === null) throw new PortolanError('not_found', 'the scan is not there any more');
      const { pausedMs } = await store.jobs.pauseOf(shard.scanId, Date.now());
      const id = `${shard.scanId}-${shard.shard}-${shard.attempt}`;
      const input = {
        shard,
        request,
        startedAt,
        pausedMs,
        config,
        line,
        home,
        dir: join(this.#place, id),
        entryFile,
        env,
        listeners,
        onLogLine,
        onGrant: () => this.#shareRate(),
        onWarning: (err: unknown, message: string) => log.warn({ ...logReason(err), ...place }, message),
      };
      this.#follow(id, new ShardRun(input, claimedAt), { ...place, attempt: shard.attempt });
    } catch (err) {
      this.#tellRefusal(err, place);
      await line.release(shard, shard.pool);
      await sleep(refusedMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
    }
  }

  /** The reason why shards of one home are not for this worker is told once. */
  #tellRefusal(err: unknown, place: { scan_id: string; shard: number }): void {
    const known = err instanceof PortolanError && err.code === 'configuration' ? err.message : null;
    if (known !== null && this.#refusals.has(known)) return;
    if (known !== null) this.#refusals.add(known);
    this.#input.log.warn({ ...logReason(err), ...place }, 'a shard was given back');
  }

  #follow(id: string, run: ShardRun, place: object): void {
    const { log } = this.#input;
    this.#runs.set(id, run);
    this.#input.scale?.follow(this.#runs.size);
    log.info(place, 'shard started');
    void this.#sign();
    void run.finished
      .then((end) => log.info({ ...place, end }, 'shard ended'))
      .catch((err: unknown) => log.warn({ ...logReason(err), ...place }, 'a shard could not be carried on'))
      .finally(() => {
        this.#runs.delete(id);
        this.#shareRate();
        this.#nap.abort();
        if (!this.#stopping.signal.aborted) void this.#sign();
      });
    if (this.#stopping.signal.aborted) run.release();
  }

  /** @throws PortolanError `unavailable` when nobody says where the scan lies; `configuration` for a strange home */
  async #homeOf(shard: QueuedShard): Promise<ShardHome> {
    const { store, version, ownHome, fetch: send } = this.#input;
    const home = await store.scans.homeOf(shard.scanId);
    const own = home === null ? null : ownHome(home, shard);
    if (own) return own;
    const server = home === null ? null : await store.hosts.server(home);
    if (server === null) throw new PortolanError('unavailable', 'the home of the scan is not known');
    requireSameMajor(server, version);
    return new HomeClient(() => this.#placeOf(server), shard, send);
  }

  async #placeOf({ server_id, url }: ServerTableRow): Promise<string> {
    const { store, homeUrl } = this.#input;
    return homeUrl ?? (await store.hosts.server(server_id))?.url ?? url;
  }

  /**
   * Divides this worker's own `scanner.max_rate` among what runs here, within what the homes grant. Whoever gets less is
   * told first, so that the sum holds at every moment.
   */
  #shareRate(): void {
    this.#sharing = this.#sharing
      .then(() => this.#applyShares())
      .catch((err: unknown) => this.#input.log.warn(logReason(err), 'the rate could not be divided'));
  }

  async #applyShares(): Promise<void> {
    const runs = [...this.#runs];
    const granted = new Map(runs.map(([id, run]) => [id, run.granted]));
    const shares = rateShares(granted, this.#input.config.scanner.max_rate);
    const shareOf = (id: string) => shares.get(id) ?? 0;
    const keep = ([id, run]: [string, ShardRun]) => run.keep(shareOf(id));
    await Promise.all(runs.filter(([id, run]) => shareOf(id) < run.rate).map(keep));
    await Promise.all(runs.filter(([id, run]) => shareOf(id) > run.rate).map(keep));
  }

  async #sign(): Promise<void> {
    const { store, line, pools, tags, version, concurrency, scale, log } = this.#input;
    try {
      await store.hosts.seeWorker({
        worker_id: this.id,
        host: hostname(),
        pools,
        tags,
        version,
        capacity: scale?.size ?? concurrency,
        active: this.#runs.size,
        started_at: this.#startedAt,
        last_seen: await line.now(),
      });
      this.#signed = true;
    } catch (err) {
      if (this.#signed)
        log.warn(logReason(err), 'this worker cannot tell that it is there; it is tried again');
      this.#signed = false;
    }
  }
}

/** What workers left that were killed is known to the homes. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const pid = Number(/^(\d+)-/.exec(name)?.[1] ?? 0);
    if (pid === process.pid || !isAlive(pid)) await rm(join(folder, name), { recursive: true, force: true });
  }
}
