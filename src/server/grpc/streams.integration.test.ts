import { rm } from 'node:fs/promises';
import { connect } from 'node:http2';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { type ClientReadableStream, status } from '@grpc/grpc-js';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createToken } from '../../actions/access/create-token.ts';
import { revokeToken } from '../../actions/access/revoke-token.ts';
import { codeOf, fromProto, GrpcClient } from '../fixtures/grpc-client.ts';
import { type GrpcService, openGrpcService, struct } from '../fixtures/grpc-service.ts';
import { ChunkSchema, GetResultsRequestSchema } from './gen/service_pb.ts';

const open: GrpcService[] = [];
afterEach(async () => {
  // Of a test that ran out of time: the next ones need the real ones.
  vi.useRealTimers();
  for (const one of open.splice(0)) await one.close();
});
async function start(...input: Parameters<typeof openGrpcService>): Promise<GrpcService> {
  const one = await openGrpcService(...input);
  open.push(one);
  return one;
}

interface Event {
  sequence: number;
  type: string;
  data: { fields: Record<string, { stringValue?: string }> };
}

interface Piece {
  data: Buffer;
  content_type: string;
  filename: string;
  scan_status: string;
}

async function submit(grpc: GrpcService, name: string): Promise<string> {
  const message = { targets: ['127.0.0.1'], options: struct({ name }) };
  return (await grpc.scans().get<{ scan_id: string }>('SubmitScan', message)).scan_id;
}

async function ended(grpc: GrpcService, name: string): Promise<string> {
  const scan_id = await submit(grpc, name);
  await grpc.service.until(scan_id, ({ status: state }) => state === 'completed' || state === 'failed');
  return scan_id;
}

const textOf = (pieces: Piece[]) => Buffer.concat(pieces.map(({ data }) => data)).toString();

/** Resolves with the first message that meets a condition. */
async function message(
  call: ClientReadableStream<unknown>,
  wanted: (event: Event) => boolean,
): Promise<Event> {
  return await new Promise((resolve, reject) => {
    call.on('data', (event) => wanted(event as Event) && resolve(event as Event));
    call.on('error', reject);
  });
}

describe('WatchScan', () => {
  it('sends all events until the end and resumes after a sequence without a gap', async () => {
    const grpc = await start({}, { working: true });
    const scan_id = await submit(grpc, 'rows 50');
    const { messages, error } = await grpc.scans().all<Event>('WatchScan', { scan_id });
    expect(error).toBeNull();
    const hosts = messages.filter(({ type }) => type === 'host');
    expect(hosts.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
    expect(hosts[9]?.data.fields['host']?.stringValue).toBe('127.0.0.10');
    expect(messages[0]?.type).toBe('status');
    expect(messages.at(-1)).toMatchObject({
      type: 'end',
      data: { fields: { status: { stringValue: 'completed' } } },
    });
    const rest = await grpc.scans().all<Event>('WatchScan', { scan_id, after_sequence: 40 });
    expect(rest.messages.filter(({ type }) => type === 'host').map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: 10 }, (_, i) => i + 41),
    );
    expect(rest.messages.at(-1)?.type).toBe('end');
    const sequences = messages.map(({ sequence }) => sequence);
    expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
  });

  it('follows a running scan, and ends with it', async () => {
    const grpc = await start({}, { working: true });
    const scan_id = await submit(grpc, 'hang');
    const call = grpc.scans().stream('WatchScan', { scan_id });
    await message(call, ({ type }) => type === 'host');
    const end = message(call, ({ type }) => type === 'end');
    await grpc.scans().get('CancelScan', { scan_id });
    expect((await end).data.fields['status']?.stringValue).toBe('failed');
  });

  it('ends when its token is revoked, when the scan is deleted, and when the server stops', async () => {
    const grpc = await start({ 'server.api.auth': true }, { working: true });
    const { token, record } = await createToken(grpc.service.store, {
      name: 'watcher',
      scopes: ['scan:read'],
      expiry: '1h',
    });
    const admin = await grpc.service.token('admin');
    const hang = async () => {
      const sent = { targets: ['127.0.0.1'], options: struct({ name: 'hang' }) };
      return (await grpc.scans(admin).get<{ scan_id: string }>('SubmitScan', sent)).scan_id;
    };
    const first = await hang();
    const watched = grpc.scans(token).stream('WatchScan', { scan_id: first });
    await message(watched, ({ type }) => type === 'host');
    const revoked = new Promise((resolve) => watched.on('error', resolve));
    await revokeToken(grpc.service.store, record.id);
    expect(await revoked).toMatchObject({ code: status.UNAUTHENTICATED });

    const doomed = grpc.scans(admin).all('WatchScan', { scan_id: first });
    await sleep(200);
    await grpc.scans(admin).get('DeleteScan', { scan_id: first });
    // Its last state may still be sent before it is deleted.
    const { error, messages } = await doomed;
    expect(error === null ? messages.at(-1) : error.code).toEqual(
      error === null ? expect.objectContaining({ type: 'end' }) : status.NOT_FOUND,
    );

    const second = await hang();
    const cut = grpc.scans(admin).all('WatchScan', { scan_id: second });
    await grpc.service.until(second, ({ status: state }) => state === 'running');
    await sleep(200);
    const closing = grpc.close();
    open.length = 0;
    const stopped = await cut;
    expect([stopped.error?.code, codeOf(stopped)]).toEqual([status.UNAVAILABLE, 'unavailable']);
    await closing;
  });

  it('refuses scans that do not exist and numbers that are none', async () => {
    const grpc = await start();
    const unknown = await grpc.scans().all('WatchScan', { scan_id: '../../etc' });
    expect([unknown.error?.code, codeOf(unknown)]).toEqual([status.NOT_FOUND, 'not_found']);
    const scan_id = await submit(grpc, 'a');
    const far = await grpc.scans().all('WatchScan', { scan_id, after_sequence: 2 ** 60 });
    expect([far.error?.code, codeOf(far)]).toEqual([status.INVALID_ARGUMENT, 'invalid_request']);
  });
});

describe('server.streams', () => {
  /** Opens an event stream by REST. */
  const events = async (base: string, scan_id: string, token: string) => {
    const leave = new AbortController();
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${base}/api/v1/scans/${scan_id}/events`, { headers, signal: leave.signal });
    return { response, leave: () => leave.abort() };
  };

  it('limits the open event streams of a token and of all, REST and gRPC together', async () => {
    const limits = { 'server.streams.per_token': 2, 'server.streams.total': 3 };
    const grpc = await start({ 'server.api.auth': true, ...limits }, { working: true });
    const [first, second] = [await grpc.service.token('admin'), await grpc.service.token('admin')];
    const sent = { targets: ['127.0.0.1'], options: struct({ name: 'hang' }) };
    const { scan_id } = await grpc.scans(first).get<{ scan_id: string }>('SubmitScan', sent);
    const base = await grpc.service.listen();

    const watched = grpc.scans(first).stream('WatchScan', { scan_id });
    watched.on('error', () => undefined);
    await message(watched, () => true);
    const followed = await events(base, scan_id, first);
    expect(followed.response.status).toBe(200);

    const third = await events(base, scan_id, first);
    expect([third.response.status, third.response.headers.get('retry-after')]).toEqual([429, '5']);
    expect(await third.response.json()).toMatchObject({ error: { code: 'rate_limited' } });
    const refused = await grpc.scans(first).all('WatchScan', { scan_id });
    expect([refused.error?.code, codeOf(refused)]).toEqual([status.RESOURCE_EXHAUSTED, 'rate_limited']);
    expect(refused.error?.metadata.get('retry-after')).toEqual(['5']);

    // Another token has its own limit, as long as the server has capacity.
    const other = await events(base, scan_id, second);
    expect(other.response.status).toBe(200);
    expect((await events(base, scan_id, second)).response.status).toBe(429);

    // A HEAD request does not count, and a stream that ended no longer does.
    const headers = { authorization: `Bearer ${first}` };
    const head = await fetch(`${base}/api/v1/scans/${scan_id}/events`, { method: 'HEAD', headers });
    expect(head.status).toBe(200);
    watched.cancel();
    other.leave();
    const again = async () => {
      const { response, leave } = await events(base, scan_id, first);
      leave();
      return response.status;
    };
    await expect.poll(again).toBe(200);
    followed.leave();
    await expect.poll(() => grpc.service.context.feeds.size).toBe(0);
  });
});

describe('GetResults and ExportScan', () => {
  it('send the files of the REST API', async () => {
    const grpc = await start({}, { working: true });
    const scan_id = await ended(grpc, 'rows 20');
    for (const format of ['jsonl', 'csv']) {
      const { messages, error } = await grpc.scans().all<Piece>('GetResults', { scan_id, format });
      expect(error).toBeNull();
      const rest = await grpc.service.app.inject(`/api/v1/scans/${scan_id}/results?format=${format}`);
      expect(textOf(messages)).toBe(rest.body);
      expect(messages[0]).toMatchObject({
        content_type: rest.headers['content-type'],
        filename: `${scan_id}.${format}`,
        scan_status: 'completed',
      });
    }
    const { messages } = await grpc.scans().all<Piece>('GetResults', { scan_id });
    expect(JSON.parse(textOf(messages)).data.results).toHaveLength(20);
    const html = await grpc.workspace().all<Piece>('ExportScan', { scan_id, format: 'html' });
    expect(textOf(html.messages)).toContain('<html');
    const archive = await grpc.workspace().all<Piece>('ExportScan', { scan_id, format: 'artifacts' });
    expect(archive.messages[0]?.filename).toBe(`${scan_id}.tar.gz`);
    expect(archive.messages[0]?.data.subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]));
    const bad = await grpc.scans().all('GetResults', { scan_id, format: 'html' });
    expect([bad.error?.code, codeOf(bad)]).toEqual([status.INVALID_ARGUMENT, 'invalid_request']);
    const pdf = await grpc.workspace().all<Piece>('ExportScan', { scan_id, format: 'pdf', paper: 'letter' });
    expect(pdf.messages[0]).toMatchObject({ content_type: 'application/pdf', filename: `${scan_id}.pdf` });
    expect(Buffer.concat(pdf.messages.map(({ data }) => data)).toString('latin1')).toMatch(
      /^%PDF-.*MediaBox \[0 0 612 792\]/s,
    );
  });

  it('refuse options of reports as the REST API does', async () => {
    const grpc = await start({}, { working: true });
    const scan_id = await ended(grpc, 'rows 2');
    const waiting = await submit(grpc, 'hang');
    for (const [code, wish] of [
      ['invalid_request', { format: 'pdf', paper: 'a3' }],
      ['invalid_request', { format: 'csv', paper: 'a4' }],
      ['invalid_request', { format: 'html', template: 'corporate' }],
      ['invalid_request', { format: 'markdown', fix: -1 }],
      ['not_found', { format: 'html', against: '20261006-143022-a1b2c3' }],
      ['conflict', { format: 'html', against: waiting }],
    ] as const) {
      const refused = await grpc.workspace().all('ExportScan', { scan_id, ...wish });
      expect([wish, codeOf(refused), refused.messages]).toEqual([wish, code, []]);
    }
    const against = await ended(grpc, 'rows 1');
    const compared = await grpc.workspace().all<Piece>('ExportScan', { scan_id, format: 'html', against });
    expect(textOf(compared.messages)).toContain(against);
    await vi.waitFor(() => expect(grpc.service.context.reports.running).toBe(0), { timeout: 120_000 });
  });

  it('end the thread of a report when the client cancels', async () => {
    const grpc = await start({}, { working: true });
    const scan_id = await ended(grpc, 'rows 20000');
    const call = grpc.workspace().stream('ExportScan', { scan_id, format: 'html' });
    const canceled = new Promise((resolve) => call.on('error', resolve));
    await new Promise((resolve) => call.once('data', resolve));
    expect(grpc.service.context.reports.running).toBe(1);
    call.cancel();
    await canceled;
    await vi.waitFor(() => expect(grpc.service.context.reports.running).toBe(0), { timeout: 120_000 });
  });

  it('wait for a slow reader, who gets everything', async () => {
    const grpc = await start({}, { working: true });
    const scan_id = await ended(grpc, 'rows 20000');
    const session = connect(`http://${grpc.address}`);
    try {
      const path = '/service.api.v1.ScanService/GetResults';
      const call = session.request({
        ':method': 'POST',
        ':path': path,
        'content-type': 'application/grpc',
        te: 'trailers',
      });
      const request = create(GetResultsRequestSchema, { scanId: scan_id, format: 'jsonl' });
      call.end(framed(toBinary(GetResultsRequestSchema, request)));
      const responded = `route="${path}"`;
      await sleep(1000);
      // Nothing was read: the service pauses in the middle of the file, and serves others.
      expect((await grpc.service.context.metrics.render('text')).text).not.toContain(responded);
      await grpc.scans().get('GetScan', { scan_id });
      const bytes: Buffer[] = [];
      let trailers: Record<string, unknown> = {};
      call.on('trailers', (got) => (trailers = got));
      for await (const part of call) bytes.push(part as Buffer);
      expect(trailers['grpc-status']).toBe('0');
      const messages = framesOf(Buffer.concat(bytes));
      expect(Math.max(...messages.map(({ length }) => length))).toBeLessThan(66 * 1024);
      const file = Buffer.concat(messages.map((one) => fromBinary(ChunkSchema, one).data)).toString();
      expect(file.trimEnd().split('\n')).toHaveLength(20_001);
      await sleep(50);
      expect((await grpc.service.context.metrics.render('text')).text).toContain(responded);
    } finally {
      session.close();
    }
  });
});

describe('deadlines', () => {
  it('of the client end a call, also in the middle of a stream', async () => {
    const grpc = await start({}, { working: true });
    const scan_id = await submit(grpc, 'hang');
    const call = grpc.scans().stream('WatchScan', { scan_id }, { 'grpc-timeout': '700m' });
    const error = await new Promise<{ code: number; metadata: { get(name: string): unknown[] } }>(
      (resolve) => {
        call.on('data', () => undefined);
        call.on('error', (one) => resolve(one as never));
      },
    );
    expect(error.code).toBe(status.DEADLINE_EXCEEDED);
    expect(error.metadata.get('service-error-code')).toEqual(['timeout']);
  });

  it('of the service end a call whose message does not come', async () => {
    const grpc = await start();
    const session = connect(`http://${grpc.address}`);
    const call = session.request({
      ':method': 'POST',
      ':path': '/service.api.v1.ScanService/ListScans',
      'content-type': 'application/grpc',
      'grpc-timeout': '300m',
    });
    const headers = await new Promise<Record<string, unknown>>((resolve) => call.once('response', resolve));
    expect([headers['grpc-status'], headers['service-error-code']]).toEqual(['4', 'timeout']);
    await new Promise((resolve) => call.once('close', resolve).resume());
    session.close();
  });

  it('of the service end a stream without a request message, and one whose last response is not read', async () => {
    const grpc = await start();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const session = connect(`http://${grpc.address}`, { settings: { initialWindowSize: 0 } });
    try {
      const request = (method: string) =>
        session.request({
          ':method': 'POST',
          ':path': `/grpc.health.v1.Health/${method}`,
          'content-type': 'application/grpc',
        });
      const silent = request('Watch');
      const refused = new Promise<Record<string, unknown>>((resolve) => silent.once('response', resolve));
      const deaf = request('Check');
      deaf.on('error', () => undefined);
      const given = new Promise((resolve) => deaf.once('close', () => resolve(deaf.rstCode)));
      deaf.end(framed(Buffer.alloc(0)));
      await new Promise((resolve) => deaf.once('response', resolve));
      await sleep(200);
      // The deadline of the silent call, and that of the response that is not read.
      await expect.poll(() => vi.getTimerCount()).toBe(2);
      await vi.advanceTimersByTimeAsync(30_000);
      expect((await refused)['service-error-code']).toBe('timeout');
      expect(deaf.closed).toBe(false);
      await vi.advanceTimersByTimeAsync(90_000);
      expect(await given).toBe(8);
    } finally {
      vi.useRealTimers();
      session.destroy();
    }
  });
});

describe('health', () => {
  it('reports services by name, and the shutdown', async () => {
    const grpc = await start();
    const health = new GrpcClient(
      fromProto('grpc/health/v1/health.proto'),
      'grpc.health.v1.Health',
      grpc.address,
    );
    for (const service of ['', 'service.api.v1.ScanService', 'grpc.health.v1.Health']) {
      expect(await health.get('Check', { service })).toEqual({ status: 'SERVING' });
    }
    const unknown = await health.call('Check', { service: 'x.Y' });
    expect([unknown.error?.code, codeOf(unknown)]).toEqual([status.NOT_FOUND, 'not_found']);
    const states: unknown[] = [];
    const watch = health.stream('Watch', { service: '' });
    const over = new Promise<{ code: number }>((resolve) =>
      watch.on('error', (error) => resolve(error as never)),
    );
    watch.on('data', (got: { status: string }) => states.push(got.status));
    const unknownWatch = health.stream('Watch', { service: 'x.Y' });
    unknownWatch.on('error', () => undefined);
    const reported = await new Promise<{ status: string }>((resolve) => unknownWatch.once('data', resolve));
    expect(reported.status).toBe('SERVICE_UNKNOWN');
    unknownWatch.cancel();
    await sleep(100);
    grpc.service.context.phase = 'draining';
    const draining = await grpc.scans().call('SubmitScan', { targets: ['127.0.0.1'] });
    expect([draining.error?.code, codeOf(draining)]).toEqual([status.UNAVAILABLE, 'unavailable']);
    expect((await grpc.scans().call('ListScans')).error).toBeNull();
    await grpc.close();
    open.length = 0;
    expect((await over).code).toBe(status.UNAVAILABLE);
    expect(states).toEqual(['SERVING', 'NOT_SERVING']);
    health.close();
  });
});

/** Frames a message for the wire. */
function framed(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

function framesOf(bytes: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at + 1);
    frames.push(bytes.subarray(at + 5, at + 5 + length));
    at += 5 + length;
  }
  return frames;
}

describe('a scan whose record is gone', () => {
  it('is partial in GetResults, ExportScan and WatchScan, and an error as CSV', async () => {
    const grpc = await start({}, { working: true });
    const scan_id = await ended(grpc, 'rows 3');
    await rm(join(grpc.service.workspace.scan(scan_id).path, 'results.jsonl'));
    const results = await grpc.scans().all<Piece>('GetResults', { scan_id });
    expect(JSON.parse(textOf(results.messages)).data).toMatchObject({
      partial: true,
      warnings: [{ code: 'record_damaged' }],
    });
    const exported = await grpc.workspace().all<Piece>('ExportScan', { scan_id, format: 'jsonl' });
    expect(textOf(exported.messages)).toContain('"partial":true');
    const watched = await grpc.scans().all<Event>('WatchScan', { scan_id });
    const warning = watched.messages.find(({ type }) => type === 'warning');
    expect(warning?.data.fields['code']).toMatchObject({ stringValue: 'record_damaged' });
    expect(watched.messages.at(-1)?.data.fields['partial']).toMatchObject({ boolValue: true });
    const csv = await grpc.scans().all<Piece>('GetResults', { scan_id, format: 'csv' });
    expect(codeOf(csv)).toBe('internal_error');
  });
});
