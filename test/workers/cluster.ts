import type { TargetField } from '../faults/target-field.ts';
import type { TestPostgres } from '../postgres.ts';
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
