import { setTimeout as sleep } from 'node:timers/promises';
import { TargetField } from '../faults/target-field.ts';
import { storeDatabase } from '../postgres.ts';
import { ServerProcess } from '../program.ts';
import { WorkerProcess } from './worker-process.ts';

/** Packets or connections that were under way when something happened, in time, milliseconds. */
export const slackMs = 700;

/** Short, so that a test need not wait long for a worker that is gone. */
export const leaseMs = 2000;
const shortLease = { SERVICE_WORKERS__LEASE: `${leaseMs}ms`, SERVICE_WORKERS__HEARTBEAT: '500ms' };
/** For tests in which no lease has to end: a machine that stands still for seconds takes no shard away. */
export const longLease = { SERVICE_WORKERS__LEASE: '30s' };

/**
 * Resolves when something holds. `expect.poll` cannot be used by tests that run at the same time.
 * @throws after a time that no machine needs, with what it waited for
 */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + 180_000;
  while (!(await holds())) {
    if (performance.now() > giveUpAt) throw new Error(`not within three minutes: ${what}`);
    await sleep(50);
  }
}

/** Submits a scan that makes one connection to each port of the field on each of the targets. */
export const sweep = (
  server: ServerProcess,
  { ports }: TargetField,
  targets: readonly string[],
  rate: number,
  more: { pool?: string; exclude?: string[]; ports?: readonly number[]; notifications?: string[] } = {},
): Promise<string> =>
  server.submit({
    targets,
    ports,
    rate,
    pool: 'lab',
    dag: 'port-scan',
    options: { discover: false, retries: 0, timeout: '1s' },
    ...more,
  });

export type Row = Record<string, unknown> & { type: string; host: string; port: number };

/** Everything that a scan has found. */
export async function rowsOf(server: ServerProcess, scanId: string): Promise<Row[]> {
  const { body } = await server.request(`/api/v1/scans/${scanId}/results?format=jsonl`);
  return String(body)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
}

/** Listeners that are scanned, and the clusters of a test file. */
export class Lab {
  readonly field: TargetField;
  readonly #database: () => Promise<string>;
  readonly #opened: { dispose(): Promise<void> }[] = [];

  /** @param database makes one for each cluster */
  static async open(addresses: readonly string[], portCount: number, database = storeDatabase): Promise<Lab> {
    return new Lab(await TargetField.open(addresses, portCount), database);
  }

  private constructor(field: TargetField, database: () => Promise<string>) {
    this.field = field;
    this.#database = database;
  }

  /** A server that serves, on a database of its own; each shard has one address. */
  async cluster(env: NodeJS.ProcessEnv = {}, args: string[] = []): Promise<Cluster> {
    const cluster = new Cluster(await this.#database(), { SERVICE_WORKERS__SHARD_SIZE: '1', ...env }, args);
    this.#opened.push(cluster);
    await cluster.server.start();
    return cluster;
  }

  /** One more server on a database. */
  async server(env: NodeJS.ProcessEnv): Promise<ServerProcess> {
    const server = new ServerProcess({ env });
    this.#opened.push(server);
    await server.start();
    return server;
  }

  /** Pairs of these hosts that a scan of all ports has to ask for, sorted. */
  pairs(hosts: readonly string[]): string[] {
    return hosts.flatMap((host) => this.field.ports.map((port) => `${host}:${port}`)).sort();
  }

  /** Pairs that were asked for since a moment, each once, sorted. */
  asked(from: number, hosts: readonly string[]): string[] {
    return [...new Set(this.#connects(from, hosts).map(({ pair }) => pair))].sort();
  }

  /**
   * Pairs of these hosts that were probed again, but for the last ones before a moment and later ones: what is under way
   * when a shard is taken over or held is done anew. The last ones are so many as a scan of this rate probes in a second
   * and the slack: counted, because a slow machine needs longer for them.
   */
  probedAgain(from: number, hosts: readonly string[], moment: number, rate: number): string[] {
    const connects = this.#connects(from, hosts).sort((a, b) => a.at - b.at);
    const before = connects.filter(({ at }) => at < moment).length;
    const finished = before - (rate * (1000 + slackMs)) / 1000;
    const first = new Map<string, number>();
    return connects.flatMap(({ pair }, index) => {
      const earlier = first.get(pair) ?? index;
      first.set(pair, earlier);
      return earlier < index && earlier < finished ? [pair] : [];
    });
  }

  #connects(from: number, hosts: readonly string[]) {
    return hosts.flatMap((host) => this.field.connects(from, `${host}:`));
  }

  /** How many connections came since a moment of performance.now(). @param host all hosts when not given */
  count(from: number, host?: string): number {
    return this.field.connects(from, host && `${host}:`).length;
  }

  /** Resolves when more connections than these have come since a moment. */
  async begun(from: number, count: number, host?: string): Promise<void> {
    await until(`more than ${count} connections`, () => this.count(from, host) > count);
  }

  /** Resolves when no connection has come for a while; whether that is because the scan is over is for the caller to see. */
  async silence(hosts: readonly string[], quietMs = 1500): Promise<void> {
    await sleep(quietMs);
    await until('silence', () => this.#connects(performance.now() - quietMs, hosts).length === 0);
  }

  /** Ends the clusters that were opened so far: what stands idle takes its share of the processors too. */
  async clear(): Promise<void> {
    for (const one of this.#opened.splice(0)) await one.dispose();
  }

  async dispose(): Promise<void> {
    await this.clear();
    this.field.close();
  }
}

/** Something that a test asks to be called back at its end: vitest's `onTestFinished`. */
type AtEnd = (work: () => Promise<void>) => void;

/**
 * A pool of one test and its workers, on a server that several tests share: a server takes far longer to start than a
 * worker, and tests that mostly wait may wait together.
 */
export class Pool {
  readonly name: string;
  readonly #cluster: Cluster;
  readonly #field: TargetField;

  constructor(cluster: Cluster, field: TargetField, name: string) {
    this.#cluster = cluster;
    this.#field = field;
    this.name = name;
  }

  async worker(args: string[] = [], env: NodeJS.ProcessEnv = {}): Promise<WorkerProcess> {
    return await this.#cluster.worker(args, env, this.name);
  }

  /** Submits a scan for the workers of this pool, see sweep. */
  async sweep(targets: readonly string[], rate: number, more: { exclude?: string[] } = {}): Promise<string> {
    return await sweep(this.#cluster.server, this.#field, targets, rate, { ...more, pool: this.name });
  }
}

/** One server and any number of workers, of the pool `lab` unless another is named, on a database of their own. */
export class Cluster {
  readonly server: ServerProcess;
  /** Of the database. */
  readonly url: string;
  readonly #workers: { pool: string; worker: WorkerProcess }[] = [];
  /** The workers have that of the server. */
  readonly #lease: NodeJS.ProcessEnv;
  #pools = 0;

  constructor(url: string, env: NodeJS.ProcessEnv = {}, args: string[] = []) {
    this.url = url;
    this.server = new ServerProcess({ args, env: { ...shortLease, SERVICE_QUEUE__URL: url, ...env } });
    const { SERVICE_WORKERS__LEASE = shortLease.SERVICE_WORKERS__LEASE } = env;
    this.#lease = { ...shortLease, SERVICE_WORKERS__LEASE };
  }

  async worker(args: string[] = [], env: NodeJS.ProcessEnv = {}, pool = 'lab'): Promise<WorkerProcess> {
    const worker = new WorkerProcess(['--pool', pool, '--queue', this.url, ...args], {
      ...this.#lease,
      ...env,
    });
    this.#workers.push({ pool, worker });
    return await worker.start();
  }

  /** A pool for one test, whose workers end with it. */
  pool(field: TargetField, atEnd: AtEnd): Pool {
    const pool = new Pool(this, field, `lab-${++this.#pools}`);
    atEnd(() => this.#dismiss(pool.name));
    return pool;
  }

  async #dismiss(pool: string): Promise<void> {
    await Promise.all(this.#workers.map((one) => one.pool === pool && one.worker.dispose()));
  }

  async dispose(): Promise<void> {
    await Promise.all(this.#workers.map(({ worker }) => worker.dispose()));
    await this.server.dispose();
  }
}
