import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeOf, fromProto, GrpcClient } from '../../src/server/fixtures/grpc-client.ts';
import { freePort, postgresObstacle, runStatements } from '../postgres.ts';
import type { ServerProcess } from '../program.ts';
import { Lab, sweep } from './cluster.ts';
import { WorkerProcess } from './worker-process.ts';

const address = '127.86.1.1';
/** Connections that were under way when something was asked for, in time, milliseconds. */
const slackMs = 700;

describe.skipIf(postgresObstacle() !== null)('two servers on one database', () => {
  let lab: Lab;
  /** Of the database. */
  let url: string;
  let grpcAddress: string;
  let home: ServerProcess;
  let other: ServerProcess;

  beforeAll(async () => {
    lab = await Lab.open([address], 300);
    url = await lab.postgres.database();
    const env = { SERVICE_QUEUE__URL: url };
    grpcAddress = `127.0.0.1:${await freePort()}`;
    home = await lab.server(env);
    other = await lab.server({
      ...env,
      SERVICE_SERVER__GRPC__ENABLED: 'true',
      SERVICE_SERVER__GRPC__BIND: grpcAddress,
    });
  }, 60_000);

  afterAll(() => lab?.dispose(), 60_000);

  const sweepOf = (rate: number) => sweep(home, lab.field, [address], rate, { pool: 'default' });
  const tell = (scanId: string, what: string) =>
    other.request(`/api/v1/scans/${scanId}/${what}`, { method: 'POST' });
  /** Connections that come although the scan is silent. */
  const afterSilence = async (from: number) => {
    await new Promise((resolve) => setTimeout(resolve, 2 * slackMs));
    return lab.count(from + slackMs);
  };

  it('what one found is read from the other: results, records, events, exports and changes', async () => {
    const [first, second] = [await sweepOf(100_000), await sweepOf(100_000)];
    for (const id of [first, second]) await home.waitForEnd(id, 30_000);
    const paths = [
      `scans/${first}/results?format=jsonl`,
      `scans/${first}/results?format=csv`,
      `workspace/scans/${first}/export?format=nmap`,
      `scans/${first}/events`,
    ];
    for (const path of paths) {
      const [there, here] = await Promise.all([
        home.request(`/api/v1/${path}`),
        other.request(`/api/v1/${path}`),
      ]);
      expect(here.status, path).toBe(200);
      expect(here.body, path).toEqual(there.body);
      expect(here.headers.get('content-type'), path).toBe(there.headers.get('content-type'));
    }
    const handedOn = await other.request(`/api/v1/scans/${first}/results`, {
      headers: { 'x-portolan-forwarded': '1' },
    });
    expect(handedOn).toMatchObject({ status: 409, body: { error: { details: { server: home.url } } } });
    const records = await other.request(`/api/v1/scans/${first}/records?limit=500`);
    expect(records.body).toMatchObject({ data: { total: 301 } });
    const changes = await other.request(`/api/v1/scans/${first}/diff?against=${second}`);
    expect(changes.body).toMatchObject({ data: { ports: { added: [], removed: [] } } });
  }, 60_000);

  it('the same over gRPC: files, events and deletion', async () => {
    const scanId = await sweepOf(100_000);
    await home.waitForEnd(scanId, 30_000);
    const scans = new GrpcClient(fromProto('service.proto'), 'service.api.v1.ScanService', grpcAddress);
    try {
      const there = await home.request(`/api/v1/scans/${scanId}/results?format=csv`);
      const { messages } = await scans.all<{ data: Buffer; filename: string }>('GetResults', {
        scan_id: scanId,
        format: 'csv',
      });
      expect(Buffer.concat(messages.map(({ data }) => data)).toString()).toBe(there.body);
      expect(messages[0]).toMatchObject({
        filename: `${scanId}.csv`,
        content_type: 'text/csv; charset=utf-8',
      });
      const watched = await scans.all<{ type: string }>('WatchScan', { scan_id: scanId });
      expect(watched.error).toBeNull();
      expect(watched.messages.filter(({ type }) => type === 'port')).toHaveLength(300);
      expect(watched.messages.at(-1)).toMatchObject({ type: 'end' });
      expect(await scans.get('DeleteScan', { scan_id: scanId })).toMatchObject({ deleted: true });
      expect(existsSync(join(home.workspace, 'scans', scanId))).toBe(false);
      expect(codeOf(await scans.all('GetResults', { scan_id: scanId }))).toBe('not_found');
    } finally {
      scans.close();
    }
  }, 60_000);

  it('a pause, its end and a cancel reach a scan through either', async () => {
    const from = performance.now();
    const scanId = await sweepOf(40);
    await lab.begun(from, 20);
    expect((await tell(scanId, 'pause')).status).toBe(200);
    expect(await afterSilence(performance.now())).toBe(0);
    await expect
      .poll(() => other.detail(scanId), { timeout: 5000 })
      .toMatchObject({ progress: { paused: true } });
    const resumed = performance.now();
    expect((await tell(scanId, 'resume')).status).toBe(200);
    await lab.begun(resumed, 20);
    const canceled = await tell(scanId, 'cancel');
    const silent = performance.now();
    expect(canceled).toMatchObject({
      status: 200,
      body: { data: { status: 'failed', error: { code: 'canceled' } } },
    });
    expect(await afterSilence(silent)).toBe(0);
  }, 60_000);

  it('a scan that is deleted at one is gone from the disk of the other', async () => {
    const from = performance.now();
    const scanId = await sweepOf(40);
    await lab.begun(from, 20);
    const folder = join(home.workspace, 'scans', scanId);
    expect(existsSync(folder)).toBe(true);
    const gone = await other.request(`/api/v1/scans/${scanId}`, { method: 'DELETE' });
    expect(gone).toMatchObject({ status: 200, body: { data: { scan_id: scanId, deleted: true } } });
    expect(existsSync(folder)).toBe(false);
    expect(await afterSilence(performance.now())).toBe(0);
    expect((await home.request(`/api/v1/scans/${scanId}`)).status).toBe(404);
  }, 60_000);

  it('a cancel stops the workers of a scan whose server is away; that one ends it when it is back', async () => {
    const worker = new WorkerProcess(['--pool', 'lab', '--queue', url]);
    await worker.start();
    try {
      const from = performance.now();
      const scanId = await sweep(home, lab.field, [address], 40);
      await lab.begun(from, 20);
      await home.stop('SIGKILL');
      const canceled = tell(scanId, 'cancel');
      expect(await afterSilence(performance.now())).toBe(0);
      expect(await canceled).toMatchObject({ status: 503, body: { error: { code: 'unavailable' } } });
      await home.start();
      const detail = await other.waitForEnd(scanId, 20_000);
      expect(detail).toMatchObject({ status: 'failed', error: { code: 'canceled' } });
    } finally {
      await worker.dispose();
    }
  }, 60_000);

  it('a scan whose server was killed carries owner_away, as does the health, until that server is back', async () => {
    const from = performance.now();
    const scanId = await sweepOf(40);
    await lab.begun(from, 20);
    const codes = async () => (await other.detail(scanId)).warnings.map(({ code }) => code);
    const ownersCheck = async () => {
      const { body } = await other.request('/api/v1/health');
      const { checks } = (body as { data: { checks: { name: string; status: string }[] } }).data;
      return checks.find(({ name }) => name === 'owners')?.status;
    };
    expect(await codes()).not.toContain('owner_away');
    await home.stop('SIGKILL');
    // Its last heartbeat ages at once, so that the test need not wait until it has.
    await runStatements(url, [
      `update portolan.servers set last_seen = last_seen - 15000 where url = '${home.url}'`,
    ]);
    await expect.poll(codes, { timeout: 40_000, interval: 250 }).toContain('owner_away');
    expect(await ownersCheck()).toBe('degraded');
    await home.start();
    await expect.poll(codes, { timeout: 20_000, interval: 250 }).not.toContain('owner_away');
    await expect.poll(ownersCheck, { timeout: 20_000, interval: 250 }).toBeUndefined();
    expect(await other.waitForEnd(scanId, 40_000)).toMatchObject({ status: 'completed' });
    expect(await codes()).not.toContain('owner_away');
  }, 120_000);

  it('while the server with the files is away, the other says so', async () => {
    const done = await sweepOf(100_000);
    await home.waitForEnd(done, 30_000);
    await home.stop('SIGKILL');
    for (const [method, path] of [
      ['GET', 'results'],
      ['GET', 'records'],
      ['DELETE', ''],
    ] as const) {
      const answer = await other.request(`/api/v1/scans/${done}/${path}`.replace(/\/$/, ''), { method });
      expect(answer, path).toMatchObject({ status: 503, body: { error: { code: 'unavailable' } } });
      expect(answer.headers.get('retry-after'), path).toBe('5');
    }
    await home.start();
    expect((await other.request(`/api/v1/scans/${done}/results`)).status).toBe(200);
  }, 60_000);

  it('what lay with a server that is forgotten can be deleted', async () => {
    const scanId = await sweepOf(100_000);
    await home.waitForEnd(scanId, 30_000);
    await home.stop('SIGKILL');
    await runStatements(url, [`delete from portolan.servers where url = '${home.url}'`]);
    const path = `/api/v1/scans/${scanId}`;
    expect((await other.request(`${path}/results`)).status).toBe(503);
    expect((await other.request(path, { method: 'DELETE' })).status).toBe(200);
    expect((await other.request(path)).status).toBe(404);
  }, 60_000);
});
