import { existsSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { numberFrom, postgresObstacle } from '../postgres.ts';
import { rowsOf, sweep, until } from './cluster.ts';
import { portIds, TwoServers } from './two-servers.ts';

const address = '127.86.20.1';
const portCount = 300;
/** Too many for a small scan; one of them listens. */
const hostsOf = (count: number) => Array.from({ length: count }, (_, at) => `127.86.20.${at + 1}`);

describe.skipIf(postgresObstacle() !== null)('a server that is killed', () => {
  const two = new TwoServers(address, portCount);
  const countOf = (table: string, scanId: string) =>
    numberFrom(two.url, `select count(*) from portolan.${table} where scan_id = '${scanId}'`);
  const shardsOf = (scanId: string) => countOf('shards', scanId);
  const blocksOf = (scanId: string) => countOf('result_blocks', scanId);

  it('loses its shards and its scan when its own worker ran them', async () => {
    const from = performance.now();
    const scanId = await sweep(two.owner, two.lab.field, hostsOf(20), 500, { pool: 'default' });
    await two.begun(from, 60);
    expect(await shardsOf(scanId)).toBe(1);
    await two.kill();
    const detail = await two.other.waitForEnd(scanId);
    expect(detail).toMatchObject({ status: 'completed', warnings: [] });
    const rows = (await rowsOf(two.other, scanId)).filter(
      ({ type, state }) => type === 'port' && state === 'open',
    );
    expect(rows.map(({ host, port }) => `${host}:${port}`).sort()).toEqual(two.lab.pairs([address]));
  });

  it('loses a small scan that it ran undivided: the other one resumes it, and its events go on there', async () => {
    const from = performance.now();
    const scanId = await sweep(two.owner, two.lab.field, [address], 25, { pool: 'default' });
    await two.begun(from, 60);
    const before = await portIds(two.owner, scanId, 0, (ids) => ids.length >= 30);
    expect(await shardsOf(scanId)).toBe(0);
    const moment = performance.now();
    await two.owner.stop('SIGKILL');
    // The rows are in the database, whoever runs the scan.
    const after = portIds(two.other, scanId, before.at(-1) ?? 0, () => false);
    await two.kill();
    expect(await two.other.waitForEnd(scanId)).toMatchObject({ status: 'completed', warnings: [] });
    expect([...before, ...(await after)]).toEqual(Array.from({ length: portCount }, (_, at) => at + 2));
    const rows = (await rowsOf(two.other, scanId)).filter(({ type }) => type === 'port');
    expect(rows.map(({ host, port }) => `${host}:${port}`).sort()).toEqual(two.lab.pairs([address]));
    // Nor what it had stored, half a second and a checkpoint before.
    expect(two.lab.probedAgain(from, [address], moment, 2 * 25)).toEqual([]);
    expect(await blocksOf(scanId)).toBe(0);
  });

  it('leaves a small scan that was canceled meanwhile: it ends with what was found', async () => {
    const from = performance.now();
    const scanId = await sweep(two.owner, two.lab.field, [address], 25, { pool: 'default' });
    await two.begun(from, 60);
    await two.owner.stop('SIGKILL');
    const canceled = two.other.request(`/api/v1/scans/${scanId}/cancel`, { method: 'POST' });
    await two.kill();
    await canceled;
    const detail = await two.other.waitForEnd(scanId);
    expect(detail).toMatchObject({ status: 'failed', error: { code: 'canceled' } });
    const rows = (await rowsOf(two.other, scanId)).filter(({ type }) => type === 'port');
    expect(rows.length).toBeGreaterThan(20);
    await until('no block is left', async () => (await blocksOf(scanId)) === 0);
  });

  it('that only stood still sends and writes nothing more of a small scan that another one has', async () => {
    const from = performance.now();
    const scanId = await sweep(two.owner, two.lab.field, [address], 10, { pool: 'default' });
    await two.begun(from, 60);
    process.kill(two.owner.pid, 'SIGSTOP');
    try {
      // The other one would take the scan over before the silence is seen.
      process.kill(two.other.pid, 'SIGSTOP');
      // Its process sends until the end of the lease that its last heartbeat gave, which is before the end of the scan.
      await two.lab.silence([address], 3000).finally(() => process.kill(two.other.pid, 'SIGCONT'));
      expect(two.lab.count(from, address)).toBeLessThan(portCount);
      await two.age();
      await until('the other server has it', () => /taken over/.test(two.other.log));
    } finally {
      process.kill(two.owner.pid, 'SIGCONT');
    }
    expect(await two.other.waitForEnd(scanId)).toMatchObject({ status: 'completed', warnings: [] });
    const rows = (await rowsOf(two.owner, scanId)).filter(({ type }) => type === 'port');
    expect(rows).toHaveLength(portCount);
    expect(two.owner.log).toMatch(/lease of a scan lost/);
    await until('no folder', () => !existsSync(join(two.owner.workspace, 'scans', scanId)));
  });

  it('has its small scans paused, resumed and canceled by clients of another one', async () => {
    const from = performance.now();
    const scanId = await sweep(two.owner, two.lab.field, [address], 25, { pool: 'default' });
    await two.begun(from, 20);
    const order = (verb: string) => two.other.request(`/api/v1/scans/${scanId}/${verb}`, { method: 'POST' });
    expect(await order('pause')).toMatchObject({ status: 200 });
    await two.lab.silence([address]);
    const paused = performance.now();
    expect(await order('resume')).toMatchObject({ status: 200 });
    await two.begun(paused, 10);
    expect(await order('cancel')).toMatchObject({ status: 200 });
    await two.lab.silence([address]);
    expect(await two.other.waitForEnd(scanId)).toMatchObject({
      status: 'failed',
      error: { code: 'canceled' },
    });
    const rows = (await rowsOf(two.other, scanId)).filter(({ type }) => type === 'port');
    expect(rows.length).toBeGreaterThan(20);
  });

  it('is not needed for its running scans to be followed: the other one has their rows and events, and hears their end', async () => {
    const from = performance.now();
    const [divided, undivided] = await Promise.all([
      sweep(two.owner, two.lab.field, [address], 60),
      sweep(two.owner, two.lab.field, [address], 60, { pool: 'default' }),
    ]);
    await two.begun(from, 60);
    const [half, otherHalf] = await Promise.all(
      [divided, undivided].map((scanId) => portIds(two.other, scanId, 0, (ids) => ids.length >= 20)),
    );
    const rest = await Promise.all([
      portIds(two.other, divided, half?.at(-1) ?? 0, () => false),
      portIds(two.other, undivided, otherHalf?.at(-1) ?? 0, () => false),
    ]);
    const all = Array.from({ length: portCount }, (_, at) => at + 2);
    expect([...(half ?? []), ...(rest[0] ?? [])]).toEqual(all);
    expect([...(otherHalf ?? []), ...(rest[1] ?? [])]).toEqual(all);
    for (const scanId of [divided, undivided])
      expect(await portIds(two.owner, scanId, 0, () => false)).toEqual(all);
  });

  it('loses its scan to one without API, UI or clients, which completes it', async () => {
    const from = performance.now();
    const scanId = await sweep(two.owner, two.lab.field, [address], 50);
    await two.begun(from, 60);
    const finisher = await two.lab.server({
      ...two.env(),
      SERVICE_SERVER__API__ENABLED: 'false',
      SERVICE_SERVER__UI__ENABLED: 'false',
    });
    await two.other.stop();
    await two.kill();
    expect(await finisher.request('/api/v1/scans')).toMatchObject({ status: 404 });
    const completed = `select count(*) from portolan.scans where scan_id = '${scanId}' and status = 'completed'`;
    await until('it is completed', async () => (await numberFrom(two.url, completed)) === 1);
    await finisher.stop();
    await two.owner.start();
    const rows = (await rowsOf(two.owner, scanId)).filter(({ type }) => type === 'port');
    expect(rows.map(({ host, port }) => `${host}:${port}`).sort()).toEqual(two.lab.pairs([address]));
    expect(two.lab.probedAgain(from, [address], Number.POSITIVE_INFINITY, 0)).toEqual([]);
  });

  it('has stored the results of a scan the moment it has ended: the other one has them', async () => {
    const scanId = await sweep(two.owner, two.lab.field, [address], 2000);
    const client = new pg.Client({ connectionString: two.url });
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
    await two.owner.stop('SIGKILL');
    const ports = (await rowsOf(two.other, scanId)).filter(({ type }) => type === 'port');
    expect(ports.map(({ host, port }) => `${host}:${port}`).toSorted()).toEqual(two.lab.pairs([address]));
  });

  it('leaves a scan that was canceled meanwhile: it ends with what its workers have found', async () => {
    const from = performance.now();
    const scanId = await sweep(two.owner, two.lab.field, [address], 25);
    await two.begun(from, 60);
    await two.owner.stop('SIGKILL');
    const canceled = two.other.request(`/api/v1/scans/${scanId}/cancel`, { method: 'POST' });
    await two.lab.silence([address]);
    await two.kill();
    await canceled;
    const detail = await two.other.waitForEnd(scanId);
    expect(detail).toMatchObject({ status: 'failed', error: { code: 'canceled' } });
    const rows = (await rowsOf(two.other, scanId)).filter(({ type }) => type === 'port');
    expect(rows.length).toBeGreaterThan(40);
  });

  it('that is back ends a paused scan that is canceled before it goes on: no shard is left, and its rows are kept', async () => {
    const from = performance.now();
    const scanId = await sweep(two.owner, two.lab.field, [address], 25);
    await two.begun(from, 60);
    await two.owner.request(`/api/v1/scans/${scanId}/pause`, { method: 'POST' });
    await two.owner.stop();
    await two.owner.start();
    expect(await shardsOf(scanId)).toBe(1);
    const canceled = await two.owner.request(`/api/v1/scans/${scanId}/cancel`, { method: 'POST' });
    expect(canceled).toMatchObject({ status: 200, body: { data: { status: 'failed' } } });
    const rows = (await rowsOf(two.owner, scanId)).filter(({ type }) => type === 'port');
    expect(rows.length).toBeGreaterThan(40);
    await until('no shard is left', async () => (await shardsOf(scanId)) === 0);
    expect(await blocksOf(scanId)).toBe(0);
  });

  it('that only stood still writes nothing into a scan that another one has', async () => {
    const from = performance.now();
    const scanId = await sweep(two.owner, two.lab.field, [address], 25);
    await two.begun(from, 30);
    process.kill(two.owner.pid, 'SIGSTOP');
    try {
      await two.age();
      await until('the other server has it', () => /taken over/.test(two.other.log));
    } finally {
      process.kill(two.owner.pid, 'SIGCONT');
    }
    expect(await two.other.waitForEnd(scanId)).toMatchObject({ status: 'completed', warnings: [] });
    const rows = (await rowsOf(two.owner, scanId)).filter(({ type }) => type === 'port');
    expect(rows).toHaveLength(portCount);
    expect(two.owner.log).toMatch(/lease of a scan lost/);
    // What it had of the scan is gone.
    await until('no folder', () => !existsSync(join(two.owner.workspace, 'scans', scanId)));
  });
});
