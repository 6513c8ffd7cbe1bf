import { createServer as createHttp2Server, createSecureServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { closeServers, listen, tryModule } from '../../../test/module-trial.ts';
import { inVirtualTime } from '../../../test/virtual-time.ts';
import type { ParsedService } from '../../domain/service.ts';
import type { Banner } from '../../domain/text/banner.ts';
import { certificateDer, privateKey } from '../../knowledge/protocols/test-certificate.ts';
import http_parser from '../parser/http_parser.ts';
import banner_grabber from './banner_grabber.ts';

const key = privateKey().export({ type: 'sec1', format: 'pem' });
const der = certificateDer({ commonName: 'web.example', signed: true });
const cert = `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`;
const servers = new Set<{ close(): unknown }>();

afterEach(() => {
  closeServers();
  for (const server of servers) server.close();
  servers.clear();
});

/** All servers are in this process: clocks hardly have to wait for them. */
const grab = async (...input: Parameters<typeof grabNow>): Promise<Banner[]> =>
  (await inVirtualTime(() => grabNow(...input), 5, 1)).result;

async function grabNow(port: number, config: Record<string, unknown> = {}): Promise<Banner[]> {
  const open = { host: '127.0.0.1', port, protocol: 'tcp', state: 'open', reason: 'syn-ack' };
  const { published } = await tryModule(banner_grabber, {
    config: { timeout: '1s', ...config },
    inputs: { open_ports: [open] },
  });
  return published.get('banners') as Banner[];
}

async function parse(banners: Banner[]): Promise<ParsedService[]> {
  const { published } = await tryModule(http_parser, { inputs: { banners } });
  return (published.get('parsed_services') ?? []) as ParsedService[];
}

/** A server that agrees on nothing but HTTP/2. */
async function serveHttp2(response: (stream: ServerHttp2Stream, path: string) => void): Promise<number> {
  const server = createSecureServer({ key, cert, allowHTTP1: false, ALPNProtocols: ['h2'] });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    response(stream, String(headers[':path']));
  });
  server.on('sessionError', () => undefined);
  servers.add(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

describe('servers that speak nothing but HTTP/2', () => {
  it('are read: headers, title and the protocol that was agreed upon', async () => {
    const asked: string[] = [];
    const port = await serveHttp2((stream, path) => {
      asked.push(path);
      stream.respond({
        ':status': 200,
        server: 'trial/2.1',
        'content-type': 'text/html',
        'set-cookie': ['a=1', 'b=2'],
      });
      stream.end('<title>Two</title>');
    });
    const banners = await grab(port);
    expect(banners).toMatchObject([
      { probe: 'http2', tls: { version: 'TLSv1.3', alpn: 'h2' }, truncated: false },
    ]);
    expect(banners[0]?.banner).toMatch(/^HTTP\/2 200\r\nserver: trial\/2\.1\r\n/);
    expect(banners[0]?.exchange).toBeUndefined();
    expect(asked).toEqual(['/']);
    expect(await parse(banners)).toMatchObject([
      {
        service: 'https',
        attributes: {
          http: { version: '2', status: 200, server: 'trial/2.1', title: 'Two', cookies: ['a', 'b'] },
        },
      },
    ]);
  });

  it('a body is read to the cap only', async () => {
    const port = await serveHttp2((stream) => {
      stream.respond({ ':status': 404, 'content-type': 'text/plain' });
      stream.end('x'.repeat(100_000));
    });
    const [banner] = await grab(port, { max_bytes: 1000 });
    expect(banner).toMatchObject({ probe: 'http2', truncated: true });
    expect(banner?.banner.length).toBeLessThan(1500);
  });

  it('a server that agrees and then falls silent costs the timeout', async () => {
    const port = await serveHttp2(() => undefined);
    const { result, ms } = await inVirtualTime(() => grabNow(port, { retries: 0 }));
    expect(result[0]?.probe).not.toBe('http2');
    expect(ms).toBeLessThan(6000);
  });

  it.each([
    ['noise', Buffer.from('not a frame at all, and quite long'.repeat(10))],
    ['a frame that claims to be huge', Buffer.from('ffffff000000000001', 'hex')],
    ['headers that cannot be unpacked', Buffer.from('000000040000000000000003010500000001ffffff', 'hex')],
    ['settings without end', Buffer.concat(Array(20_000).fill(Buffer.from('000000040000000000', 'hex')))],
    ['an end at once', Buffer.alloc(0)],
  ])('survives %s', async (_what, bytes) => {
    const server = createTlsServer({ key, cert, ALPNProtocols: ['h2'] }, (socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(bytes));
    });
    server.on('tlsClientError', () => undefined);
    servers.add(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const banners = await grab((server.address() as AddressInfo).port);
    expect(banners.length).toBeGreaterThan(0);
    expect(banners.every(({ probe }) => probe !== 'http2')).toBe(true);
  });

  it('probes a server that speaks both by HTTP/1.1', async () => {
    const server = createSecureServer({ key, cert, allowHTTP1: true }, (_request, response) => {
      response.end('both');
    });
    servers.add(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const [banner] = await grab((server.address() as AddressInfo).port);
    expect(banner).toMatchObject({ probe: 'http', tls: { alpn: 'http/1.1' } });
    expect(banner?.banner).toMatch(/^HTTP\/1\.1 200/);
  });
});

describe('what is inside', () => {
  async function start(server: ReturnType<typeof createTlsServer> | ReturnType<typeof createHttp2Server>) {
    servers.add(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }

  it('requests the page over HTTP/2 without TLS', async () => {
    const server = createHttp2Server((_request, response) => {
      response.writeHead(200, { server: 'trial/2.2', 'content-type': 'text/html' });
      response.end('<title>Clear</title>');
    });
    server.on('sessionError', () => undefined);
    const banners = await grab(await start(server));
    expect(banners[0]).toMatchObject({ probe: 'http2' });
    expect(banners[0]?.banner).toMatch(/^HTTP\/2 200\r\nserver: trial\/2\.2\r\n/);
    expect(banners[0]?.tls).toBeUndefined();
  });

  it('sends other probes to a TLS service that hangs up on HTTP', async () => {
    const server = createTlsServer({ key, cert }, (socket) => {
      socket.on('error', () => undefined);
      socket.once('data', (bytes) => {
        if (bytes.toString('latin1').startsWith('GET ')) socket.destroy();
        else socket.write('$29\r\n# Server\r\nredis_version:7.0.15\r\n');
      });
    });
    server.on('tlsClientError', () => undefined);
    const [banner] = await grab(await start(server));
    expect(banner).toMatchObject({ probe: 'redis' });
    expect(banner?.tls?.version).toBe('TLSv1.3');
    expect(banner?.banner).toContain('redis_version:7.0.15');
  });

  it('a server that knows only a protocol of its own shows its certificate', async () => {
    const server = createTlsServer({ key, cert, ALPNProtocols: ['trial/1.0'] }, (socket) => {
      socket.on('error', () => undefined);
    });
    server.on('tlsClientError', () => undefined);
    const [banner] = await grab(await start(server));
    expect(banner?.tls?.version).toBe('TLSv1.3');
    expect(banner?.tls_error).toBeUndefined();
  });

  it('one that says nothing in TLS is given up in bounded time', async () => {
    const server = createTlsServer({ key, cert }, (socket) => {
      socket.on('error', () => undefined);
    });
    const port = await start(server);
    const { result, ms } = await inVirtualTime(() => grabNow(port, { retries: 0 }));
    expect(result[0]?.tls?.version).toBe('TLSv1.3');
    expect(ms).toBeLessThan(8000);
  });
});

/** A GIF of one pixel. */
const pixel = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

describe('the icon of a page', () => {
  async function serveIcon(page: string, icon: Buffer = pixel, more = '') {
    const asked: string[] = [];
    const port = await listen((socket: Socket) => {
      socket.on('data', (bytes) => {
        const path = /^GET (\S+) /.exec(bytes.toString('latin1'))?.[1] ?? '';
        asked.push(path);
        const body = path === '/' ? Buffer.from(page) : icon;
        const type = path === '/' ? 'text/html' : 'image/gif';
        socket.write(
          `HTTP/1.1 200 OK\r\nServer: t\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n${more}\r\n`,
        );
        socket.end(body);
      });
    });
    return { asked, port };
  }

  it('is requested once, at the path that the page links, and its hashes are recorded', async () => {
    const { asked, port } = await serveIcon('<link rel="icon" href="/i/a.gif"><title>t</title>');
    const parsed = await parse(await grab(port));
    expect(asked.filter((path) => path === '/i/a.gif')).toHaveLength(1);
    expect(asked).not.toContain('/favicon.ico');
    expect(parsed).toMatchObject([
      { attributes: { http: { title: 't' } } },
      {
        attributes: {
          http: { favicon: { size: 42, mmh3: -1_542_678_720, md5: 'd89746888da2d9510b64a9f031eaecd5' } },
        },
      },
    ]);
  });

  it('is not requested from another host, and a page in its place has no hashes', async () => {
    const { asked, port } = await serveIcon(
      '<link rel=icon href=//cdn.example/a.ico>',
      Buffer.from('<html>'),
    );
    const parsed = await parse(await grab(port));
    expect(asked.filter((path) => path.includes('ico'))).toEqual(['/favicon.ico']);
    expect(parsed).toHaveLength(1);
  });

  it('one that is too large has none', async () => {
    const { port } = await serveIcon('<title>t</title>', Buffer.concat([pixel, Buffer.alloc(70_000)]));
    expect(await parse(await grab(port, { max_bytes: 200_000 }))).toHaveLength(1);
  });

  it('is not requested if probes are off', async () => {
    const { asked, port } = await serveIcon('<title>t</title>');
    await grab(port, { probes: 'none' });
    expect(asked).toEqual([]);
  });
});
