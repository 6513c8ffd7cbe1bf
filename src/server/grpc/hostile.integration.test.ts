import { randomBytes } from 'node:crypto';
import { type ClientHttp2Session, connect, constants, type IncomingHttpHeaders } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { gzipSync } from 'node:zlib';
import { create, toBinary } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorCatalog } from '../../domain/errors.ts';
import { type GrpcService, openGrpcService } from '../fixtures/grpc-service.ts';
import { SubmitScanRequestSchema } from './gen/service_pb.ts';
import { methodRules } from './method-rules.ts';

let grpc: GrpcService;
let session: ClientHttp2Session;
beforeAll(async () => {
  grpc = await openGrpcService();
  session = connect(`http://${grpc.address}`);
});
afterAll(async () => {
  session.close();
  await grpc.close();
});

interface Outcome {
  /** HTTP status. */
  http: number;
  grpc: number | null;
  code: string | null;
  text: string;
}

/** Sends raw bytes as the body of a call, and returns its outcome. */
async function call(
  path: string,
  body: Uint8Array | null,
  headers: IncomingHttpHeaders = {},
  over = session,
): Promise<Outcome> {
  const request = over.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  });
  return await new Promise((resolve, reject) => {
    let reported: Record<string, unknown> = {};
    const take = (more: Record<string, unknown>) => (reported = { ...reported, ...more });
    request.on('response', take).on('trailers', take).on('error', reject).resume();
    request.on('close', () => {
      const status = reported['grpc-status'];
      resolve({
        http: Number(reported[':status']),
        grpc: status === undefined ? null : Number(status),
        code: (reported['service-error-code'] as string | undefined) ?? null,
        text: JSON.stringify(reported),
      });
    });
    request.end(body ?? undefined);
  });
}

const submit = '/service.api.v1.ScanService/SubmitScan';

/** @param flags 1 = compressed @param length declared instead of the real one */
function framed(message: Uint8Array, flags = 0, length = message.length): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, message]);
}

/** Every failure has a documented code and reveals no internals. */
function expectDocumented(outcome: Outcome): void {
  expect(outcome.http).toBe(200);
  expect(outcome.grpc).not.toBeNull();
  if (outcome.grpc === 0) expect(outcome.code).toBeNull();
  else expect(Object.keys(errorCatalog)).toContain(outcome.code);
  expect(outcome.code).not.toBe('internal_error');
  expect(outcome.text).not.toMatch(/node_modules|\.ts:|\.js:|at [A-Z]\w+\./);
}

describe('hostile bytes over gRPC', () => {
  it('end in documented codes, 1000 of them, and the service goes on', async () => {
    const methods = Object.keys(methodRules).filter((path) => !path.endsWith('/Watch'));
    const valid = toBinary(
      SubmitScanRequestSchema,
      create(SubmitScanRequestSchema, {
        targets: ['10.0.0.300', '\u0000'],
        options: { rate: 5, tags: ['a'], deep: { a: [1, 2, { b: null }] } },
      }),
    );
    const bodies = [
      (n: number) => randomBytes(n % 80),
      (n: number) => framed(randomBytes(n % 60)),
      (n: number) => framed(mutated(valid, n)),
      (n: number) => framed(valid.subarray(0, n % valid.length)),
      (n: number) => framed(valid, n % 256),
      (n: number) => framed(valid, 0, n * 7919),
      (n: number) => Buffer.concat([framed(mutated(valid, n)), framed(valid)]),
    ];
    const codes = new Map<string | null, number>();
    for (let n = 0; n < 1000; n += 20) {
      const calls = Array.from({ length: 20 }, async (_, i) => {
        const number = n + i;
        const path = number % 2 === 0 ? submit : (methods[number % methods.length] as string);
        const body = bodies[number % bodies.length] as (n: number) => Buffer;
        const outcome = await call(path, body(number));
        expectDocumented(outcome);
        codes.set(outcome.code, (codes.get(outcome.code) ?? 0) + 1);
      });
      await Promise.all(calls);
    }
    expect(codes.get('invalid_request')).toBeGreaterThan(300);
    expect((await grpc.scans().call('ListScans')).error).toBeNull();
  });

  it('of one message are 2 MiB at most, unpacked too', async () => {
    const large = framed(Buffer.alloc(2 * 1024 * 1024 + 1));
    const outcome = await call(submit, large);
    expect([outcome.grpc, outcome.code]).toEqual([8, 'payload_too_large']);
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024));
    const packed = await call(submit, framed(bomb, 1), { 'grpc-encoding': 'gzip' });
    expect([packed.grpc, packed.code]).toEqual([8, 'payload_too_large']);
    const unknown = await call(submit, framed(bomb, 1), { 'grpc-encoding': 'x-none' });
    expect([unknown.grpc, unknown.code]).toEqual([12, 'not_implemented']);
  });

  it('of a health request, which needs no token, are few', async () => {
    for (const method of ['Check', 'Watch']) {
      const request = session.request({
        ':method': 'POST',
        ':path': `/grpc.health.v1.Health/${method}`,
        'content-type': 'application/grpc',
        te: 'trailers',
      });
      const responded = new Promise<IncomingHttpHeaders>((resolve) =>
        request.once('trailers', resolve).resume(),
      );
      // The rest is never sent.
      request.write(framed(Buffer.alloc(10), 0, 2000));
      expect((await responded)['service-error-code']).toBe('payload_too_large');
      request.close();
    }
  });

  it('that nest deeply, or hold keys that reach a prototype, are refused', async () => {
    let options: Record<string, unknown> = {};
    for (let i = 0; i < 60; i++) options = { a: options };
    const deep = call(submit, framed(submission(options)));
    expect(await deep).toMatchObject({ grpc: 3, code: 'invalid_request' });
    // Deeper than any decoder supports.
    let bytes = Buffer.alloc(0);
    for (let i = 0; i < 5000; i++) bytes = Buffer.concat([Buffer.from([0x2a]), varint(bytes.length), bytes]);
    expect(await call(submit, framed(bytes))).toMatchObject({ grpc: 3, code: 'invalid_request' });
    for (const key of ['__proto__', 'constructor']) {
      const bad = JSON.parse(`{"${key}": {"rate": 5}}`) as Record<string, unknown>;
      expect(await call(submit, framed(submission(bad)))).toMatchObject({ grpc: 3, code: 'invalid_request' });
    }
    expect(({} as { rate?: number }).rate).toBeUndefined();
  });

  it('that are not gRPC calls get an HTTP response', async () => {
    const json = await call(submit, Buffer.from('{}'), { 'content-type': 'application/json' });
    expect([json.http, json.grpc]).toEqual([415, null]);
    const get = await call(submit, null, { ':method': 'GET' });
    expect([get.http, get.grpc]).toEqual([405, null]);
    const path = await call('/api/v1/scans', null);
    expect([path.http, path.grpc, path.code]).toEqual([200, 12, 'not_implemented']);
    const odd = await call(`/${'%'.repeat(300)}`, null);
    expect(odd.code).toBe('not_implemented');
    const timeout = await call('/service.api.v1.ScanService/ListScans', framed(Buffer.alloc(0)), {
      'grpc-timeout': '99999999999999H',
    });
    expect(timeout.grpc).toBe(0);
  });

  it('in headers are too many, or too large, at a limit', async () => {
    const many = Object.fromEntries(Array.from({ length: 110 }, (_, i) => [`x-${i}`, 'a']));
    for (const headers of [many, { 'x-large': 'a'.repeat(17_000) }]) {
      const outcome = await call(submit, framed(Buffer.alloc(0)), headers);
      expect([outcome.grpc, outcome.code]).toEqual([8, 'headers_too_large']);
    }
  });

  it('without HTTP/2, or with many abandoned streams, do not affect other clients', async () => {
    const [host = '', port] = grpc.address.split(':');
    for (const text of [
      'GET / HTTP/1.1\r\n\r\n',
      randomBytes(500),
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nnonsense',
    ]) {
      const socket = connectTcp(Number(port), host, () => socket.end(text));
      await new Promise((resolve) =>
        socket
          .on('error', () => undefined)
          .once('close', resolve)
          .resume(),
      );
    }
    const other = connect(`http://${grpc.address}`);
    other.on('error', () => undefined);
    for (let i = 0; i < 200; i++) {
      const request = other.request({
        ':method': 'POST',
        ':path': submit,
        'content-type': 'application/grpc',
      });
      request.on('error', () => undefined);
      request.close(8);
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
    other.destroy();
    expect((await grpc.scans().call('ListScans')).error).toBeNull();
  });
});

describe('a connection', () => {
  it('that resets its calls in the same piece is closed before one of them is served', async () => {
    const { admission } = grpc.service.context;
    const { meter } = admission;
    let served = 0;
    admission.meter = (...input) => {
      served += 1;
      return meter.apply(admission, input);
    };
    const cancel = Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL]);
    const call = (stream: number) => [
      frame(headersType, stream, callBlock),
      frame(resetType, stream, cancel),
    ];
    await sendFrames(grpc.address, calls(5000).flatMap(call));
    admission.meter = meter;
    expect(served).toBe(0);
    expect((await grpc.scans().call('ListScans')).error).toBeNull();
  });

  it('that sends calls beyond the limit, with much to unpack in each, is closed after few of them', async () => {
    // Changes of the size of the dynamic table (RFC 7541, 6.3).
    const block = Buffer.concat([Buffer.alloc(16_000, 0x20), callBlock]);
    const received = await sendFrames(
      grpc.address,
      calls(1000).map((stream) => frame(headersType, stream, block)),
    );
    // 100 that wait for their message, 200 beyond, and the one that is too many.
    expect(resets(received)).toBeLessThanOrEqual(301);
    expect((await grpc.scans().call('ListScans')).error).toBeNull();
  });
});

const headersType = 1;
const resetType = 3;
const settingsType = 4;
/** Of ListScans, without a body so far. */
const callBlock = Buffer.concat([
  // POST, http, path, authority, content-type (RFC 7541, appendix A).
  Buffer.from([0x83, 0x86, 0x04]),
  lengthAndText('/service.api.v1.ScanService/ListScans'),
  Buffer.from([0x01]),
  lengthAndText('127.0.0.1'),
  Buffer.from([0x0f, 0x10]),
  lengthAndText('application/grpc'),
]);

function lengthAndText(text: string): Buffer {
  return Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]);
}

/** Numbers of streams. */
function calls(count: number): number[] {
  return Array.from({ length: count }, (_, n) => 2 * n + 1);
}

/** A frame of HTTP/2 (RFC 9113, 4.1); headers are complete, and a body may follow. */
function frame(type: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(type === headersType ? 4 : 0, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Sends all frames at once on a new connection. @returns what the server sent until it closed that */
async function sendFrames(address: string, frames: Buffer[]): Promise<Buffer> {
  const [host = '', port] = address.split(':');
  const preface = [Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(settingsType, 0, Buffer.alloc(0))];
  const socket = connectTcp(Number(port), host, () => socket.write(Buffer.concat([...preface, ...frames])));
  const received: Buffer[] = [];
  socket.on('data', (bytes) => received.push(bytes)).on('error', () => undefined);
  await new Promise((resolve) => socket.once('close', resolve));
  return Buffer.concat(received);
}

/** Calls that the server reset. */
function resets(received: Buffer): number {
  let count = 0;
  for (let at = 0; at + 9 <= received.length; at += 9 + received.readUIntBE(at, 3))
    if (received[at + 3] === resetType) count += 1;
  return count;
}

function submission(options: Record<string, unknown>): Uint8Array {
  return toBinary(
    SubmitScanRequestSchema,
    create(SubmitScanRequestSchema, { targets: ['127.0.0.1'], options: options as never }),
    { recursionLimit: 1000 } as never,
  );
}

function mutated(bytes: Uint8Array, seed: number): Buffer {
  const copy = Buffer.from(bytes);
  for (let i = 0; i < 1 + (seed % 4); i++)
    copy[(seed * 31 + i * 17) % copy.length] = (seed * 13 + i * 101) % 256;
  return copy;
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let left = value; ; left >>>= 7) {
    if (left < 128) return Buffer.from([...bytes, left]);
    bytes.push((left & 127) | 128);
  }
}
