import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TargetField } from '../faults/target-field.ts';
import { type Pick, random } from '../fuzz/mutate.ts';
import { postgresObstacle, runStatements, startPostgres, type TestPostgres } from '../postgres.ts';
import { type ScanDetail, ServerProcess } from '../program.ts';
import { isLongRun } from '../rounds.ts';
import { type Row, sweep, until } from '../workers/cluster.ts';
import { WorkerProcess } from '../workers/worker-process.ts';

/** Each seed is a schedule of faults, always the same one. */
const seeds = Array.from({ length: isLongRun ? 200 : 3 }, (_, index) => index + 1);
const faultsOfSchedule = 7;
const hosts = [1, 2, 3, 4].map((last) => `127.86.30.${last}`);
const portCount = 150;
/** Packets per second of each scan: with nothing in the way it takes ten seconds. */
const rate = 30;
const leaseMs = 2000;
/** What a fault may have sent again: the probes since the last checkpoint, and those until a lease has ended. */
const againPerFault = (rate * (leaseMs + 4000)) / 1000;

const env = {
  SERVICE_WORKERS__LEASE: `${leaseMs}ms`,
  SERVICE_WORKERS__HEARTBEAT: '500ms',
  // Each fault may cost every shard an attempt.
  SERVICE_WORKERS__MAX_ATTEMPTS: '100',
  SERVICE_SERVER__API__RATE_LIMIT: '0',
};

describe.skipIf(postgresObstacle() !== null)('two servers and workers of two pools', () => {
  let postgres: TestPostgres;
  let field: TargetField;

  beforeAll(async () => {
    postgres = await startPostgres({ fsync: 'off' });
    field = await TargetField.open(hosts, portCount);
  });
  afterAll(async () => {
    field?.close();
    await postgres?.remove();
  });

  it.each(seeds)('find each port once, whatever fails meanwhile: schedule %i', async (seed) => {
    // Every other schedule has scans that their servers run undivided.
    const isDivided = seed % 2 === 1;
    const site = await Site.open(postgres, await postgres.database(), isDivided ? 1 : 256);
    const pool = isDivided ? 'lab' : 'default';
    try {
      const from = performance.now();
      const scanIds = [];
      // Each through the other server, for the same hosts: their packets are told apart by nothing but their number.
      for (const server of site.servers)
        scanIds.push(await sweep(server, field, hosts.slice(0, 2), rate, { pool }));
      // A server has no worker of this pool itself.
      for (const server of site.servers)
        scanIds.push(await sweep(server, field, hosts.slice(0, 2), rate, { pool: 'far' }));
      const schedule = new Schedule(site, random(seed));
      for (let count = 0; count < faultsOfSchedule && !(await site.haveEnded(scanIds)); count++) {
        await sleep(schedule.between(300, 2500));
        await schedule.next();
      }
      await site.restore();
      for (const scanId of scanIds) {
        const detail = await site.end(scanId);
        const shown = `${schedule.log.join(', ')}: ${JSON.stringify(detail)}`;
        expect(detail.status, shown).toBe('completed');
        expect(
          detail.warnings.map(({ code }) => code),
          shown,
        ).toEqual([]);
        expect(
          detail.stages.filter(({ status }) => status !== 'completed' && status !== 'skipped'),
          shown,
        ).toEqual([]);
        const ports = (await site.rows(scanId)).filter(({ type }) => type === 'port');
        expect(ports.map(({ host, port }) => `${host}:${port}`).toSorted(), shown).toEqual(pairs());
      }
      const probes = field.connects(from).length;
      const most = scanIds.length * (pairs().length + schedule.log.length * againPerFault);
      expect(probes, schedule.log.join(', ')).toBeLessThanOrEqual(most);
    } finally {
      await site.dispose();
    }
  });

  const pairs = () =>
    hosts
      .slice(0, 2)
      .flatMap((host) => field.ports.map((port) => `${host}:${port}`))
      .toSorted();
});

/** Servers and workers on one database. */
class Site {
  readonly servers: ServerProcess[];
  readonly workers: (WorkerProcess & { pool: string })[] = [];
  readonly postgres: TestPostgres;
  readonly url: string;

  static async open(postgres: TestPostgres, url: string, shardSize: number): Promise<Site> {
    const site = new Site(postgres, url, shardSize);
    await Promise.all(site.servers.map((server) => server.start()));
    for (const pool of ['lab', 'lab', 'lab', 'far']) await site.addWorker(pool);
    return site;
  }

  private constructor(postgres: TestPostgres, url: string, shardSize: number) {
    this.postgres = postgres;
    this.url = url;
    const size = { SERVICE_WORKERS__SHARD_SIZE: String(shardSize) };
    const args = { env: { ...env, ...size, SERVICE_QUEUE__URL: url } };
    this.servers = [new ServerProcess(args), new ServerProcess(args)];
  }

  async addWorker(pool: string): Promise<void> {
    const worker = Object.assign(new WorkerProcess(['--pool', pool, '--queue', this.url], env), { pool });
    this.workers.push(worker);
    await worker.start();
  }

  /** Ends a worker, which may have ended before, and adds one of its pool. */
  async replaceWorker(worker: WorkerProcess & { pool: string }, signal: NodeJS.Signals): Promise<void> {
    await worker.stop(signal);
    await this.addWorker(worker.pool);
  }

  /** The processes of a database that was killed end a moment later; until then it cannot start. */
  async startDatabase(): Promise<void> {
    await until('the database runs', () =>
      this.postgres.start().then(
        () => true,
        () => false,
      ),
    );
  }

  /** Everything runs again. */
  async restore(): Promise<void> {
    await this.startDatabase();
    for (const server of this.servers) if (!server.isRunning) await server.start();
    for (const pool of ['lab', 'far'])
      if (this.workers.every((worker) => worker.ended || worker.pool !== pool)) await this.addWorker(pool);
  }

  /** The first response of a server. */
  async #ask<T>(read: (server: ServerProcess) => Promise<T>): Promise<T | null> {
    for (const server of this.servers.filter(({ isRunning }) => isRunning)) {
      const found = await read(server).catch(() => null);
      if (found !== null) return found;
    }
    return null;
  }

  async haveEnded(scanIds: readonly string[]): Promise<boolean> {
    const details = await Promise.all(scanIds.map((scanId) => this.#ask((server) => server.detail(scanId))));
    return details.every((detail) => detail !== null && isOver(detail));
  }

  async end(scanId: string): Promise<ScanDetail> {
    let found: ScanDetail | null = null;
    await until(`the end of ${scanId}`, async () => {
      found = await this.#ask((server) => server.detail(scanId));
      return found !== null && isOver(found);
    });
    return found as unknown as ScanDetail;
  }

  async rows(scanId: string): Promise<Row[]> {
    const path = `/api/v1/scans/${scanId}/results?format=jsonl`;
    let text = '';
    await until(`the results of ${scanId}`, async () => {
      const found = await this.#ask(async (server) => {
        const { status, body } = await server.request(path);
        return status === 200 ? String(body) : null;
      });
      text = found ?? '';
      return found !== null;
    });
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Row);
  }

  async dispose(): Promise<void> {
    await Promise.all([...this.workers, ...this.servers].map((one) => one.dispose()));
    await this.startDatabase();
  }
}

function isOver({ status }: ScanDetail): boolean {
  return status === 'completed' || status === 'failed';
}

/** Faults in an order that depends on the seed only. */
class Schedule {
  readonly log: string[] = [];
  readonly #site: Site;
  readonly #pick: Pick;

  constructor(site: Site, pick: Pick) {
    this.#site = site;
    this.#pick = pick;
  }

  between(least: number, most: number): number {
    return least + this.#pick(most - least);
  }

  #oneOf<T>(items: readonly T[]): T {
    return items[this.#pick(items.length)] as T;
  }

  async next(): Promise<void> {
    const [name, fault] = this.#oneOf(Object.entries(this.#faults));
    this.log.push(name);
    await fault();
  }

  /** Processes that serve connections of the database. */
  async #backends(): Promise<number[]> {
    const list = `select coalesce(string_agg(pid::text, ','), '') from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()`;
    return (await textFrom(this.#site.url, list)).split(',').filter(Boolean).map(Number);
  }

  readonly #faults: Record<string, () => Promise<void>> = {
    'a worker killed': async () => {
      await this.#site.replaceWorker(this.#oneOf(this.#site.workers), 'SIGKILL');
    },
    'a worker stopped': async () => {
      await this.#site.replaceWorker(this.#oneOf(this.#site.workers), 'SIGTERM');
    },
    'a worker frozen': async () => {
      const worker = this.#oneOf(this.#site.workers.filter(({ ended }) => !ended));
      worker.signal('SIGSTOP');
      await sleep(this.between(500, 2 * leaseMs));
      worker.signal('SIGCONT');
    },
    'the process of a shard killed': async () => {
      const worker = this.#oneOf(this.#site.workers.filter(({ ended }) => !ended));
      const process = this.#oneOf(worker.shards());
      if (process !== undefined) kill(process);
    },
    'a last step killed': async () => {
      const server = this.#oneOf(this.#site.servers.filter(({ isRunning }) => isRunning));
      for (const process of server.scanProcesses()) kill(process);
    },
    'a server killed': async () => {
      const server = this.#oneOf(this.#site.servers);
      await server.stop('SIGKILL');
      await sleep(this.between(0, 2000));
      await server.start();
    },
    'a server killed until the other one has its scans': async () => {
      const server = this.#oneOf(this.#site.servers);
      await server.stop('SIGKILL');
      // As if it had been away for so long.
      await runStatements(this.#site.url, [
        `update portolan.servers set last_seen = last_seen - 60000 where url = '${server.url}'`,
      ]);
      await sleep(this.between(5000, 8000));
      await server.start();
    },
    'both servers killed until a worker has their scans': async () => {
      for (const server of this.#site.servers) await server.stop('SIGKILL');
      await runStatements(this.#site.url, ['update portolan.servers set last_seen = last_seen - 60000']);
      await sleep(this.between(4000, 24_000));
      for (const server of this.#site.servers) await server.start();
    },
    'a server stopped': async () => {
      const server = this.#oneOf(this.#site.servers);
      await server.stop('SIGTERM');
      await server.start();
    },
    'the database ended at once': async () => {
      await this.#site.postgres.stop('SIGQUIT');
      await sleep(this.between(0, 3 * leaseMs));
      await this.#site.startDatabase();
    },
    'the database killed': async () => {
      await this.#site.postgres.stop('SIGKILL');
      await sleep(this.between(0, 3 * leaseMs));
      await this.#site.startDatabase();
    },
    'a process of the database killed': async () => {
      const pid = this.#oneOf(await this.#backends());
      if (pid !== undefined) kill(pid);
      // The database ends all others and starts again.
      await until('the database responds', () =>
        runStatements(this.#site.url, ['select 1']).then(
          () => true,
          () => false,
        ),
      );
    },
    'some connections of the database cut': async () => {
      const [divisor, rest] = [this.between(2, 4), this.between(0, 2)];
      await runStatements(this.#site.url, [
        `select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database() and pid % ${divisor} = ${rest}`,
      ]);
    },
    'all connections of the database cut': async () => {
      await runStatements(this.#site.url, [
        'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()',
      ]);
    },
    'notifications lost': async () => {
      for (let count = 0; count < 10; count++) {
        await runStatements(this.#site.url, [
          "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'portolan wake-ups'",
        ]);
        await sleep(200);
      }
    },
  };
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

async function textFrom(url: string, statement: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ text: string }>(`select (${statement}) as text`);
    return rows[0]?.text ?? '';
  } finally {
    await client.end();
  }
}
