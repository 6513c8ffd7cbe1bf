import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { TargetField } from '../faults/target-field.ts';
import { postgresObstacle, storeDatabase } from '../postgres.ts';
import { ServerProcess } from '../program.ts';
import { HttpReceiver } from '../receivers.ts';
import { Cluster, longLease, until } from '../workers/cluster.ts';

const requestId = 'ci-4711.build_7';
const logging = { SERVICE_LOGGING__FORMAT: 'json', SERVICE_LOGGING__LEVEL: 'debug' };

type Line = Record<string, unknown> & { msg: string };

const opened: { dispose(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.dispose();
});

/** A receiver of notifications, and the environment that names it to a server. */
async function openReceiver() {
  const receiver = new HttpReceiver();
  const url = await receiver.listen();
  const folder = mkdtempSync(join(tmpdir(), 'portolan-correlation-'));
  opened.push({ dispose: () => receiver.close() });
  opened.push({ dispose: async () => rmSync(folder, { recursive: true, force: true }) });
  const file = join(folder, 'config.yaml');
  writeFileSync(file, `notifications: {webhooks: [{name: ops, url: "${url}"}]}\n`);
  return { receiver, env: { ...logging, SERVICE_CONFIG: file } };
}

async function openField(): Promise<TargetField> {
  const field = await TargetField.open(['127.94.0.1', '127.94.0.2'], 3);
  opened.push({ dispose: async () => field.close() });
  return field;
}

async function submit(server: ServerProcess, field: TargetField, more: object = {}): Promise<string> {
  const response = await server.request('/api/v1/scans', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-request-id': requestId },
    body: JSON.stringify({
      targets: ['127.94.0.1', '127.94.0.2'],
      ports: field.ports,
      dag: 'port-scan',
      options: { discover: false, retries: 0, timeout: '1s' },
      notifications: ['webhook://ops'],
      ...more,
    }),
  });
  expect(response.status, JSON.stringify(response.body)).toBe(201);
  return (response.body as { data: { scan_id: string } }).data.scan_id;
}

/** All lines about a scan; a line that is not JSON fails the test. */
function linesAbout(scanId: string, log: string): Line[] {
  const lines = log.split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Line).filter((line) => line['scan_id'] === scanId);
}

function expectOneRequest(lines: readonly Line[]): void {
  expect(lines.filter((line) => line['request_id'] !== requestId)).toEqual([]);
}

const messages = (lines: readonly Line[]) => [...new Set(lines.map(({ msg }) => msg))];

describe('every log line about a scan names the request that submitted it', () => {
  it('in an embedded server and its scan process, and the notification does too', async () => {
    const { receiver, env } = await openReceiver();
    const field = await openField();
    const server = new ServerProcess({ env });
    opened.push(server);
    await server.start();
    const scanId = await submit(server, field);
    expect(await server.waitForEnd(scanId)).toMatchObject({ status: 'completed' });
    await until('the notification and its log line', () => server.log.includes('notification delivered'));
    const lines = linesAbout(scanId, server.log);
    expect(messages(lines)).toEqual(
      expect.arrayContaining([
        'scan started',
        'scan process started',
        'scan ended',
        'notification delivered',
      ]),
    );
    expectOneRequest(lines);
    expect(receiver.received[0]?.headers['x-service-request-id']).toBe(requestId);
  });

  it.skipIf(postgresObstacle() !== null)('in shards on remote workers and their scan processes', async () => {
    const { receiver, env } = await openReceiver();
    const field = await openField();
    const cluster = new Cluster(await storeDatabase(), {
      ...longLease,
      ...env,
      SERVICE_WORKERS__SHARD_SIZE: '1',
    });
    opened.push(cluster);
    await cluster.server.start();
    const worker = await cluster.worker([], logging);
    const scanId = await submit(cluster.server, field, { pool: 'lab' });
    expect(await cluster.server.waitForEnd(scanId)).toMatchObject({ status: 'completed' });
    await until('the notification', () => cluster.server.log.includes('notification delivered'));
    await until('both shards', () => worker.log.split('"shard ended"').length > 2);
    const ofServer = linesAbout(scanId, cluster.server.log);
    expect(messages(ofServer)).toEqual(
      expect.arrayContaining([
        'scan started',
        'scan process started',
        'scan ended',
        'notification delivered',
      ]),
    );
    const ofWorker = linesAbout(scanId, worker.log);
    expect(messages(ofWorker)).toEqual(
      expect.arrayContaining(['shard started', 'scan process started', 'shard ended']),
    );
    const shards = ofWorker.filter(({ msg }) => msg === 'scan process started').map((line) => line['shard']);
    expect(shards.toSorted()).toEqual([0, 1]);
    expectOneRequest([...ofServer, ...ofWorker]);
    expect(receiver.received[0]?.headers['x-service-request-id']).toBe(requestId);
  });

  it('of a run of a job, which has an id of its own where the job has a schedule', async () => {
    const server = new ServerProcess({ env: logging });
    opened.push(server);
    await server.start();
    const job = {
      type: 'scan',
      schedule: '* * * * *',
      params: { targets: ['127.94.0.1'], ports: '1', profile: 'quick' },
    };
    const headers = { 'content-type': 'application/json', 'x-request-id': requestId };
    const body = JSON.stringify(job);
    const response = await server.request('/api/v1/jobs', { method: 'POST', headers, body });
    expect(response.status, JSON.stringify(response.body)).toBe(201);
    await until('a run of the job', () => /"scan ended"/.test(server.log));
    const started = server.log.split('\n').find((line) => line.includes('"job run started"')) ?? '{}';
    const { scan_id, request_id } = JSON.parse(started) as Record<string, string>;
    expect(request_id).toMatch(/^req_[0-9a-f]{12}$/);
    const lines = linesAbout(String(scan_id), server.log);
    expect(messages(lines)).toEqual(
      expect.arrayContaining(['job run started', 'scan started', 'scan ended']),
    );
    expect(lines.filter((line) => line['request_id'] !== request_id)).toEqual([]);
  });
});
