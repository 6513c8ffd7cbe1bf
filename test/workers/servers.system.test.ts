import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeOf, fromProto, GrpcClient } from '../../src/server/fixtures/grpc-client.ts';
import { emptyDatabase, freePort, numberFrom, postgresObstacle, runStatements } from '../postgres.ts';
import type { ServerProcess } from '../program.ts';
import { Lab, sweep, until } from './cluster.ts';
import { WorkerProcess } from './worker-process.ts';

/** Tests that run at the same time have addresses of their own. */
const [address, paused, deleted] = ['127.86.1.1', '127.86.1.2', '127.86.1.3'] as const;
const portCount = 300;

describe.skipIf(postgresObstacle() !== null)('two servers on one database', () => {
  let lab: Lab;
  /** Of the database. */
  let url: string;
  let grpcAddress: string;
  let home: ServerProcess;
  let other: ServerProcess;
  /** Scans that are over. */
  let [first, second] = ['', ''];

  beforeAll(async () => {
    lab = await Lab.open([address, paused, deleted], portCount);
    url = await emptyDatabase();
    // Neither takes over the scans of the other one.
    const env = { SERVICE_QUEUE__URL: url, SERVICE_WORKERS__LEASE: '10m' };
    grpcAddress = `127.0.0.1:${await freePort()}`;
    home = await lab.server(env);
    other = await lab.server({
      ...env,
      SERVICE_SERVER__GRPC__ENABLED: 'true',
      SERVICE_SERVER__GRPC__BIND: grpcAddress,
    });
    [first, second] = (await Promise.all([sweepOf(address, 100_000), sweepOf(address, 100_000)])) as [
      string,
      string,
    ];
    for (const id of [first, second]) await home.waitForEnd(id);
  });

  afterAll(() => lab?.dispose());

  const sweepOf = (target: string, rate: number) =>
    sweep(home, lab.field, [target], rate, { pool: 'default' });
  const tell = (scanId: string, what: string) =>
    other.request(`/api/v1/scans/${scanId}/${what}`, { method: 'POST' });
  const begun = (from: number, target: string) => until('20 connections', () => lab.count(from, target) > 20);
  const folderAt = ({ workspace }: ServerProcess, scanId: string) => join(workspace, 'scans', scanId);
  const goneFrom = (server: ServerProcess, scanId: string) =>
    until('its folder is gone', () => !existsSync(folderAt(server, scanId)));
  /** The scan has become silent, and not because it has come to its end. */
  const silent = async (from: number, target: string) => {
    await lab.silence([target]);
    expect(lab.count(from, target)).toBeLessThan(portCount);
  };

  it('what one found is read from the other: results, records, events, exports and changes', async () => {
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
    const records = await other.request(`/api/v1/scans/${first}/records?limit=500`);
    expect(records.body).toMatchObject({ data: { total: 301 } });
    const changes = await other.request(`/api/v1/scans/${first}/diff?against=${second}`);
    expect(changes.body).toMatchObject({ data: { ports: { added: [], removed: [] } } });
  });

  it('the events of the service on one show the scans of the other, with their rows', async () => {
    const leaving = new AbortController();
    const url = `${other.url}/api/v1/events?scan=${first}@0`;
    const response = await fetch(url, { signal: leaving.signal });
    let text = '';
    const reading = (async () => {
      for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) text += piece;
    })().catch(() => undefined);
    try {
      await until('the end of the followed scan', () => text.includes('\nevent: end\n'));
      expect(text.match(/^event: port$/gm)).toHaveLength(300);
      const third = await sweepOf(address, 100_000);
      const shown = (status: string) =>
        new RegExp(`^event: scan\n.*\n?data: \\{"scan_id":"${third}","status":"${status}"`, 'm');
      await until('the end of a new scan', () => shown('completed').test(text));
      await home.request(`/api/v1/scans/${third}`, { method: 'DELETE' });
      await until('its deletion', () => text.includes(`data: {"scan_id":"${third}"}`));
    } finally {
      leaving.abort();
      await reading;
    }
  });

  it('the same over gRPC: files, events and deletion', async () => {
    const scanId = second;
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
      await goneFrom(home, scanId);
      expect(codeOf(await scans.all('GetResults', { scan_id: scanId }))).toBe('not_found');
    } finally {
      scans.close();
    }
  });

  it.concurrent('a pause, its end and a cancel reach a scan through either', async () => {
    const from = performance.now();
    const scanId = await sweepOf(paused, 40);
    await begun(from, paused);
    expect((await tell(scanId, 'pause')).status).toBe(200);
    await silent(from, paused);
    await until('the other one says so', async () => (await other.detail(scanId)).progress.paused);
    const resumed = performance.now();
    expect((await tell(scanId, 'resume')).status).toBe(200);
    await begun(resumed, paused);
    expect(await tell(scanId, 'cancel')).toMatchObject({
      status: 200,
      body: { data: { status: 'failed', error: { code: 'canceled' } } },
    });
    await silent(from, paused);
  });

  it.concurrent('a scan that is deleted at one is gone from the disk of the other', async () => {
    const from = performance.now();
    const scanId = await sweepOf(deleted, 40);
    await begun(from, deleted);
    expect(existsSync(folderAt(home, scanId))).toBe(true);
    const gone = await other.request(`/api/v1/scans/${scanId}`, { method: 'DELETE' });
    expect(gone).toMatchObject({ status: 200, body: { data: { scan_id: scanId, deleted: true } } });
    await silent(from, deleted);
    expect((await home.request(`/api/v1/scans/${scanId}`)).status).toBe(404);
    await goneFrom(home, scanId);
  });

  describe('while one of them is away', () => {
    let worker: WorkerProcess;
    let from: number;
    /** Run by a worker of its own, and by the server itself. */
    let [distant, own] = ['', ''];
    const [ofWorker, ofServer] = [paused, deleted];

    beforeAll(async () => {
      worker = await new WorkerProcess(['--pool', 'lab', '--queue', url]).start();
      from = performance.now();
      distant = await sweep(home, lab.field, [ofWorker], 20);
      await begun(from, ofWorker);
      own = await sweepOf(ofServer, 40);
      await until('its first rows are in the database', async () => (await storedRows(own)) > 10);
      expect(await codes()).not.toContain('owner_away');
      await home.stop('SIGKILL');
    });
    afterAll(() => worker?.dispose());

    const storedRows = (scanId: string) =>
      numberFrom(url, `select sum(rows) from portolan.result_blocks where scan_id = '${scanId}'`);
    const codes = async () => (await other.detail(own)).warnings.map(({ code }) => code);
    const ownersCheck = async () => {
      const { body } = await other.request('/api/v1/health');
      const { checks } = (body as { data: { checks: { name: string; status: string }[] } }).data;
      return checks.find(({ name }) => name === 'owners')?.status;
    };

    it('a cancel stops the workers of its scan', async () => {
      const canceled = tell(distant, 'cancel');
      await silent(from, ofWorker);
      expect(await canceled).toMatchObject({ status: 503, body: { error: { code: 'unavailable' } } });
    });

    it('its scan carries owner_away, as does the health', async () => {
      // Its last heartbeat ages at once, so that the test need not wait until it has.
      await runStatements(url, [
        `update portolan.servers set last_seen = last_seen - 15000 where url = '${home.url}'`,
      ]);
      await expect.poll(codes, { interval: 250 }).toContain('owner_away');
      expect(await ownersCheck()).toBe('degraded');
    });

    it('the other one has its finished scans and the rows of unfinished ones, as archives too, and deletes what is finished', async () => {
      for (const path of ['results', 'records', 'events'])
        expect((await other.request(`/api/v1/scans/${first}/${path}`)).status, path).toBe(200);
      const { status, body } = await other.request(`/api/v1/scans/${own}/records?type=port`);
      expect(status).toBe(200);
      expect((body as { data: { total: number } }).data.total).toBeGreaterThan(5);
      for (const format of ['json', 'tar.gz']) {
        const path = `/api/v1/workspace/scans/${own}/export?format=${format}`;
        expect((await other.request(path)).status, path).toBe(200);
      }
      const path = `/api/v1/scans/${first}`;
      expect((await other.request(path, { method: 'DELETE' })).status).toBe(200);
      expect((await other.request(path)).status).toBe(404);
      expect(existsSync(folderAt(home, first))).toBe(true);
    });

    it('nothing is lost: when it is back it ends what was canceled, goes on with the rest, and loses what was deleted', async () => {
      await home.start();
      await goneFrom(home, first);
      const detail = await other.waitForEnd(distant);
      expect(detail).toMatchObject({ status: 'failed', error: { code: 'canceled' } });
      await expect.poll(codes, { interval: 250 }).not.toContain('owner_away');
      await expect.poll(ownersCheck, { interval: 250 }).toBeUndefined();
      expect(await other.waitForEnd(own)).toMatchObject({ status: 'completed' });
      expect(await codes()).not.toContain('owner_away');
    });
  });

  it('what a server that is forgotten has found can be read and deleted', async () => {
    const scanId = await sweepOf(address, 100_000);
    await home.waitForEnd(scanId);
    await home.stop('SIGKILL');
    await runStatements(url, [`delete from portolan.servers where url = '${home.url}'`]);
    const path = `/api/v1/scans/${scanId}`;
    expect((await other.request(`${path}/results`)).status).toBe(200);
    expect((await other.request(path, { method: 'DELETE' })).status).toBe(200);
    expect((await other.request(path)).status).toBe(404);
  });
});
