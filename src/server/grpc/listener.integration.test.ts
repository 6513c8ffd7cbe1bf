import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import {
  type ClientHttp2Session,
  connect as connectSession,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2';
import { type AddressInfo, connect as connectTcp, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls, type DetailedPeerCertificate } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { credentials } from '@grpc/grpc-js';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../config/load.ts';
import { GraphLibrary } from '../../engine/graph/graph-library.ts';
import { Registry, registerModules } from '../../engine/registry.ts';
import { makeCertificate } from '../fixtures/certificates.ts';
import { codeOf, fromProto, GrpcClient } from '../fixtures/grpc-client.ts';
import { type GrpcService, openGrpcService, struct } from '../fixtures/grpc-service.ts';
import { type RunningServer, startServer } from '../start.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'portolan-grpc-'));
});
const running: RunningServer[] = [];
const clients: GrpcClient[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  for (const server of running.splice(0)) await server.stop();
  rmSync(dir, { recursive: true, force: true });
});

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const registry = new Registry();
let library: GraphLibrary;
beforeAll(async () => {
  await registerModules(registry, source('../../modules'));
  library = await GraphLibrary.load(source('../../../profiles'), 'builtin', registry);
});

/** A port of this machine without a listener. */
async function freePort(): Promise<number> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function start(port: number, flags: Record<string, unknown> = {}): Promise<RunningServer> {
  const readConfig = async () =>
    loadConfig({
      env: { HOME: dir },
      systemFile: join(dir, 'none.yaml'),
      flags: {
        'workspace.dir': join(dir, 'ws'),
        'server.bind': '127.0.0.1:0',
        'server.grpc.enabled': true,
        'server.grpc.bind': `127.0.0.1:${port}`,
        'logging.level': 'error',
        ...flags,
      },
    });
  const settings = await readConfig();
  const entryFile = source('../fixtures/scan-child.ts');
  const server = await startServer({
    ...settings,
    readConfig,
    version: '0.0.0',
    build: { commit: null, built_at: null },
    entryFile,
    registry,
    library,
  });
  running.push(server);
  return server;
}

function scans(port: number, channel = credentials.createInsecure()): GrpcClient {
  const definition = fromProto('service.proto');
  const client = new GrpcClient(definition, 'service.api.v1.ScanService', `127.0.0.1:${port}`, null, channel);
  clients.push(client);
  return client;
}

describe('the gRPC listener of a server', () => {
  it('is off unless configured', async () => {
    const port = await freePort();
    await start(port, { 'server.grpc.enabled': false });
    const ended = await scans(port).call('ListScans');
    expect(ended.error?.code).toBe(14);
    expect(codeOf(ended)).toBe('');
  });

  it('serves beside REST, is no target of scans, and ends with the server', async () => {
    const port = await freePort();
    const server = await start(port, { 'scanner.scope.protect_self': true });
    const client = scans(port);
    const sent = { targets: ['127.0.0.1'], options: struct({ ports: String(port) }) };
    const own = await client.call('SubmitScan', sent);
    expect(codeOf(own)).toBe('invalid_request');
    expect(String(own.error?.metadata.get('grpc-status-details-bin')[0])).toContain(
      'scanner.scope.protect_self',
    );
    const other = await client.call('SubmitScan', { ...sent, options: struct({ name: 'hang', ports: '9' }) });
    expect(other.error).toBeNull();
    const { scan_id } = other.value as { scan_id: string };
    const list = (await (await fetch(`${server.url}/api/v1/scans/${scan_id}`)).json()) as { data: unknown };
    expect(list.data).toMatchObject({ scan_id });
    const watched = client.all('WatchScan', { scan_id });
    await sleep(300);
    running.length = 0;
    await server.stop();
    expect(codeOf(await watched)).toBe('unavailable');
    expect((await scans(port).call('ListScans')).error?.code).toBe(14);
  });

  it('that cannot be bound stops the start, and leaves nothing behind', async () => {
    const taken = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    await expect(start(port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await new Promise((resolve) => taken.close(resolve));
    await start(port);
    expect((await scans(port).call('ListScans')).error).toBeNull();
  });

  it('has the certificate of REST, TLS 1.2 at least, and both take a new one at a reload', async () => {
    const make = (name: string) =>
      makeCertificate(join(dir, name), { subject: name, alternative: 'DNS:localhost,IP:127.0.0.1' });
    const [first, second] = [make('first'), make('second')];
    const used = { cert_file: join(dir, 'cert.pem'), key_file: join(dir, 'key.pem') };
    const use = (files: typeof used) => {
      copyFileSync(files.cert_file, used.cert_file);
      copyFileSync(files.key_file, used.key_file);
    };
    use(first);
    const port = await freePort();
    const server = await start(port, {
      'server.tls.enabled': true,
      'server.tls.cert_file': used.cert_file,
      'server.tls.key_file': used.key_file,
    });
    const trusting = ({ cert_file }: typeof used) =>
      scans(port, credentials.createSsl(readFileSync(cert_file)));
    const old = trusting(first);
    expect((await old.call('ListScans')).error).toBeNull();
    expect((await scans(port).call('ListScans')).error?.code).toBe(14);
    expect((await handshake(port, { maxVersion: 'TLSv1.1' })).error).toBeTruthy();
    expect((await handshake(port)).subject).toBe('first');
    use(second);
    await server.reload();
    expect((await handshake(port)).subject).toBe('second');
    const rest = Number(new URL(server.url).port);
    expect((await handshake(rest, { ALPNProtocols: ['http/1.1'] })).subject).toBe('second');
    expect((await trusting(second).call('ListScans')).error).toBeNull();
    // The open connection continues.
    expect((await old.call('ListScans')).error).toBeNull();
  });
});

/** A stopped clock that reports further checks of the connections. */
function standingClock() {
  const clock = { ms: 0, reads: 0 };
  return {
    now: () => {
      clock.reads += 1;
      return clock.ms;
    },
    advance: (ms: number) => {
      clock.ms += ms;
    },
    looks: async () => {
      const enough = clock.reads + 10;
      await expect.poll(() => clock.reads).toBeGreaterThanOrEqual(enough);
    },
  };
}

/** Whether the frames contain a PING without ACK (RFC 9113, section 6.7). */
function hasPing(bytes: Buffer): boolean {
  for (let at = 0; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) {
    if (bytes[at + 3] === 6 && bytes[at + 4] === 0) return true;
  }
  return false;
}

describe('connections', () => {
  it('whose client no longer responds are closed', async () => {
    const clock = standingClock();
    const care = { lookMs: 10, idleMs: 60_000, pingTimeoutMs: 300, now: clock.now };
    const grpc = await openGrpcService({}, {}, care);
    try {
      const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
      const socket = connectTcp(Number(grpc.address.split(':')[1]), '127.0.0.1', () => {
        socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
        socket.write(settings);
      });
      socket.on('error', () => undefined);
      const closed = new Promise((resolve) => socket.once('close', resolve));
      let received = Buffer.alloc(0);
      socket.on('data', (bytes) => {
        received = Buffer.concat([received, bytes]);
      });
      await expect.poll(() => hasPing(received)).toBe(true);
      clock.advance(300);
      await clock.looks();
      expect(socket.readyState).toBe('open');
      clock.advance(1);
      await closed;
    } finally {
      await grpc.close();
    }
  });

  /** Makes calls without a token, one after another, and counts the responses. */
  const reject = async (session: ClientHttp2Session, calls: number): Promise<number> => {
    let responded = 0;
    for (let n = 0; n < calls && !session.closed && !session.destroyed; n++) {
      const stream = session.request({
        ':method': 'POST',
        ':path': '/service.api.v1.ScanService/ListScans',
        'content-type': 'application/grpc',
      });
      stream.on('response', () => (responded += 1)).on('error', () => undefined);
      stream.end();
      await new Promise((resolve) => stream.resume().once('close', resolve));
    }
    return responded;
  };

  it('that make too many calls without a token are closed', async () => {
    const grpc = await openGrpcService({ 'server.api.auth': true });
    try {
      const session = connectSession(`http://${grpc.address}`);
      const goodbye = new Promise((resolve) => session.once('goaway', resolve));
      const closed = new Promise((resolve) => session.once('close', resolve));
      session.on('error', () => undefined);
      expect(await reject(session, 100)).toBe(20);
      expect(await goodbye).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
      await closed;
      // The client reconnects and is served with a token.
      const { error } = await grpc.scans(await grpc.service.token('admin')).call('ListScans');
      expect(error).toBeNull();
    } finally {
      await grpc.close();
    }
  });

  /** Makes calls and resets each at once, until the connection is closed; returns how many the server handled. */
  async function lookedAtBeforeClose(grpc: GrpcService, token: string | null): Promise<number> {
    const session = connectSession(`http://${grpc.address}`);
    const closed = new Promise((resolve) => session.once('close', resolve));
    session.on('error', () => undefined);
    const { admission } = grpc.service.context;
    const { authenticate } = admission;
    let looks = 0;
    admission.authenticate = (...input) => {
      looks += 1;
      return authenticate.apply(admission, input);
    };
    for (let n = 0; n < 3000 && !session.destroyed && !session.closed; n++) {
      const stream = session.request({
        ':method': 'POST',
        ':path': '/service.api.v1.ScanService/ListScans',
        ...(token !== null && { authorization: `Bearer ${token}` }),
      });
      stream.on('error', () => undefined);
      stream.close(constants.NGHTTP2_CANCEL);
      if (n % 50 === 0) await sleep(1);
    }
    await closed;
    return looks;
  }

  it('that reset their calls at once are closed after few of them', async () => {
    const grpc = await openGrpcService({ 'server.api.auth': true });
    try {
      expect(await lookedAtBeforeClose(grpc, null)).toBeLessThanOrEqual(200);
    } finally {
      await grpc.close();
    }
  });

  it('that reset their calls at once are closed also where they have a token', async () => {
    const grpc = await openGrpcService({ 'server.api.auth': true });
    try {
      const token = await grpc.service.token('admin');
      // The token is known, so that the calls are admitted.
      await grpc.scans(token).get('ListScans');
      // A burst of 200 and 20 a second, so a loaded machine may handle some; the HTTP/2 library's own limit is 1,000.
      expect(await lookedAtBeforeClose(grpc, token)).toBeLessThan(800);
    } finally {
      await grpc.close();
    }
  });

  it('that calls with and without a token share keep what was admitted', async () => {
    const grpc = await openGrpcService({ 'server.api.auth': true }, { working: true });
    try {
      const token = await grpc.service.token('admin');
      const message = { targets: ['127.0.0.1'], options: struct({ name: 'hang' }) };
      const { scan_id } = await grpc.scans(token).get<{ scan_id: string }>('SubmitScan', message);
      const session = connectSession(`http://${grpc.address}`);
      session.on('error', () => undefined);
      const watch = session.request({
        ':method': 'POST',
        ':path': '/service.api.v1.ScanService/WatchScan',
        'content-type': 'application/grpc',
        te: 'trailers',
        authorization: `Bearer ${token}`,
      });
      const text = Buffer.from(scan_id);
      watch.end(Buffer.from([0, 0, 0, 0, text.length + 2, 0x0a, text.length, ...text]));
      const trailers = new Promise<IncomingHttpHeaders>((resolve) => watch.once('trailers', resolve));
      await new Promise((resolve) => watch.once('data', resolve));
      expect(await reject(session, 100)).toBe(20);
      // Longer than the lifetime of a connection without an admitted call.
      await sleep(700);
      await grpc.scans(token).get('CancelScan', { scan_id });
      expect((await trailers)['grpc-status']).toBe('0');
    } finally {
      await grpc.close();
    }
  });

  it('that are idle are closed', async () => {
    const clock = standingClock();
    const care = { lookMs: 10, idleMs: 300, pingTimeoutMs: Number.POSITIVE_INFINITY, now: clock.now };
    const grpc = await openGrpcService({}, {}, care);
    try {
      const session = connectSession(`http://${grpc.address}`);
      const closed = new Promise((resolve) => session.once('close', resolve));
      await new Promise((resolve) => session.once('remoteSettings', resolve));
      clock.advance(300);
      await clock.looks();
      expect(session.closed).toBe(false);
      clock.advance(1);
      await closed;
      const busy = grpc.scans();
      const { scan_id } = await busy.get<{ scan_id: string }>('SubmitScan', { targets: ['127.0.0.1'] });
      const events: unknown[] = [];
      const watch = busy.stream('WatchScan', { scan_id });
      watch.on('data', (event) => events.push(event)).on('error', () => undefined);
      await expect.poll(() => events.length).toBeGreaterThan(0);
      clock.advance(3_600_000);
      await clock.looks();
      // An idle call keeps its connection open: its client responds to pings.
      const ended = new Promise((resolve) => watch.once('end', resolve));
      await busy.get('CancelScan', { scan_id });
      await ended;
      expect(events.at(-1)).toMatchObject({ type: 'end' });
    } finally {
      await grpc.close();
    }
  });
});

/** Outcome of a TLS handshake. */
function handshake(
  port: number,
  options: object = {},
): Promise<{ subject: string | null; error: string | null }> {
  return new Promise((resolve) => {
    const all = {
      host: '127.0.0.1',
      servername: 'localhost',
      port,
      rejectUnauthorized: false,
      ALPNProtocols: ['h2'],
      ...options,
    };
    const socket = connectTls(all, () => {
      const { subject } = socket.getPeerCertificate() as DetailedPeerCertificate;
      resolve({ subject: String(subject.CN), error: null });
      socket.destroy();
    });
    socket.on('error', (error) => resolve({ subject: null, error: error.message }));
  });
}
