import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { postgresObstacle, runStatements, startPostgres, type TestPostgres } from '../postgres.ts';
import { ServerProcess } from '../program.ts';
import { type Row, rowsOf, sweep, until } from '../workers/cluster.ts';
import { WorkerProcess } from '../workers/worker-process.ts';
import { TargetField } from './target-field.ts';

const address = '127.86.32.1';
const portCount = 200;
/** Of a tablespace: an empty database takes 8 MB, the tables of a server 3. */
const sizeMb = 40;

describe.skipIf(postgresObstacle() !== null)('a database without room', () => {
  let folder: string;
  let postgres: TestPostgres;
  let field: TargetField;
  let url: string;
  let server: ServerProcess;
  let worker: WorkerProcess;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'portolan-small-'));
    // In a mount namespace nobody else sees it, and it goes with the server.
    const script = `mount -t tmpfs -o size=${sizeMb}m,uid=$(id -u postgres) tmpfs "${folder}" && exec "$@"`;
    postgres = await startPostgres(
      { fsync: 'off', autovacuum: 'off' },
      {
        address: '127.0.0.1',
        prefix: ['unshare', '--mount', 'sh', '-c', script, 'sh'],
        trusted: '',
        query: (place, text) => runStatements(place, [text]),
      },
    );
    url = await postgres.database();
    const admin = url.replace(/[^/]+$/, 'postgres');
    const name = url.split('/').at(-1);
    await runStatements(admin, [
      `create tablespace small location '${folder}'`,
      `alter database ${name} set tablespace small`,
    ]);
    field = await TargetField.open([address], portCount);
    const env = { SERVICE_QUEUE__URL: url, SERVICE_WORKERS__LEASE: '10s' };
    server = new ServerProcess({ env });
    worker = new WorkerProcess(['--pool', 'lab', '--queue', url], env);
    await Promise.all([server.start(), worker.start()]);
  });
  afterAll(async () => {
    await worker?.dispose();
    await server?.dispose();
    field?.close();
    await postgres?.remove();
    await rm(folder, { recursive: true, force: true });
  });

  it('is 507 to a submission; a running scan has all its rows when there is room again', async () => {
    const from = performance.now();
    const scanId = await sweep(server, field, [address], 20);
    await until('rows are found', () => field.connects(from, `${address}:`).length > 20);
    await runStatements(url, [
      'create table filler (text text)',
      'alter table filler alter text set storage external',
    ]);
    const fill = (bytes: number) =>
      runStatements(url, [`insert into filler select repeat('x', ${bytes}) from generate_series(1, 100)`]);
    for (const bytes of [10_000, 1000, 10]) while (await fill(bytes).then(() => true, isFull));
    const submit = () =>
      server.request('/api/v1/scans', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ targets: [address], ports: field.ports.slice(0, 5), dag: 'port-scan' }),
      });
    // Pages of the tables of a server may have some room left, here and there.
    const refusal = await vi.waitUntil(async () => {
      const response = await submit();
      return response.status === 507 && response;
    }, 60_000);
    expect(refusal).toMatchObject({ body: { error: { code: 'insufficient_storage' } } });
    await runStatements(url, ['drop table filler']);
    expect(await server.waitForEnd(scanId)).toMatchObject({ status: 'completed' });
    const ports = (await rowsOf(server, scanId)).filter(({ type }: Row) => type === 'port');
    const numbers = ports.map(({ port }) => port).sort((a, b) => a - b);
    expect(numbers).toEqual(field.ports.map(Number).sort((a, b) => a - b));
    expect(await submit()).toMatchObject({ status: 201 });
  });
});

/** @returns false for a full disk (SQLSTATE 53100) */
function isFull(error: unknown): boolean {
  if ((error as { code?: string }).code === '53100') return false;
  throw error;
}
