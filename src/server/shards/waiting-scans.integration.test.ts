import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { postgresObstacle, storeDatabase } from '../../../test/postgres.ts';
import type { Scan, ScanRequest } from '../../domain/scan.ts';
import { initialProgress } from '../../domain/scan-progress.ts';
import type { QueuedShard, ShardQueue } from '../../queue/shard-queue.ts';
import { ShardResults } from '../../worker/shard-results.ts';
import { openService, type Service } from '../fixtures/service.ts';

const skip = postgresObstacle();
/** Maximum concurrent scans per pool with a shard plan. */
const mostOfPool = 64;
const hour = 3_600_000;
const timestamp = '2026-10-06T14:30:23.000Z';

describe.skipIf(skip !== null)(`scans that wait for workers${skip ? ` (${skip})` : ''}`, () => {
  let dir: string;
  let database: string;
  let service: Service;
  let line: ShardQueue;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'portolan-waiting-'));
  });
  afterAll(async () => {
    await rm(dir, { recursive: true });
  });
  beforeEach(async () => {
    database = await storeDatabase();
    service = await openService({}, { working: true, database });
    line = shardsOf(service).line;
  });
  afterEach(() => service.close());

  const presence = () => shardsOf(service).presence;

  /** Registers a worker of a pool in the database. */
  async function see(pool: string): Promise<void> {
    await service.store.hosts.saveWorker({
      worker_id: `w-${pool}`,
      host: 'h',
      pools: [pool],
      tags: [],
      version: '0.0.0',
      capacity: 8,
      active: 0,
      started_at: new Date().toISOString(),
      last_seen: await line.now(),
    });
    await presence().lookForWorkers();
  }

  async function claim(pool: string): Promise<QueuedShard> {
    const claimed = { shard: null as QueuedShard | null };
    await expect.poll(async () => (claimed.shard = await line.claim('w', [pool]))).not.toBeNull();
    return claimed.shard as QueuedShard;
  }

  /** Starts a shard as a worker does: its first heartbeat shows it at the latest. */
  async function begin(shard: QueuedShard): Promise<void> {
    await line.begin(shard.scanId);
    await line.beat(shard, { appliedCommand: 'run', appliedRate: 0 });
  }

  async function claimed(scanId: string, pool: string): Promise<void> {
    expect((await claim(pool)).scanId).toBe(scanId);
  }

  const laidOut = (scanId: string) =>
    expect.poll(async () => (await service.store.shards.ofScan(scanId)).length).toBeGreaterThan(0);
  const detail = async (scanId: string): Promise<Scan> =>
    (await service.app.inject(`/api/v1/scans/${scanId}`)).json().data;
  const codes = ({ warnings }: Pick<Scan, 'warnings'>) => warnings.map(({ code }) => code);
  const checks = async (): Promise<string[]> => {
    const { checks: found } = (await service.app.inject('/api/v1/health')).json();
    return found.map(({ name }: { name: string }) => name);
  };

  it('in a pool without workers report that and occupy no slot', async () => {
    const scanId = await service.submit('waits', { pool: 'nowhere' });
    await see('lab');
    await claimed(await service.submit('rows 1', { pool: 'lab' }), 'lab');
    // No worker could run a shard of it, so it has none.
    expect(await service.store.shards.ofScan(scanId)).toEqual([]);
    await presence().lookForScans();
    const shown = await detail(scanId);
    expect([shown.status, ...codes(shown)]).toEqual(['pending', 'pool_without_workers']);
    expect(await checks()).toContain('pools');

    await see('nowhere');
    await claimed(scanId, 'nowhere');
    await presence().lookForScans();
    expect(codes(await detail(scanId))).toEqual([]);
    expect(await checks()).not.toContain('pools');
  });

  it('beside an idle worker fail the health check, unless their pool has a limit', async () => {
    vi.spyOn(presence(), 'stuckPools', 'get').mockReturnValue([{ pool: 'lab', scans: 18 }]);
    const { checks: found } = (await service.app.inject('/api/v1/health')).json();
    expect(found).toContainEqual({
      name: 'waiting',
      status: 'degraded',
      message: 'scans waiting although a worker of their pool is idle: lab (18)',
    });
    service.context.config.workers.pools = { lab: { max: 1, tags: [] } };
    expect(await checks()).not.toContain('waiting');
  });

  it('go on where another server has begun them just before this one takes them', async () => {
    const { scans } = service.store;
    const scanId = await service.submit('waits', { pool: 'lab' });
    // No place for an undivided one.
    shardsOf(service).localWorker = { takePlace: () => null };
    const reading = vi.spyOn(scans, 'get');
    const read = scans.forWorker.bind(scans);
    vi.spyOn(scans, 'forWorker').mockImplementationOnce(async (id) => {
      const found = await read(id);
      await Promise.all(reading.mock.results.map(({ value }) => value));
      await scans.update(id, { status: 'running', started_at: timestamp });
      return found;
    });
    await see('lab');
    await laidOut(scanId);
  });

  it('are claimed again at once by the server that is just leaving them', async () => {
    const { queue, store } = service;
    const scanId = await service.submit('waits', { pool: 'lab' });
    vi.spyOn(store.scans, 'update').mockResolvedValueOnce(false);
    const release = queue.release.bind(queue);
    vi.spyOn(queue, 'release').mockImplementationOnce(async (id, attempt) => {
      const released = await release(id, attempt);
      service.context.workers.wake();
      const { rows } = await vi.waitUntil(async () => {
        const found = await store.execute(
          `select attempt from portolan.scan_queue where state = 'running'`,
          [],
        );
        return found.rows.length > 0 && found;
      });
      expect(rows).toEqual([{ attempt: attempt + 1 }]);
      return released;
    });
    await see('lab');
    await laidOut(scanId);
  });

  it('leave places to those of another pool, however many they are', async () => {
    await see('slow');
    const first = await service.submit('waits', { pool: 'slow' });
    const request = await service.store.scans.request(first);
    for (let number = 0; number < mostOfPool; number++) {
      const scanId = `20261006-143022-slow${number}`;
      const one = { ...request, scan_id: scanId } as ScanRequest;
      await service.workspace.scan(scanId).create(one);
      await service.store.scans.insert(one);
      await service.queue.enqueue(service.store, { scanId, pool: 'slow' });
    }
    await see('lab');
    const other = await service.submit('rows 1', { pool: 'lab' });
    await claimed(other, 'lab');
    const waiting = async () =>
      (await service.store.execute(`select 1 from portolan.scan_queue where state = 'waiting'`, [])).rows
        .length;
    // Earlier scans come first, as far as there is capacity.
    await expect.poll(waiting).toBe(1);
  });

  it('is pending, has not started and counts as waiting until a worker begins with a shard', async () => {
    await see('lab');
    const scanId = await service.submit('rows 1', { pool: 'lab' });
    await laidOut(scanId);
    expect(await detail(scanId)).toMatchObject({ status: 'pending', started_at: null });
    expect(await service.store.scanQueue.counts('2000')).toMatchObject({ pending: 1, running: 0 });

    const shard = await claim('lab');
    // Claimed by a worker that may return it, such as one of another major version.
    expect((await detail(scanId)).status).toBe('pending');
    await line.release(shard);
    const before = Date.now();
    await begin(await claim('lab'));
    const running = await service.until(scanId, ({ status }) => status === 'running');
    expect(Date.parse(running.started_at ?? '')).toBeGreaterThanOrEqual(before - 100);
    expect(await service.store.scanQueue.counts('2000')).toMatchObject({ pending: 0, running: 1 });
    // The next worker, and the server after a restart, use the same start time.
    const earlier = new Date(Date.parse(running.started_at ?? '') - 2 * hour);
    await service.store.execute('update portolan.shard_plans set started_at = $1', [earlier.toISOString()]);
    const again = Date.parse((await line.begin(scanId)) ?? '');
    expect(Math.abs(again - earlier.getTime())).toBeLessThan(hour);
  });

  it('was paused for nothing before it began', async () => {
    await see('lab');
    const scanId = await service.submit('rows 1', { pool: 'lab' });
    await laidOut(scanId);
    await service.store.scanPauses.pause(scanId, Date.now() - 2 * hour);
    await begin(await claim('lab'));
    const { pausedMs } = await service.store.scanPauses.pauseOf(scanId, Date.now());
    expect(pausedMs).toBeLessThan(hour);
  });

  it('shares no rate before it begins', async () => {
    await see('lab');
    service.context.config.scanner.max_rate = 1000;
    for (let number = 0; number < 3; number++) await service.submit('waits', { pool: 'lab', rate: 1000 });
    await begin(await claim('lab'));
    const rates = async () => {
      const { rows } = await service.store.execute('select rate from portolan.shards where rate > 0', []);
      return rows.map((row) => Number((row as { rate: unknown }).rate));
    };
    await expect.poll(rates).toEqual([1000]);
  });

  it('say that their server is away, as their job does, until it is back', async () => {
    const payload = { type: 'scan', params: { targets: ['127.0.0.1'], name: 'waits' } };
    const submitted = await service.app.inject({ method: 'POST', url: '/api/v1/jobs', payload });
    const { job_id: jobId, scan_id: scanId } = submitted.json().data;
    const owner = 'feedfeedfeedfeed';
    const { hosts } = service.store;
    const heartbeat = async (ago: number) =>
      hosts.saveServer({ server_id: owner, url: 'u', version: '0.0.0', last_seen: (await line.now()) - ago });
    await service.store.execute('update portolan.scans set executor = $1', [`server:${owner}`]);
    await service.store.execute('update portolan.scan_queue set owner_server = $1', [owner]);
    const job = async () => (await service.app.inject(`/api/v1/jobs/${jobId}`)).json().data;
    const warned = async () => [codes(await detail(scanId)), codes({ warnings: [], ...(await job()) })];
    await heartbeat(1000);
    await presence().lookForScans();
    expect(await warned()).toEqual([[], []]);
    expect(await checks()).not.toContain('owners');

    await heartbeat(20_000);
    await presence().lookForScans();
    expect(await warned()).toEqual([['owner_away'], ['owner_away']]);
    expect(await checks()).toContain('owners');
    // Such a short absence may be a restart: a schedule waits for the run.
    expect(await presence().isAbandoned(scanId)).toBe(false);
    await heartbeat(61_000);
    expect(await presence().isAbandoned(scanId)).toBe(true);

    await heartbeat(0);
    await presence().lookForScans();
    expect(await warned()).toEqual([[], []]);
    expect(await presence().isAbandoned(scanId)).toBe(false);
  });

  it('ends at a cancel without work for a process, whether a worker has a shard or none', async () => {
    await service.close();
    const entryFile = join(dir, 'mark.mjs');
    const mark = join(dir, 'started');
    await writeFile(
      entryFile,
      `import { writeFileSync } from 'node:fs';
       process.on('disconnect', () => process.exit(0));
       process.on('message', ({ type }) => (type === 'end' ? process.exit(0) : writeFileSync('${mark}', type)));`,
    );
    service = await openService({}, { working: true, database, entryFile });
    line = shardsOf(service).line;
    await see('lab');
    const scans: string[] = [];
    for (let number = 0; number < 6; number++) scans.push(await service.submit('waits', { pool: 'lab' }));
    for (const scanId of scans) await laidOut(scanId);
    const shard = await claim('lab');
    await begin(shard);
    await service.until(shard.scanId, ({ status }) => status === 'running');
    const idle = scans.filter((scanId) => scanId !== shard.scanId);
    const cancel = (scanId: string) =>
      service.app.inject({ method: 'POST', url: `/api/v1/scans/${scanId}/cancel` });
    const responses = await Promise.all(idle.map(cancel));
    for (const response of responses) {
      expect(response.statusCode).toBe(200);
      expect(response.json().data).toMatchObject({ status: 'failed', error: { code: 'canceled' } });
    }
    const canceling = cancel(shard.scanId);
    await expect
      .poll(async () => (await line.beat(shard, { appliedCommand: 'run', appliedRate: 0 }))?.command)
      .toBe('cancel');
    await line.finish(shard, JSON.stringify(silentOutcome()));
    expect((await canceling).json().data).toMatchObject({ status: 'failed', error: { code: 'canceled' } });
    expect(existsSync(mark)).toBe(false);
  });

  it('keeps what workers have found when it is canceled while its server is away', async () => {
    const away = await openService({}, { working: true, database });
    await see('lab');
    await shardsOf(away).presence.lookForWorkers();
    const scanId = await away.submit('waits', { pool: 'lab' });
    await laidOut(scanId);
    const shard = await claim('lab');
    await begin(shard);
    await service.until(scanId, ({ status }) => status === 'running');
    const row = { type: 'port', timestamp, host: '127.0.0.1', port: 22, protocol: 'tcp', state: 'open' };
    await ShardResults.ofShard(service.store, shard).putRows(0, Buffer.from(`${JSON.stringify(row)}\n`));
    await line.release(shard);
    await away.close();
    expect(await service.queue.isCanceled(scanId)).toBe(false);
    const canceled = await service.app.inject({ method: 'POST', url: `/api/v1/scans/${scanId}/cancel` });
    expect(canceled.json().data).toMatchObject({ status: 'failed', error: { code: 'canceled' } });
    const results = await service.app.inject(`/api/v1/scans/${scanId}/results`);
    expect(results.json().data.summary.open_ports).toBe(1);
  });
});

function silentOutcome() {
  return {
    status: 'failed',
    error: { code: 'canceled', message: 'The scan was canceled.' },
    completed_at: new Date().toISOString(),
    results: { live_hosts: 0, open_ports: 0, vulnerabilities: 0 },
    severity_counts: { critical: 0, high: 0, medium: 0, low: 0, info: 0 },
    progress: {
      ...initialProgress(),
      percent: 0,
      phase: 'done',
      hosts_done: 0,
      hosts_total: 1,
      paused: false,
      rate: 0,
      eta_seconds: null,
      resumes: 0,
      shards: { total: 1, done: 0, running: 0 },
    },
    warnings: [],
    stages: [],
    packets_sent: 0,
    evaluated: null,
  };
}

function shardsOf({ context }: Service) {
  if (context.shards === null) throw new Error('the service shares no database');
  return context.shards;
}
