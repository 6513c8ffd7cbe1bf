import { X509Certificate } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { createSecureContext, createServer as createTlsServer, type Server } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { closeServers, listen, tryModule } from '../../../test/module-trial.ts';
import { inVirtualTime } from '../../../test/virtual-time.ts';
import type { Banner } from '../../domain/text/banner.ts';
import { certificateDer, privateKey } from '../../knowledge/protocols/test-certificate.ts';
import banner_grabber from './banner_grabber.ts';

const realServers = new Set<Server>();

afterEach(() => {
  closeServers();
  for (const server of realServers) server.close();
  realServers.clear();
});

async function grab(port: number, names: readonly string[], config: Record<string, unknown> = {}) {
  const host = '127.0.0.1';
  const { result } = await inVirtualTime(() =>
    tryModule(banner_grabber, {
      config: { timeout: '1500ms', retries: 0, ...config },
      inputs: {
        open_ports: [{ host, port, protocol: 'tcp', state: 'open', reason: 'syn-ack' }],
        targets: names.map((value) => ({ kind: 'hostname', value, ip: host })),
      },
      targets: [host],
    }),
  );
  const banners = result.published.get('banners') as Banner[];
  const sites = banners.flatMap((banner) => banner.sites ?? []);
  return { banners, sites, warnings: result.warnings };
}

const hostOf = (request: string) => /^Host: ([^\r:]+)/m.exec(request)?.[1] ?? '';
const pathOf = (request: string) => /^GET (\S+)/.exec(request)?.[1] ?? '';

/** A web server with one page per name. */
function serveNames(page: (name: string, path: string) => string | null) {
  const requests: string[] = [];
  const port = listen((socket) => {
    socket.on('data', (bytes) => {
      const request = bytes.toString('latin1');
      if (!request.startsWith('GET ')) return socket.end();
      requests.push(`${hostOf(request)} ${pathOf(request)}`);
      const body = page(hostOf(request), pathOf(request));
      if (body === null) return socket.destroy();
      return socket.end(
        `HTTP/1.1 200 OK\r\nServer: trial\r\nContent-Type: text/html\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    });
  });
  return { port, requests };
}

describe('further names of an address', () => {
  it('are sites of their own on a web server', async () => {
    const { port, requests } = serveNames((name) => `<title>site ${name}</title>`);
    const { banners, sites, warnings } = await grab(await port, ['v1.test', 'v2.test', 'v3.test', 'v2.test']);
    expect(banners[0]?.banner).toContain('site v1.test');
    const pages = sites.filter(({ probe }) => probe === 'http');
    expect(pages.map(({ name, banner }) => [name, /<title>(.*)<\/title>/.exec(banner)?.[1]])).toEqual([
      ['v2.test', 'site v2.test'],
      ['v3.test', 'site v3.test'],
    ]);
    expect(requests).toEqual(expect.arrayContaining(['v2.test /favicon.ico', 'v3.test /favicon.ico']));
    expect(warnings).toEqual([]);
  });

  it('have certificates of their own', async () => {
    const der = (commonName: string) => certificateDer({ commonName, signed: true });
    const key = privateKey().export({ type: 'pkcs8', format: 'pem' });
    const contextOf = (name: string) =>
      createSecureContext({ key, cert: new X509Certificate(der(name)).toString() });
    const server = createTlsServer({ SNICallback: (name, done) => done(null, contextOf(name)) }, (socket) => {
      socket.on('error', () => undefined);
      socket.on('data', () =>
        socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 0\r\nServer: ${socket.servername}\r\n\r\n`),
      );
    });
    server.on('tlsClientError', () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    realServers.add(server);
    const { banners, sites } = await grab((server.address() as AddressInfo).port, ['v1.test', 'v2.test']);
    const subjects = [banners[0], sites[0]].map(
      (banner) => new X509Certificate(Buffer.from(banner?.tls?.chain[0] ?? '', 'base64')).subject,
    );
    expect(subjects).toEqual(['CN=v1.test', 'CN=v2.test']);
    expect(sites[0]?.banner).toContain('Server: v2.test');
  });

  it('are named where the server says nothing for them', async () => {
    const { port } = serveNames((name) => (name === 'v2.test' ? null : `<title>${name}</title>`));
    const { sites } = await grab(await port, ['v1.test', 'v2.test', 'v3.test']);
    expect(sites.filter(({ name }) => name === 'v2.test')).toMatchObject([{ banner: '' }]);
    expect(sites.some(({ name, banner }) => name === 'v3.test' && banner !== '')).toBe(true);
  });

  it.each([true, false])('are found where the server closes for the first name (TLS: %s)', async (secure) => {
    const key = privateKey().export({ type: 'pkcs8', format: 'pem' });
    const cert = new X509Certificate(certificateDer({ commonName: 'v2.test', signed: true })).toString();
    const { port: plain } = serveNames((name) => (name === 'v1.test' ? null : `<title>site ${name}</title>`));
    const server = createTlsServer(
      {
        SNICallback: (name, done) =>
          name === 'v1.test' ? done(new Error('unknown')) : done(null, createSecureContext({ key, cert })),
      },
      (socket) => {
        socket.on('error', () => undefined);
        socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
      },
    );
    server.on('tlsClientError', () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    realServers.add(server);
    const port = secure ? (server.address() as AddressInfo).port : await plain;
    const { banners, sites } = await grab(port, ['v1.test', 'v2.test', 'v3.test']);
    expect(banners[0]).toMatchObject({ banner: '' });
    expect(
      sites.filter(({ probe }) => probe === 'http').map(({ name, tls }) => [name, tls !== undefined]),
    ).toEqual([
      ['v2.test', secure],
      ['v3.test', secure],
    ]);
  });

  it('are counted and named where there are more than `max_sites`', async () => {
    const { port, requests } = serveNames((name) => `<title>${name}</title>`);
    const names = Array.from({ length: 30 }, (_, index) => `v${index}.test`);
    const { sites, warnings } = await grab(await port, names, { max_sites: 2 });
    expect(new Set(sites.map(({ name }) => name))).toEqual(new Set(['v1.test', 'v2.test']));
    expect(requests.some((request) => request.startsWith('v3.test'))).toBe(false);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(
      /^names_left_out: .* left out 27 host names .*: v3\.test \(127\.0\.0\.1\), .* and 7 more$/,
    );
  });

  it('make no difference to services that are spoken to without a name', async () => {
    let connections = 0;
    const port = await listen((socket) => {
      connections += 1;
      socket.end('SSH-2.0-Trial_1.0\r\n');
    });
    const alone = (await grab(port, ['v1.test']), connections);
    const { sites } = await grab(port, ['v1.test', 'v2.test', 'v3.test']);
    expect(sites).toEqual([]);
    expect(connections).toBe(2 * alone);
  });
});
