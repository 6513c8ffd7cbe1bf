import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { auditFiles } from '../../workspace/audit/audit-files.ts';
import type { AuditEvent } from '../../workspace/audit/audit-record.ts';
import { codeOf } from '../fixtures/grpc-client.ts';
import { type GrpcService, openGrpcService, struct } from '../fixtures/grpc-service.ts';

const open: GrpcService[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});
async function start(...input: Parameters<typeof openGrpcService>): Promise<GrpcService> {
  const one = await openGrpcService(...input);
  open.push(one);
  return one;
}

interface Accepted {
  scan_id: string;
  status: string;
  created_at: { seconds: number; nanos: number };
}

interface Listed {
  scans: { scan_id: string; name?: string }[];
  total: number;
  limit: number;
  offset: number;
  next_cursor?: string;
}

const target = { targets: ['127.0.0.1'] };

describe('scans over gRPC', () => {
  it('are decided and stored as over REST, the extension fields in options', async () => {
    const grpc = await start();
    const options = struct({
      name: 'a',
      tags: ['x'],
      ports: [80, 443],
      exclude: ['127.0.0.2'],
      rate: 500,
      retries: 2,
      discover: false,
    });
    const { value, error } = await grpc
      .scans()
      .call<Accepted>('SubmitScan', { ...target, profile: 'deep', vuln: false, options });
    expect(error).toBeNull();
    expect(value?.status).toBe('queued');
    expect(value?.scan_id).toMatch(/^\d{8}-\d{6}-[0-9a-f]{6}$/);
    const stored = await grpc.service.workspace.scan(value?.scan_id ?? '').request();
    expect(stored).toMatchObject({
      name: 'a',
      tags: ['x'],
      ports: '80,443',
      exclude: ['127.0.0.2'],
      rate: 500,
      profile: 'deep',
      vuln: false,
      options: { retries: 2, discover: false },
      created_at: new Date(
        (value?.created_at.seconds ?? 0) * 1000 + (value?.created_at.nanos ?? 0) / 1e6,
      ).toISOString(),
    });
  });

  it('look for vulnerabilities where the graph does and the call is silent', async () => {
    const grpc = await start();
    const submitted = async (more: object) => {
      const { value } = await grpc
        .scans()
        .call<Accepted>('SubmitScan', { ...target, ...more, options: struct({ dag: 'vuln-scan' }) });
      return (await grpc.service.workspace.scan(value?.scan_id ?? '').request()).vuln;
    };
    expect([await submitted({}), await submitted({ vuln: false })]).toEqual([true, false]);
  });

  it('are listed, shown, paused, resumed, canceled and deleted', async () => {
    const grpc = await start();
    const scans = grpc.scans();
    const ids: string[] = [];
    for (const name of ['one', 'two', 'three']) {
      const options = struct({ name, tags: [name] });
      ids.push((await scans.get<Accepted>('SubmitScan', { ...target, options })).scan_id);
    }
    const [first, second] = ids as [string, string, string];
    const list = await scans.get<Listed>('ListScans', { limit: 2 });
    expect([list.scans.length, list.total, list.limit, list.offset]).toEqual([2, 3, 2, 0]);
    const rest = await scans.get<Listed>('ListScans', { limit: 2, cursor: list.next_cursor });
    expect(rest.scans.map(({ scan_id }) => scan_id)).toEqual([first]);
    expect(rest.next_cursor).toBeUndefined();
    const tagged = await scans.get<Listed>('ListScans', {
      tag: 'two',
      status: 'queued',
      since: '2020-01-01',
    });
    expect(tagged.scans.map(({ name }) => name)).toEqual(['two']);

    expect(await scans.get('GetScan', { scan_id: first })).toMatchObject({ status: 'pending', name: 'one' });
    const paused = await scans.get<{ progress: { paused: boolean } }>('PauseScan', { scan_id: first });
    expect(paused.progress.paused).toBe(true);
    const resumed = await scans.get<{ progress: { paused: boolean } }>('ResumeScan', { scan_id: first });
    expect(resumed.progress.paused).toBe(false);
    const canceled = await scans.get('CancelScan', { scan_id: first });
    expect(canceled).toMatchObject({ status: 'failed', error: { code: 'canceled' } });
    const paying = await scans.call('PauseScan', { scan_id: first });
    expect([paying.error?.code, codeOf(paying)]).toEqual([status.FAILED_PRECONDITION, 'conflict']);
    expect(await scans.get('DeleteScan', { scan_id: second })).toEqual({ scan_id: second, deleted: true });
    const again = await scans.call('DeleteScan', { scan_id: second });
    expect([again.error?.code, codeOf(again)]).toEqual([status.NOT_FOUND, 'not_found']);
  });

  it('name every problem of a request in the trailer and the details', async () => {
    const grpc = await start();
    const bad = await grpc
      .scans()
      .call('SubmitScan', { targets: ['10.0.0.300'], profile: 'none', options: struct({ rate: 1e9 }) });
    expect([bad.error?.code, codeOf(bad)]).toEqual([status.INVALID_ARGUMENT, 'invalid_request']);
    expect(bad.error?.details).toMatch(/1 target is not valid|targets/);
    const details = String(bad.error?.metadata.get('grpc-status-details-bin')[0]);
    for (const word of ['google.protobuf.Struct', 'fields', 'profile', 'rate', '10.0.0.300']) {
      expect(details).toContain(word);
    }
    const wrongType = await grpc.scans().call('SubmitScan', { ...target, options: struct({ rate: 'fast' }) });
    expect(wrongType.error?.details).toBe('rate must be a whole number or must be auto');
    const none = await grpc.scans().call('SubmitScan', {});
    expect([codeOf(none), none.error?.details]).toEqual(['invalid_request', 'targets must not be empty']);
    const limit = await grpc.scans().call('ListScans', { limit: 0 });
    expect([limit.error?.code, codeOf(limit)]).toEqual([status.INVALID_ARGUMENT, 'invalid_request']);
    const notANumber = await grpc
      .scans()
      .call('SubmitScan', { ...target, options: struct({ rate: Number.NaN }) });
    expect([codeOf(notANumber), notANumber.error?.details]).toEqual([
      'invalid_request',
      'rate must be a whole number or must be auto',
    ]);
  });

  it('say what is wrong in plain text, also where half a character was cut off', async () => {
    const grpc = await start();
    const state = await grpc.scans().call('ListScans', { status: 'no such, 100 %' });
    expect(state.error?.details).toBe(
      'status must be one of pending, running, completed, failed (or queued)',
    );
    const ports = await grpc.scans().call('SubmitScan', { ...target, options: struct({ ports: '5% é' }) });
    expect(ports.error?.details).toContain('"5% é"');
    for (const text of ['😀'.repeat(500), `a${'😀'.repeat(500)}`]) {
      for (const message of [
        { targets: [text] },
        { ...target, profile: text },
        { ...target, options: struct({ dag: text }) },
        { ...target, options: struct({ dag: text, [text]: 1 }) },
      ]) {
        const bad = await grpc.scans().call('SubmitScan', message);
        expect([bad.error?.code, codeOf(bad)]).toEqual([status.INVALID_ARGUMENT, 'invalid_request']);
      }
      expect(
        (await grpc.scans().call('SubmitScan', { ...target, options: struct({ [text]: 1 }) })).error,
      ).toBe(null);
    }
  });

  it('limit the details of an error to what clients accept', async () => {
    const grpc = await start();
    const unknown = Array.from({ length: 30 }, (_, i) => [`${i} ${'é'.repeat(200)}`, 1] as const);
    for (const message of [
      { targets: Array.from({ length: 10_000 }, (_, i) => `10.0.0.300-${i}`) },
      { targets: Array.from({ length: 500 }, () => '') },
      { targets: Array.from({ length: 500 }, () => 'é!'.repeat(300)) },
      {
        ...target,
        options: struct({ ...Object.fromEntries(unknown), exclude: Array(200).fill('é!'.repeat(300)) }),
      },
    ]) {
      const { error, headers, trailers } = await grpc.scans().call('SubmitScan', message);
      expect(error?.code).toBe(status.INVALID_ARGUMENT);
      const details = trailers.get('grpc-status-details-bin')[0] as Buffer;
      expect(details.length).toBeGreaterThan(2000);
      // Counted by RFC 9113, with headers that the client library hides.
      const fields = Object.entries({ ...headers.toJSON(), ...trailers.toJSON() });
      const sizes = fields.map(([name, values]) => name.length + String(values[0]).length + 32);
      const base64 = Math.ceil(details.length / 3) * 4;
      const sum = sizes.reduce((a, b) => a + b, 0) - String(details).length + base64;
      expect(sum + 768 + 'grpc-status9grpc-message'.length + 64).toBeLessThan(8192);
    }
  });

  it('name unknown options and ignore them', async () => {
    const grpc = await start();
    const sent = await grpc.scans().call('SubmitScan', { ...target, options: struct({ speed: 2 }) });
    expect(sent.error).toBeNull();
    expect(sent.headers.get('service-warning')).toEqual([encodeURIComponent('unknown field: options.speed')]);
  });

  it('are submitted once for a key, over REST and gRPC together', async () => {
    const grpc = await start();
    const scans = grpc.scans();
    const first = await scans.call<Accepted>('SubmitScan', { ...target, idempotency_key: 'k1' });
    const again = await scans.call<Accepted>('SubmitScan', { ...target, idempotency_key: 'k1' });
    expect(again.value).toEqual(first.value);
    expect([first, again].map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([[], ['true']]);
    const rest = await grpc.service.app.inject({
      method: 'POST',
      url: '/api/v1/scans',
      payload: target,
      headers: { 'idempotency-key': 'k1' },
    });
    expect(rest.json().data.scan_id).toBe(first.value?.scan_id);
    const other = await scans.call('SubmitScan', { targets: ['127.0.0.2'], idempotency_key: 'k1' });
    expect([other.error?.code, codeOf(other)]).toEqual([status.ALREADY_EXISTS, 'conflict']);
    const badKey = await scans.call('SubmitScan', { ...target, idempotency_key: 'a b' });
    expect(codeOf(badKey)).toBe('invalid_request');
  });

  it('are refused when the queue is full, with the time to come again', async () => {
    const grpc = await start({ 'queue.max_jobs': 1 });
    await grpc.scans().get('SubmitScan', target);
    const full = await grpc.scans().call('SubmitScan', target);
    expect([full.error?.code, codeOf(full)]).toEqual([status.UNAVAILABLE, 'queue_full']);
    expect(full.error?.metadata.get('retry-after')).toEqual(['10']);
  });
});

describe('jobs over gRPC', () => {
  it('are submitted, listed, shown and canceled', async () => {
    const grpc = await start();
    const jobs = grpc.jobs();
    const params = struct(target);
    const job = await jobs.get<{ job_id: string; next_runs: object[] }>('SubmitJob', {
      type: 'scan',
      params,
      schedule: '0 2 * * *',
      name: 'nightly',
    });
    expect(job).toMatchObject({ type: 'scan', schedule: '0 2 * * *', pool: 'default', status: 'pending' });
    expect(job.next_runs).toHaveLength(3);
    const shown = await jobs.get('GetJob', { job_id: job.job_id });
    expect(shown).toEqual(job);
    const list = await jobs.get('ListJobs', { status: 'pending', type: 'scan' });
    expect(list).toMatchObject({ total: 1, jobs: [{ job_id: job.job_id, params }] });
    expect(await jobs.get('CancelJob', { job_id: job.job_id })).toMatchObject({ status: 'canceled' });
    const unknown = await jobs.call('GetJob', { job_id: 'job-zzzz' });
    expect([unknown.error?.code, codeOf(unknown)]).toEqual([status.NOT_FOUND, 'not_found']);
    const bad = await jobs.call('SubmitJob', { type: 'scan', params, schedule: '60 * * * *' });
    expect([bad.error?.code, codeOf(bad)]).toEqual([status.INVALID_ARGUMENT, 'invalid_request']);
    const without = await jobs.call('SubmitJob', { type: 'scan' });
    expect(without.error?.details).toBe('params is required');
    const keyed = { type: 'scan', params, idempotency_key: 'k' };
    const once = await jobs.get<{ job_id: string }>('SubmitJob', keyed);
    expect((await jobs.get<{ job_id: string }>('SubmitJob', keyed)).job_id).toBe(once.job_id);
    const other = await jobs.call('SubmitJob', { ...keyed, name: 'x' });
    expect([other.error?.code, codeOf(other)]).toEqual([status.ALREADY_EXISTS, 'conflict']);
  });
});

describe('the workspace over gRPC', () => {
  it('reports its size and collects garbage', async () => {
    const grpc = await start();
    const { scan_id } = await grpc.scans().get<Accepted>('SubmitScan', target);
    await grpc.scans().get('CancelScan', { scan_id });
    const workspace = grpc.workspace();
    expect(await workspace.get('GetInfo')).toMatchObject({
      path: grpc.service.workspace.dir,
      scan_count: 1,
    });
    const dry = await workspace.get('RunGc', { keep_last: 0, dry_run: true });
    expect(dry).toMatchObject({ dry_run: true, deleted_count: 1, deleted_scans: [scan_id] });
    const bad = await workspace.call('RunGc', { older_than: '30m' });
    expect([bad.error?.code, codeOf(bad)]).toEqual([status.INVALID_ARGUMENT, 'invalid_request']);
    expect(await workspace.get('RunGc', { keep_last: 0 })).toMatchObject({
      deleted_count: 1,
      policy: { keep_last: 0 },
    });
    expect(await workspace.get('RunGc', {})).toMatchObject({ deleted_count: 0 });
  });
});

describe('calls of gRPC', () => {
  it('have their record in the audit log, changes before the response', async () => {
    const grpc = await start({ 'logging.audit.enabled': true, 'server.api.auth': true });
    const token = await grpc.service.token('scan:write');
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const headers = { 'x-request-id': 'mine-1', traceparent };
    const sent = await grpc.scans(token).call<Accepted>('SubmitScan', target, headers);
    expect(sent.headers.get('x-request-id')).toEqual(['mine-1']);
    const scanId = sent.value?.scan_id ?? '';
    const origin = { requestId: 'mine-1', traceparent };
    expect(await grpc.service.store.scans.originOf(scanId)).toEqual(origin);
    const records = () =>
      auditFiles({ folder: join(grpc.service.workspace.dir, 'audit'), file: null }).flatMap((path) =>
        readFileSync(path, 'utf8')
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as AuditEvent),
      );
    expect(records()).toEqual([
      expect.objectContaining({
        event: 'api_access',
        outcome: 'allowed',
        actor: expect.objectContaining({ type: 'token', name: 'test' }),
        request: expect.objectContaining({
          id: 'mine-1',
          path: '/service.api.v1.ScanService/SubmitScan',
          status: 200,
          ip: '127.0.0.1',
        }),
        resource: { type: 'scan', id: sent.value?.scan_id },
        details: expect.objectContaining({ targets: 1, addresses: 1 }),
      }),
    ]);
    await grpc.scans(token).call('ListScans');
    await grpc.scans('svc_nobody_x').call('ListScans');
    await new Promise((resolve) => setTimeout(resolve, 100));
    const later = records().slice(1);
    expect(later.map(({ outcome, details }) => [outcome, details['error']])).toEqual([
      ['denied', 'insufficient_scope'],
      ['denied', 'unauthorized'],
    ]);
    expect(later.map(({ resource }) => resource)).toEqual([
      { type: 'scan', id: null },
      { type: 'scan', id: null },
    ]);
    expect(JSON.stringify(records())).not.toContain(token);
  });

  it('name in the audit log what they were about, as over REST', async () => {
    const grpc = await start({ 'logging.audit.enabled': true });
    const { scan_id } = await grpc.scans().get<Accepted>('SubmitScan', target);
    await grpc.scans().all('GetResults', { scan_id, format: 'none' });
    await grpc.workspace().all('ExportScan', { scan_id, format: 'pdf' });
    await grpc.workspace().call('GetInfo');
    await grpc.jobs().call('ListJobs');
    for (const path of [
      `scans/${scan_id}/results?format=none`,
      `workspace/scans/${scan_id}/export?format=pdf`,
      'workspace/info',
      'jobs',
    ]) {
      await grpc.service.app.inject(`/api/v1/${path}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
    const resources = auditFiles({ folder: join(grpc.service.workspace.dir, 'audit'), file: null })
      .flatMap((path) => readFileSync(path, 'utf8').trimEnd().split('\n'))
      .map((line) => JSON.parse(line) as AuditEvent)
      .filter(({ event }) => event === 'api_access')
      .map(({ resource }) => resource);
    expect(resources[1]).toEqual({ type: 'scan', id: scan_id });
    expect(resources.slice(1, 5)).toEqual(resources.slice(5));
  });

  it('are counted', async () => {
    const grpc = await start();
    await grpc.scans().get('ListScans');
    await grpc.scans().call('GetScan', { scan_id: 'x' });
    const { text } = await grpc.service.context.metrics.render('text');
    expect(text).toContain(
      'service_http_requests_total{route="/service.api.v1.ScanService/ListScans",status="200"} 1',
    );
    expect(text).toContain(
      'service_http_requests_total{route="/service.api.v1.ScanService/GetScan",status="404"} 1',
    );
  });
});
