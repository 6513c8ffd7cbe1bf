import { existsSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresObstacle, storeDatabase } from '../postgres.ts';
import type { ServerProcess } from '../program.ts';
import { rounds } from '../rounds.ts';
import { Lab, rowsOf, sweep, until } from '../workers/cluster.ts';
import { WorkerProcess } from '../workers/worker-process.ts';

const hosts = [1, 2, 3, 4].map((last) => `127.86.33.${last}`);
const portCount = 20;
const scanCount = rounds(60, 30);
/** Of a scan that ends at once, and of those that are under way for long, packets per second. */
const [quick, slow] = [4000, 2];
const pools = ['lab', 'default'];
/** Of a test, and of the start of all processes: so many scans at once are much for a machine that does other work. */
const longestMs = 900_000;

/** Rows of unfinished work, and of scans that are gone. */
const leftovers = `
  select 'shard plans' as what, count(*)::int from portolan.shard_plans
  union all select 'shards', count(*)::int from portolan.shards
  union all select 'blocks of results', count(*)::int from portolan.result_blocks
  union all select 'checkpoints', count(*)::int from portolan.shard_checkpoints
  union all select 'scans', count(*)::int from portolan.scans where status in ('pending', 'running')
  union all select 'claims', count(*)::int from portolan.scan_queue where state in ('waiting', 'running')
  union all select 'messages', count(*)::int from portolan_queue.job
  union all select 'busy workers', count(*)::int from portolan.workers where active > 0
  union all select 'results of deleted scans', count(*)::int from portolan.result_objects
    where split_part(name, '/', 2) not in (select scan_id from portolan.scans)`;

/** Response to a request that lasts too long. */
const late = (method: string) => [`${method} 503 unavailable`, `${method} 504 timeout`];

interface StormScan {
  scanId: string;
  targets: readonly string[];
}

describe.skipIf(postgresObstacle() !== null)(
  'two servers and two workers, with cancels of many scans at the same time',
  () => {
    let lab: Lab;
    let database: pg.Client;
    let servers: ServerProcess[];
    const workers: WorkerProcess[] = [];

    beforeAll(async () => {
      lab = await Lab.open(hosts, portCount);
      const url = await storeDatabase();
      const env = {
        // Long for a busy machine; and the message of a shard that its worker gave up lasts until its lease ends.
        SERVICE_WORKERS__LEASE: '60s',
        SERVICE_QUEUE__URL: url,
        SERVICE_WORKERS__SHARD_SIZE: '1',
        SERVICE_SERVER__API__RATE_LIMIT: '0',
      };
      servers = await Promise.all([lab.server(env), lab.server(env)]);
      for (let count = 0; count < 2; count++)
        workers.push(await new WorkerProcess(['--pool', 'lab', '--queue', url], env).start());
      database = new pg.Client({ connectionString: url });
      await database.connect();
    }, longestMs);
    afterAll(async () => {
      await database?.end();
      await Promise.all(workers.map((worker) => worker.dispose()));
      await lab?.dispose();
    });

    const oneOf = <T>(items: readonly T[], index: number) => items[index % items.length] as T;
    /** Divided and small ones, quick and slow ones, at either server for either pool. */
    const submit = async (index: number): Promise<StormScan> => {
      const targets = index % 3 === 0 ? hosts : [oneOf(hosts, index)];
      const rate = index % 3 === 1 ? quick : slow * targets.length;
      const pool = oneOf(pools, Math.floor(index / 2));
      return { targets, scanId: await sweep(oneOf(servers, index), lab.field, targets, rate, { pool }) };
    };
    /** Resolves when some scans have ended, some run and some wait. */
    const underWay = async (): Promise<StormScan[]> => {
      const scans = await Promise.all(Array.from({ length: scanCount }, (_, index) => submit(index)));
      await until('scans in each state', async () => {
        const { rows } = await database.query<{ status: string; count: number }>(
          'select status, count(*)::int from portolan.scans where scan_id = any($1) group by status',
          [scans.map(({ scanId }) => scanId)],
        );
        const counts = Object.fromEntries(rows.map(({ status, count }) => [status, count]));
        return (counts['completed'] ?? 0) > 0 && (counts['running'] ?? 0) > 0 && (counts['pending'] ?? 0) > 0;
      });
      return scans;
    };
    const requestOf = async (server: ServerProcess, method: string, path: string) => {
      const { status, body } = await server.request(`/api/v1/scans/${path}`, { method });
      const { error } = body as { error?: { code: string } };
      return `${method} ${status} ${error?.code ?? ''}`.trim();
    };
    /** Twice through each server. */
    const cancel = async ({ scanId }: StormScan): Promise<string[]> =>
      await Promise.all(
        [...servers, ...servers].map((server) => requestOf(server, 'POST', `${scanId}/cancel`)),
      );
    const remove = async ({ scanId }: StormScan): Promise<string[]> =>
      await Promise.all([...servers, ...servers].map((server) => requestOf(server, 'DELETE', scanId)));

    const pairsOf = async (server: ServerProcess, scanId: string): Promise<string[]> => {
      const rows = (await rowsOf(server, scanId)).filter(({ type }) => type === 'port');
      return rows.map(({ host, port }) => `${host}:${port}`).toSorted();
    };
    const left = async (): Promise<string[]> => {
      const { rows } = await database.query<{ what: string; count: number }>(leftovers);
      return rows.filter(({ count }) => count > 0).map(({ what, count }) => `${count} ${what}`);
    };
    /** Nothing of the scans is left, nothing is sent, and those that come have all for themselves. */
    const expectIdle = async () => {
      let found: string[] = [];
      await until('nothing left', async () => (found = await left()).length === 0).catch((error: unknown) => {
        throw new Error(`left: ${found.join(', ')}`, { cause: error });
      });
      expect(await lab.field.afterStop()).toEqual([]);
      const scans = servers.flatMap((server) =>
        pools.map(async (pool) => {
          const scanId = await sweep(server, lab.field, hosts, quick, { pool });
          expect(await server.waitForEnd(scanId)).toMatchObject({ status: 'completed', warnings: [] });
          expect(await pairsOf(server, scanId)).toEqual(lab.pairs(hosts));
        }),
      );
      await Promise.all(scans);
    };

    it(
      'end each of them once, whatever its state, and keep what it has found',
      async () => {
        const scans = await underWay();
        const responses = await Promise.all(scans.map(cancel));
        for (const [index, { scanId, targets }] of scans.entries()) {
          // A cancel that came too late for its response has taken effect all the same.
          const ended = await servers[0]?.waitForEnd(scanId);
          const shown = `${scanId}: ${responses[index]?.join(', ')}: ${JSON.stringify(ended)}`;
          expect(await servers[1]?.detail(scanId), shown).toEqual(ended);
          const isCanceled = ended?.error?.code === 'canceled';
          expect(ended?.status, shown).toBe(isCanceled ? 'failed' : 'completed');
          // One that came to its end before its cancel is over, and says so to each.
          const documented = [isCanceled ? 'POST 200' : 'POST 409 conflict', ...late('POST')];
          expect(documented, shown).toEqual(expect.arrayContaining(responses[index] ?? []));
          const pairs = await pairsOf(oneOf(servers, index), scanId);
          if (!isCanceled) expect(pairs, shown).toEqual(lab.pairs(targets));
          expect(lab.pairs(targets), shown).toEqual(expect.arrayContaining(pairs));
          expect(pairs, shown).toEqual([...new Set(pairs)]);
        }
        await expectIdle();
      },
      longestMs,
    );

    it(
      'leave no results of a running scan that is deleted',
      async () => {
        const server = oneOf(servers, 0);
        const from = performance.now();
        const scanId = await sweep(server, lab.field, hosts, slow, { pool: 'default' });
        await lab.begun(from, 4);
        expect(await requestOf(server, 'DELETE', scanId)).toBe('DELETE 200');
        await expectIdle();
      },
      longestMs,
    );

    it(
      'delete each of them once, with all that it has left anywhere',
      async () => {
        const scans = await underWay();
        const responses = await Promise.all(
          scans.map(async (scan) => (await Promise.all([cancel(scan), remove(scan)])).flat()),
        );
        const documented = [
          'POST 200',
          'POST 409 conflict',
          'POST 404 not_found',
          'DELETE 200',
          'DELETE 404 not_found',
          ...late('POST'),
          ...late('DELETE'),
        ];
        for (const [index, scan] of scans.entries()) {
          const { scanId } = scan;
          const shown = `${scanId}: ${responses[index]?.join(', ')}`;
          expect(documented, shown).toEqual(expect.arrayContaining(responses[index] ?? []));
          const deletions = responses[index]?.filter((response) => response === 'DELETE 200') ?? [];
          expect(deletions.length, shown).toBeLessThanOrEqual(1);
          // A client that was put off asks again.
          if (deletions.length === 0)
            await until(`the deletion of ${shown}`, async () =>
              (await remove(scan)).every((response) => response === 'DELETE 404 not_found'),
            );
          for (const server of servers) {
            expect((await server.request(`/api/v1/scans/${scanId}`)).status, shown).toBe(404);
            await until(
              `its folder is gone: ${shown}`,
              () => !existsSync(join(server.workspace, 'scans', scanId)),
            );
          }
        }
        await expectIdle();
      },
      longestMs,
    );
  },
);
