import { expect } from 'vitest';
import { TargetField } from '../faults/target-field.ts';
import { startPostgres, type TestPostgres } from '../postgres.ts';
import { ServerProcess } from '../program.ts';
import { WorkerProcess } from './worker-process.ts';

/** Short, so that a test need not wait long for a worker that is gone. */
export const leaseMs = 2000;
const lease = { SERVICE_WORKERS__LEASE: `${leaseMs}ms`, SERVICE_WORKERS__HEARTBEAT: '500ms' };

/** Submits a scan that makes one connection to each port of the field on each of the targets. */
export const sweep = (
  server: ServerProcess,
  { ports }: TargetField,
  targets: readonly string[],
  rate: number,
  more: object = {},
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

/** A database server, listeners that are scanned, and the clusters of a test file. */
export class Lab {
  readonly postgres: TestPostgres;
  readonly field: TargetField;
  readonly #opened: { dispose(): Promise<void> }[] = [];

  static async open(addresses: readonly string[], portCount: number): Promise<Lab> {
    return new Lab(await startPostgres({ fsync: 'off' }), await TargetField.open(addresses, portCount));
  }

  private constructor(postgres: TestPostgres, field: TargetField) {
    this.postgres = postgres;
    this.field = field;
  }

  /** A server that serves, on a database of its own; each shard has one address. */
  async cluster(env: NodeJS.ProcessEnv = {}, args: string[] = []): Promise<Cluster> {
    const cluster = await Cluster.open(this.postgres, { SERVICE_WORKERS__SHARD_SIZE: '1', ...env }, args);
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

  /** How many connections came since a moment of performance.now(). @param host all hosts when not given */
  count(from: number, host?: string): number {
    return this.field.connects(from, host && `${host}:`).length;
  }

  /** Resolves when more connections than these have come since a moment. */
  async begun(from: number, count: number): Promise<void> {
    await expect.poll(() => this.count(from), { timeout: 40_000, interval: 20 }).toBeGreaterThan(count);
  }

  /** Ends the clusters that were opened so far: what stands idle takes its share of the processors too. */
  async clear(): Promise<void> {
    for (const one of this.#opened.splice(0)) await one.dispose();
  }

  async dispose(): Promise<void> {
    await this.clear();
    this.field.close();
    await this.postgres.remove();
  }
}

/** One server and any number of workers of the pool `lab` on a database of their own. */
export class Cluster {
  readonly server: ServerProcess;
  /** Of the database. */
  readonly url: string;
  readonly #workers: WorkerProcess[] = [];

  static async open(
    postgres: TestPostgres,
    env: NodeJS.ProcessEnv = {},
    args: string[] = [],
  ): Promise<Cluster> {
    return new Cluster(await postgres.database(), env, args);
  }

  private constructor(url: string, env: NodeJS.ProcessEnv, args: string[]) {
    this.url = url;
    this.server = new ServerProcess({ args, env: { ...lease, SERVICE_QUEUE__URL: url, ...env } });
  }

  async worker(args: string[] = [], env: NodeJS.ProcessEnv = {}): Promise<WorkerProcess> {
    const worker = new WorkerProcess(['--pool', 'lab', '--queue', this.url, ...args], { ...lease, ...env });
    this.#workers.push(worker);
    return await worker.start();
  }

  async dispose(): Promise<void> {
    for (const worker of this.#workers) await worker.dispose();
    await this.server.dispose();
  }
}
