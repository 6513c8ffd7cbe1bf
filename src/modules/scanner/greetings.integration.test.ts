import type { Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { closeServers, listen, tryModule } from '../../../test/module-trial.ts';
import { inVirtualTime } from '../../../test/virtual-time.ts';
import type { Banner } from '../../domain/text/banner.ts';
import { observedService } from '../../knowledge/rules/claims.ts';
import banner_grabber from './banner_grabber.ts';

/** No other test scans it. */
const host = '127.86.0.10';

/** What a server has seen. */
interface Seen {
  connections: number;
  open: number;
  /** Most connections at a time. */
  most: number;
  /** What arrived before the greeting was complete, and after it. */
  early: string;
  said: string;
}

let seen: Seen;
beforeEach(() => {
  seen = { connections: 0, open: 0, most: 0, early: '', said: '' };
});
afterEach(closeServers);

/** Sends the first part of a greeting at once, and the rest after a pause. */
function greeter(first: string, pauseMs: number, rest: string, response: string) {
  const mine = seen;
  return (socket: Socket) => {
    mine.connections += 1;
    mine.open += 1;
    // The end of the connection before may arrive in the same turn of the event loop, or in the next one.
    setImmediate(() =>
      setImmediate(() => {
        mine.most = Math.max(mine.most, mine.open);
      }),
    );
    let isReady = false;
    if (first) socket.write(first);
    const timer = setTimeout(() => {
      isReady = true;
      socket.write(rest);
    }, pauseMs);
    socket.on('data', (bytes) => {
      mine[isReady ? 'said' : 'early'] += bytes.toString('latin1');
      if (isReady) socket.write(response);
    });
    socket.on('close', () => {
      mine.open -= 1;
      clearTimeout(timer);
    });
  };
}

async function grab(port: number, config: Record<string, unknown> = {}): Promise<Banner> {
  const { result } = await inVirtualTime(
    () =>
      tryModule(banner_grabber, {
        config: { timeout: '3s', ...config },
        inputs: { open_ports: [{ host, port, protocol: 'tcp', state: 'open', reason: 'syn-ack' }] },
        targets: [host],
      }),
    20,
    1,
  );
  return (result.published.get('banners') as Banner[])[0] as Banner;
}

const ehloResponse = '250-mx.test\r\n250 HELP\r\n';

it.each([
  ['mail', 0, '220-mx.test ESMTP\r\n', '220 mx.test ESMTP Postfix\r\n', ehloResponse, 'smtp', /^EHLO /],
  [
    'a number in between',
    0,
    '220-mx.test ESMTP\r\n123 Main St\r\n',
    '220 mx.test ESMTP\r\n',
    ehloResponse,
    'smtp',
    /^EHLO /,
  ],
  ['files', 2121, '220-Welcome\r\n', '220 FTP ready\r\n', '211 End\r\n', 'ftp', /^FEAT/],
])(
  'nothing is sent before the last line of a greeting: %s',
  async (_name, wanted, first, rest, response, service, request) => {
    const port = await listen(greeter(first, 6000, rest, response), host, wanted);
    const banner = await grab(port, { tls_enumerate: true });
    expect([seen.early, observedService(banner), seen.most]).toEqual(['', service, 1]);
    expect(banner.banner).toContain(first + rest);
    expect(seen.said).toMatch(request);
  },
);

it('a greeting without an end is recorded, and nothing is ever sent', async () => {
  const port = await listen(greeter('220-mx.test ESMTP\r\n', 60_000, '', ''), host);
  const banner = await grab(port, { intrusive: true, tls_enumerate: true });
  expect(banner).toMatchObject({ banner: '220-mx.test ESMTP\r\n', probe: 'smtp', truncated: true });
  expect([seen.early, seen.connections]).toEqual(['', 1]);
});

it('a greeting of more lines than are read leads to no request', async () => {
  const port = await listen(greeter('220-mx.test ESMTP\r\n'.repeat(300), 60_000, '', ''), host);
  expect(await grab(port)).toMatchObject({ probe: 'smtp', truncated: true });
  expect([seen.early, seen.connections]).toEqual(['', 1]);
});

it('an SSH server that greets after 6 s is identified, with few connections', async () => {
  await listen(greeter('', 6000, 'SSH-2.0-Trial_1.0\r\n', ''), host, 2022);
  const banner = await grab(2022);
  expect(observedService(banner)).toBe('ssh');
  expect(banner).not.toHaveProperty('unidentified_reason');
  expect(seen.said).toMatch(/^SSH-2\.0-Portolan\r\n/);
  expect(seen.connections).toBeLessThanOrEqual(6);
});

it('a mail server that greets after 6 s gets no byte before, on one connection', async () => {
  await listen(greeter('', 6000, '220 mx.test ESMTP\r\n', ehloResponse), host, 2525);
  const banner = await grab(2525);
  expect(banner.banner).toBe(`220 mx.test ESMTP\r\n${ehloResponse}`);
  expect([seen.early, seen.most]).toEqual(['', 1]);
});

it('a mail server inside TLS that greets after 6 s gets no byte before', async () => {
  // Without a certificate, which a test would have to make.
  const serve = greeter('', 6000, '220 mx.test ESMTP\r\n', ehloResponse);
  const tls = createTlsServer({ ciphers: 'AECDH:@SECLEVEL=0', maxVersion: 'TLSv1.2' }, serve);
  tls.on('tlsClientError', () => undefined);
  await listen((socket) => void tls.emit('connection', socket), host, 2525);
  const banner = await grab(2525);
  expect(banner.banner).toBe(`220 mx.test ESMTP\r\n${ehloResponse}`);
  expect([observedService(banner), seen.early]).toEqual(['smtps', '']);
});

it('a web server at a port of SSH is found meanwhile', async () => {
  await listen(
    (socket) => {
      socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nServer: t\r\nContent-Length: 0\r\n\r\n'));
    },
    host,
    2022,
  );
  expect(observedService(await grab(2022))).toBe('http');
});

it('a silent port costs one timeout at a host with many open ports', async () => {
  const ports = await Promise.all([
    ...Array.from({ length: 30 }, () => listen((socket) => socket.resume(), host)),
    listen((socket) => socket.resume(), host, 2022),
  ]);
  const { ms } = await inVirtualTime(() =>
    tryModule(banner_grabber, {
      config: { timeout: '3s', retries: 0 },
      inputs: {
        open_ports: ports.map((port) => ({ host, port, protocol: 'tcp', state: 'open', reason: 'syn-ack' })),
      },
      targets: [host],
    }),
  );
  expect(ms).toBeLessThan(4000);
});

it('SHOUTcast is recognized by its status line, and its stream is not waited for', async () => {
  const port = await listen((socket) => {
    socket.once('data', () => {
      socket.write(
        'ICY 200 OK\r\nicy-notice2:SHOUTcast Distributed Network Audio Server/Linux v1.9.8<BR>\r\n\r\n',
      );
      const timer = setInterval(() => socket.write(Buffer.alloc(400, 0xff)), 100);
      socket.on('close', () => clearInterval(timer));
    });
  }, host);
  const banner = await grab(port);
  expect(observedService(banner)).toBe('shoutcast');
  expect(banner).toMatchObject({ probe: 'http', truncated: false, partial: false });
});

it('a page without a status line is a web server', async () => {
  const port = await listen((socket) => {
    socket.once('data', () => socket.end('<html><head><title>Old device</title></head></html>'));
  }, host);
  expect(observedService(await grab(port))).toBe('http');
});
