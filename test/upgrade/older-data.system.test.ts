/**
 * A workspace and a PostgreSQL database that an earlier version wrote and that a kill -9 left: two finished scans, a
 * canceled one, a paused one with its checkpoint, one that ran, a job with a schedule, one without, a token.
 * `0.1.0/` was written by that version. Its scans go to 127.91.0.0/24, port 42111.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { emptyDatabase, postgresObstacle } from '../postgres.ts';
import { root, type ScanDetail, ServerProcess } from '../program.ts';

interface Written {
  done: string;
  canceled: string;
  paused: string;
  running: string;
  nightly: string;
  once: string;
  token: string;
}

const folder = join(import.meta.dirname, '0.1.0');
const addresses = ['127.91.0.1', '127.91.0.2', '127.91.0.3'];
const port = 42111;
const listeners: Server[] = [];

const written = (name: string): Written => JSON.parse(readFileSync(join(folder, name), 'utf8'));
const extract = (name: string, into: string) => execFileSync('tar', ['-xzf', join(folder, name), '-C', into]);

beforeAll(async () => {
  for (const address of addresses) {
    const listener = createServer((socket) =>
      socket.on('error', () => undefined).end('SSH-2.0-OpenSSH_9.2p1\r\n'),
    );
    await new Promise<void>((resolve) => listener.listen(port, address, resolve));
    listeners.push(listener);
  }
});
afterAll(() => {
  for (const listener of listeners) listener.close();
});

async function data<T>(server: ServerProcess, path: string): Promise<T> {
  const { status, body } = await server.request(`/api/v1/${path}`);
  expect(status, path).toBe(200);
  return (body as { data: T }).data;
}

function openPorts(server: ServerProcess, scanId: string): Promise<string[]> {
  type Hosts = { results: { host: string; ports: { port: number; state: string }[] }[] };
  return data<Hosts>(server, `scans/${scanId}/results`).then(({ results }) =>
    results.flatMap(({ host, ports }) =>
      ports.filter(({ state }) => state === 'open').map((open) => `${host}:${open.port}`),
    ),
  );
}

/** What an opened store must give back, whoever holds it. */
function describeWhatIsFound(
  opened: () => { server: ServerProcess; facts: Written; env: NodeJS.ProcessEnv },
) {
  it('finished scans are listed with their results, and canceled ones as canceled', async () => {
    const { server, facts } = opened();
    const listed = await data<{ scans: ScanDetail[] }>(server, 'scans?limit=100');
    const ids = listed.scans.map(({ scan_id }) => scan_id);
    expect(ids).toEqual(expect.arrayContaining([facts.done, facts.canceled, facts.paused, facts.running]));
    expect(await server.detail(facts.done)).toMatchObject({
      status: 'completed',
      name: 'finished before',
      tags: ['old'],
      results: { live_hosts: 1, open_ports: 1 },
    });
    expect(await openPorts(server, facts.done)).toEqual([`127.91.0.1:${port}`]);
    expect(await server.detail(facts.canceled)).toMatchObject({
      status: 'failed',
      error: { code: 'canceled' },
    });
  });

  it('jobs keep their schedule and their runs', async () => {
    const { server, facts } = opened();
    expect(await data(server, `jobs/${facts.nightly}`)).toMatchObject({
      name: 'nightly',
      schedule: '0 3 * * *',
    });
    const once = await data<{ scan_id: string; run_count: number }>(server, `jobs/${facts.once}`);
    expect(once).toMatchObject({ name: 'once', run_count: 1, status: 'completed' });
    expect(await openPorts(server, once.scan_id)).toEqual([`127.91.0.1:${port}`]);
  });

  it('tokens are listed', () => {
    const { server, facts, env } = opened();
    const args = ['server', 'token', 'list', '--workspace-dir', server.workspace];
    const options = { env: { ...process.env, ...env, NO_COLOR: '1' }, encoding: 'utf8' as const };
    expect(execFileSync(join(root, 'bin/portolan'), args, options)).toContain(facts.token);
  });

  it('a paused scan resumes from its checkpoint and completes', async () => {
    const { server, facts } = opened();
    const paused = await server.detail(facts.paused);
    expect(paused).toMatchObject({ status: 'running', progress: { paused: true } });
    expect(paused.progress.percent).toBeGreaterThan(20);
    await server.request(`/api/v1/scans/${facts.paused}/resume`, { method: 'POST' });
    const ended = await server.waitForEnd(facts.paused);
    expect(ended).toMatchObject({ status: 'completed', results: { live_hosts: 3, open_ports: 3 } });
    expect((await openPorts(server, facts.paused)).sort()).toEqual(
      addresses.map((host) => `${host}:${port}`),
    );
  });

  it('a scan that ran at the kill completes', async () => {
    const { server, facts } = opened();
    const ended = await server.waitForEnd(facts.running);
    expect(ended).toMatchObject({ status: 'completed', results: { open_ports: 1 } });
  });
}

describe('a workspace of version 0.1.0', () => {
  const server = new ServerProcess();
  beforeAll(async () => {
    extract('workspace.tar.gz', server.workspace);
    await server.start();
  });
  afterAll(() => server.dispose());

  describeWhatIsFound(() => ({ server, facts: written('workspace.json'), env: {} }));
});

const obstacle = postgresObstacle();
describe.skipIf(obstacle !== null)(
  `a PostgreSQL database of version 0.1.0${obstacle ? ` (${obstacle})` : ''}`,
  () => {
    let server: ServerProcess;
    let env: NodeJS.ProcessEnv;
    beforeAll(async () => {
      const url = await emptyDatabase();
      const dump = gunzipSync(readFileSync(join(folder, 'postgres.sql.gz')));
      execFileSync('psql', ['-q', '-v', 'ON_ERROR_STOP=1', url], {
        input: dump,
        stdio: ['pipe', 'ignore', 'inherit'],
      });
      env = { SERVICE_QUEUE__URL: url };
      server = new ServerProcess({ env });
      extract('postgres-workspace.tar.gz', server.workspace);
      expect(existsSync(join(server.workspace, 'scans'))).toBe(true);
      await server.start();
    });
    afterAll(async () => {
      await server?.dispose();
    });

    describeWhatIsFound(() => ({ server, facts: written('postgres.json'), env }));
  },
);
