import { existsSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { numberFrom, postgresObstacle, runStatements } from '../postgres.ts';
import type { ServerProcess } from '../program.ts';
import { Lab, rowsOf, sweep, until } from './cluster.ts';
import { WorkerProcess } from './worker-process.ts';

const address = '127.86.20.1';
const portCount = 300;
/** Too many for a small scan; one of them listens. */
const hostsOf = (count: number) => Array.from({ length: count }, (_, at) => `127.86.20.${at + 1}`);

/** Reads the events of a scan, from behind an id, until `enough` says so or the scan has ended. @returns ids of ports */
async function portIds(
  server: ServerProcess,
  scanId: string,
  behind: number,
  enough: (ids: number[]) => boolean,
): Promise<number[]> {
  const leaving = new AbortController();
  const response = await fetch(`${server.url}/api/v1/scans/${scanId}/events`, {
    headers: { 'last-event-id': String(behind) },
    signal: leaving.signal,
  });
  let text = '';
  const ids = () =>
    [...text.matchAll(/^event: port\nid: (\d+)$|^id: (\d+)\nevent: port$/gm)].map((found) =>
      Number(found[1] ?? found[2]),
    );
  try {
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece;
      if (enough(ids()) || /^event: end$/m.test(text)) break;
    }
  } finally {
    leaving.abort();
  }
  return ids();
}

describe.skipIf(postgresObstacle() !== null)('a server that is killed', () => {
  let lab: Lab;
  let url: string;
  let home: ServerProcess;
  let other: ServerProcess;
  let worker: WorkerProcess;

  beforeAll(async () => {
    lab = await Lab.open([address], portCount);
  });
  afterAll(() => lab?.dispose());
  beforeEach(async () => {
    url = await lab.postgres.database();
    worker = new WorkerProcess(['--pool', 'lab', '--queue', url], env());
    [home, other] = await Promise.all([lab.server(env()), lab.server(env()), worker.start()]);
  });
  afterEach(async () => {
    await worker?.dispose();
    await lab.clear();
  });

  const env = () => ({
    SERVICE_QUEUE__URL: url,
    SERVICE_WORKERS__LEASE: '5s',
    SERVICE_WORKERS__HEARTBEAT: '1s',
  });
  /** Its last heartbeat ages at once, so that the test need not wait until it has. */
  const kill = async () => {
    await home.stop('SIGKILL');
    await runStatements(url, [
      `update portolan.servers set last_seen = last_seen - 15000 where url = '${home.url}'`,
    ]);
  };
  const countOf = (table: string, scanId: string) =>
    numberFrom(url, `select count(*) from portolan.${table} where scan_id = '${scanId}'`);
  const shardsOf = (scanId: string) => countOf('shards', scanId);
  const blocksOf = (scanId: string) => countOf('result_blocks', scanId);
  const begun = (from: number, count: number) =>
    until(`${count} connections`, () => lab.count(from, address) > count);

  it('loses its scan to another one, which has every row once, and its events go on there', async () => {
    const from = performance.now();
    const scanId = await sweep(home, lab.field, [address], 25);
    await begun(from, 60);
    const before = await portIds(home, scanId, 0, (ids) => ids.length >= 30);
    expect(before.length).toBeGreaterThanOrEqual(30);
    await kill();
    const moment = performance.now();
    // The worker goes on meanwhile.
    await begun(moment, 20);
    await until('the other server has it', () => /taken over/.test(other.log));
    const after = await portIds(other, scanId, before.at(-1) ?? 0, () => false);
    expect(await other.waitForEnd(scanId)).toMatchObject({ status: 'completed', warnings: [] });
    // The first row is that of the host.
    expect([...before, ...after]).toEqual(Array.from({ length: portCount }, (_, at) => at + 2));
    const rows = (await rowsOf(other, scanId)).filter(({ type }) => type === 'port');
    expect(rows.map(({ host, port }) => `${host}:${port}`).sort()).toEqual(lab.pairs([address]));
    expect(lab.probedAgain(from, [address], Number.POSITIVE_INFINITY, 0)).toEqual([]);
  });

  it('loses its shards and its scan when its own worker ran them', async () => {
    const from = performance.now();
    const scanId = await sweep(home, lab.field, hostsOf(20), 500, { pool: 'default' });
    await begun(from, 60);
    expect(await shardsOf(scanId)).toBe(1);
    await kill();
    const detail = await other.waitForEnd(scanId);
    expect(detail).toMatchObject({ status: 'completed', warnings: [] });
    const rows = (await rowsOf(other, scanId)).filter(
      ({ type, state }) => type === 'port' && state === 'open',
    );
    expect(rows.map(({ host, port }) => `${host}:${port}`).sort()).toEqual(lab.pairs([address]));
  });

  it('loses a small scan that it ran undivided: the other one resumes it, and its events go on there', async () => {
    const from = performance.now();
    const scanId = await sweep(home, lab.field, [address], 25, { pool: 'default' });
    await begun(from, 60);
    const before = await portIds(home, scanId, 0, (ids) => ids.length >= 30);
    expect(await shardsOf(scanId)).toBe(0);
    const moment = performance.now();
    await home.stop('SIGKILL');
    // The rows are in the database, whoever runs the scan.
    const after = portIds(other, scanId, before.at(-1) ?? 0, () => false);
    await kill();
    expect(await other.waitForEnd(scanId)).toMatchObject({ status: 'completed', warnings: [] });
    expect([...before, ...(await after)]).toEqual(Array.from({ length: portCount }, (_, at) => at + 2));
    const rows = (await rowsOf(other, scanId)).filter(({ type }) => type === 'port');
    expect(rows.map(({ host, port }) => `${host}:${port}`).sort()).toEqual(lab.pairs([address]));
    // Nor what it had stored, half a second and a checkpoint before.
    expect(lab.probedAgain(from, [address], moment, 2 * 25)).toEqual([]);
    expect(await blocksOf(scanId)).toBe(0);
  });

  it('leaves a small scan that was canceled meanwhile: it ends with what was found', async () => {
    const from = performance.now();
    const scanId = await sweep(home, lab.field, [address], 25, { pool: 'default' });
    await begun(from, 60);
    await home.stop('SIGKILL');
    const canceled = other.request(`/api/v1/scans/${scanId}/cancel`, { method: 'POST' });
    await kill();
    await canceled;
    const detail = await other.waitForEnd(scanId);
    expect(detail).toMatchObject({ status: 'failed', error: { code: 'canceled' } });
    const rows = (await rowsOf(other, scanId)).filter(({ type }) => type === 'port');
    expect(rows.length).toBeGreaterThan(20);
    await until('no block is left', async () => (await blocksOf(scanId)) === 0);
  });

  it('that only stood still sends and writes nothing more of a small scan that another one has', async () => {
    const from = performance.now();
    const scanId = await sweep(home, lab.field, [address], 10, { pool: 'default' });
    await begun(from, 60);
    process.kill(home.pid, 'SIGSTOP');
    try {
      // The other one would take the scan over before the silence is seen.
      process.kill(other.pid, 'SIGSTOP');
      // Its process sends until the end of the lease that its last heartbeat gave, which is before the end of the scan.
      await lab.silence([address], 3000).finally(() => process.kill(other.pid, 'SIGCONT'));
      expect(lab.count(from, address)).toBeLessThan(portCount);
      await runStatements(url, [
        `update portolan.servers set last_seen = last_seen - 15000 where url = '${home.url}'`,
      ]);
      await until('the other server has it', () => /taken over/.test(other.log));
    } finally {
      process.kill(home.pid, 'SIGCONT');
    }
    expect(await other.waitForEnd(scanId)).toMatchObject({ status: 'completed', warnings: [] });
    const rows = (await rowsOf(home, scanId)).filter(({ type }) => type === 'port');
    expect(rows).toHaveLength(portCount);
    expect(home.log).toMatch(/lease of a scan lost/);
    await until('no folder', () => !existsSync(join(home.workspace, 'scans', scanId)));
  });

  it('has its small scans paused, resumed and canceled by clients of another one', async () => {
    const from = performance.now();
    const scanId = await sweep(home, lab.field, [address], 25, { pool: 'default' });
    await begun(from, 20);
    const order = (verb: string) => other.request(`/api/v1/scans/${scanId}/${verb}`, { method: 'POST' });
    expect(await order('pause')).toMatchObject({ status: 200 });
    await lab.silence([address]);
    const paused = performance.now();
    expect(await order('resume')).toMatchObject({ status: 200 });
    await begun(paused, 10);
    expect(await order('cancel')).toMatchObject({ status: 200 });
    await lab.silence([address]);
    expect(await other.waitForEnd(scanId)).toMatchObject({ status: 'failed', error: { code: 'canceled' } });
    const rows = (await rowsOf(other, scanId)).filter(({ type }) => type === 'port');
    expect(rows.length).toBeGreaterThan(20);
  });

  it('is not needed for its running scans to be followed: the other one has their rows and events, and hears their end', async () => {
    const from = performance.now();
    const [divided, undivided] = await Promise.all([
      sweep(home, lab.field, [address], 60),
      sweep(home, lab.field, [address], 60, { pool: 'default' }),
    ]);
    await begun(from, 60);
    const [half, otherHalf] = await Promise.all(
      [divided, undivided].map((scanId) => portIds(other, scanId, 0, (ids) => ids.length >= 20)),
    );
    const rest = await Promise.all([
      portIds(other, divided, half?.at(-1) ?? 0, () => false),
      portIds(other, undivided, otherHalf?.at(-1) ?? 0, () => false),
    ]);
    const all = Array.from({ length: portCount }, (_, at) => at + 2);
    expect([...(half ?? []), ...(rest[0] ?? [])]).toEqual(all);
    expect([...(otherHalf ?? []), ...(rest[1] ?? [])]).toEqual(all);
    for (const scanId of [divided, undivided])
      expect(await portIds(home, scanId, 0, () => false)).toEqual(all);
  });

  it('loses its scan to one without API, UI or clients, which completes it', async () => {
    const from = performance.now();
    const scanId = await sweep(home, lab.field, [address], 50);
    await begun(from, 60);
    const finisher = await lab.server({
      ...env(),
      SERVICE_SERVER__API__ENABLED: 'false',
      SERVICE_SERVER__UI__ENABLED: 'false',
    });
    await other.stop();
    await kill();
    expect(await finisher.request('/api/v1/scans')).toMatchObject({ status: 404 });
    const completed = `select count(*) from portolan.scans where scan_id = '${scanId}' and status = 'completed'`;
    await until('it is completed', async () => (await numberFrom(url, completed)) === 1);
    await finisher.stop();
    await home.start();
    const rows = (await rowsOf(home, scanId)).filter(({ type }) => type === 'port');
    expect(rows.map(({ host, port }) => `${host}:${port}`).sort()).toEqual(lab.pairs([address]));
    expect(lab.probedAgain(from, [address], Number.POSITIVE_INFINITY, 0)).toEqual([]);
  });

  it('has stored the results of a scan the moment it has ended: the other one has them', async () => {
    const scanId = await sweep(home, lab.field, [address], 2000);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      const row = async () =>
        (await client.query('select status, stored_at from portolan.scans where scan_id = $1', [scanId]))
          .rows[0] as { status: string; stored_at: string | null };
      let seen = await row();
      while (seen.status !== 'completed') seen = await row();
      expect(seen.stored_at).not.toBeNull();
    } finally {
      await client.end();
    }
    await home.stop('SIGKILL');
    const ports = (await rowsOf(other, scanId)).filter(({ type }) => type === 'port');
    expect(ports.map(({ host, port }) => `${host}:${port}`).toSorted()).toEqual(lab.pairs([address]));
  });

  it('leaves a scan that was canceled meanwhile: it ends with what its workers have found', async () => {
    const from = performance.now();
    const scanId = await sweep(home, lab.field, [address], 25);
    await begun(from, 60);
    await home.stop('SIGKILL');
    const canceled = other.request(`/api/v1/scans/${scanId}/cancel`, { method: 'POST' });
    await lab.silence([address]);
    await kill();
    await canceled;
    const detail = await other.waitForEnd(scanId);
    expect(detail).toMatchObject({ status: 'failed', error: { code: 'canceled' } });
    const rows = (await rowsOf(other, scanId)).filter(({ type }) => type === 'port');
    expect(rows.length).toBeGreaterThan(40);
  });

  it('that is back ends a paused scan that is canceled before it goes on: no shard is left, and its rows are kept', async () => {
    const from = performance.now();
    const scanId = await sweep(home, lab.field, [address], 25);
    await begun(from, 60);
    await home.request(`/api/v1/scans/${scanId}/pause`, { method: 'POST' });
    await home.stop();
    await home.start();
    expect(await shardsOf(scanId)).toBe(1);
    const canceled = await home.request(`/api/v1/scans/${scanId}/cancel`, { method: 'POST' });
    expect(canceled).toMatchObject({ status: 200, body: { data: { status: 'failed' } } });
    const rows = (await rowsOf(home, scanId)).filter(({ type }) => type === 'port');
    expect(rows.length).toBeGreaterThan(40);
    await until('no shard is left', async () => (await shardsOf(scanId)) === 0);
    expect(await blocksOf(scanId)).toBe(0);
  });

  it('that only stood still writes nothing into a scan that another one has', async () => {
    const from = performance.now();
    const scanId = await sweep(home, lab.field, [address], 25);
    await begun(from, 30);
    process.kill(home.pid, 'SIGSTOP');
    try {
      await runStatements(url, [
        `update portolan.servers set last_seen = last_seen - 15000 where url = '${home.url}'`,
      ]);
      await until('the other server has it', () => /taken over/.test(other.log));
    } finally {
      process.kill(home.pid, 'SIGCONT');
    }
    expect(await other.waitForEnd(scanId)).toMatchObject({ status: 'completed', warnings: [] });
    const rows = (await rowsOf(home, scanId)).filter(({ type }) => type === 'port');
    expect(rows).toHaveLength(portCount);
    expect(home.log).toMatch(/lease of a scan lost/);
    // What it had of the scan is gone.
    await until('no folder', () => !existsSync(join(home.workspace, 'scans', scanId)));
  });
});
