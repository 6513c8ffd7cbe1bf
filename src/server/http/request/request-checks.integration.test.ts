import type { InjectOptions } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { openService, type Service } from '../../fixtures/service.ts';

const open: Service[] = [];
afterEach(async () => {
  for (const service of open.splice(0)) await service.close();
});
async function start(flags: Record<string, unknown> = {}): Promise<Service> {
  const service = await openService(flags);
  open.push(service);
  return service;
}

const listed = 'https://console.example.net';
const crossOrigin = { 'server.cors.enabled': true, 'server.cors.origins': listed };
const corsNames = (headers: object) =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-') || name === 'vary');
const preflight = (origin: string, url = '/api/v1/scans'): InjectOptions => ({
  method: 'OPTIONS',
  url,
  headers: { origin, 'access-control-request-method': 'POST' },
});
/** Origins that resemble the listed one. */
const strangers = [
  'null',
  'https://evil.example',
  'http://console.example.net',
  'https://console.example.net:8443',
  'https://console.example.net.evil.example',
  'https://evil-console.example.net',
  'https://x.console.example.net',
  'https://CONSOLE.example.net',
  'https://console.example.net/',
  '*',
];

describe('pages of other origins', () => {
  it('get no header at all while CORS is off', async () => {
    const service = await start();
    const requests: InjectOptions[] = [
      { url: '/api/v1/scans', headers: { origin: listed } },
      { url: '/health', headers: { origin: listed } },
      preflight(listed),
    ];
    for (const request of requests)
      expect(corsNames((await service.app.inject(request)).headers)).toEqual([]);
    expect((await service.app.inject(preflight(listed))).statusCode).toBe(405);
  });

  it('read responses and errors when they are listed', async () => {
    const service = await start({ ...crossOrigin, 'server.api.auth': true });
    const authorization = `Bearer ${await service.token('scan:read')}`;
    const requests: [InjectOptions, number][] = [
      [{ url: '/api/v1/scans', headers: { origin: listed, authorization } }, 200],
      [{ url: '/api/v1/scans', headers: { origin: listed } }, 401],
      [{ url: '/api/v1/nothing', headers: { origin: listed, authorization } }, 404],
      [{ url: '/api/v1/%', headers: { origin: listed, authorization } }, 404],
    ];
    for (const [request, status] of requests) {
      const { statusCode, headers } = await service.app.inject(request);
      expect([statusCode, headers['vary']]).toEqual([status, 'Origin']);
      expect(headers['access-control-allow-origin']).toBe(listed);
      expect(headers['access-control-expose-headers']).toMatch(
        /^Location, Link, Retry-After, ETag, X-Request-Id, X-Scan-Status, .*RateLimit.*X-RateLimit-Reset$/,
      );
      expect(headers['access-control-allow-credentials']).toBeUndefined();
    }
  });

  it('get their preflight response before token, rate and path are checked', async () => {
    const service = await start({ ...crossOrigin, 'server.api.auth': true, 'server.api.rate_limit': 1 });
    for (const url of ['/api/v1/scans', '/api/v1/scans', '/api/v1/nothing', '/api/v1/%', '/health']) {
      const { statusCode, headers, body } = await service.app.inject(preflight(listed, url));
      expect([statusCode, body]).toEqual([204, '']);
      expect(headers).toMatchObject({
        'access-control-allow-origin': listed,
        'access-control-allow-methods': 'GET, HEAD, POST, PUT, DELETE',
        'access-control-allow-headers':
          'Authorization, Content-Type, X-Tenant-ID, X-Request-Id, Idempotency-Key, Last-Event-ID, If-Match, traceparent',
        'access-control-max-age': '600',
        vary: 'Origin',
      });
      expect(headers['access-control-allow-credentials']).toBeUndefined();
    }
    const plain = await service.app.inject({
      method: 'OPTIONS',
      url: '/api/v1/scans',
      headers: { origin: listed },
    });
    expect(plain.statusCode).toBe(401);
  });

  it.each(strangers)('learn nothing as %s', async (origin) => {
    const service = await start(crossOrigin);
    const requested = await service.app.inject(preflight(origin));
    expect([requested.statusCode, corsNames(requested.headers)]).toEqual([204, ['vary']]);
    const read = await service.app.inject({ url: '/api/v1/scans', headers: { origin } });
    expect([read.statusCode, corsNames(read.headers)]).toEqual([200, ['vary']]);
  });

  it('may not write while no token is demanded, unless they are listed', async () => {
    const service = await start(crossOrigin);
    const submit = async (headers: Record<string, string>) =>
      service.app.inject({
        method: 'POST',
        url: '/api/v1/scans',
        headers,
        payload: { targets: ['127.0.0.1'] },
      });
    for (const origin of strangers) {
      const response = await submit({ origin });
      expect([response.statusCode, response.json().error.code]).toEqual([403, 'forbidden_origin']);
    }
    expect((await service.store.scans.totals()).scan_count).toBe(0);
    expect((await submit({ origin: listed })).statusCode).toBe(201);
    expect((await submit({ origin: 'http://127.0.0.1:8080', host: '127.0.0.1:8080' })).statusCode).toBe(201);
    expect((await submit({ origin: 'http://127.0.0.1:9', host: '127.0.0.1:8080' })).statusCode).toBe(403);
    expect((await submit({})).statusCode).toBe(201);
  });
});

describe('the Host of a request without a token', () => {
  const status = async (service: Service, host: string, url = '/api/v1/scans', remoteAddress = '127.0.0.1') =>
    (await service.app.inject({ url, headers: { host }, remoteAddress })).statusCode;

  it('must be this machine: a page could point its own name here', async () => {
    const service = await start({
      'server.bind': 'scanner.example.net:8080',
      'server.allow_insecure': true,
      'server.api.auth': false,
    });
    for (const host of [
      'localhost',
      'LOCALHOST:8080',
      'localhost.:80',
      '127.0.0.1',
      '127.9.9.9:1',
      '[::1]:8080',
      '[::ffff:127.0.0.1]',
      'scanner.example.net:8080',
    ]) {
      expect([host, await status(service, host)]).toEqual([host, 200]);
    }
    for (const host of [
      'evil.example',
      '127.0.0.1.evil.example',
      'localhost.evil.example',
      'scanner.example.net.evil.example',
      '192.0.2.1',
      '[2001:db8::1]:80',
      'a b',
      '0.0.0.0',
    ]) {
      expect([host, await status(service, host)]).toEqual([host, 403]);
      expect([host, await status(service, host, '/health')]).toEqual([host, 200]);
      expect([host, await status(service, host, '/metrics')]).toEqual([host, 403]);
    }
  });

  it('may be one of server.allowed_hosts', async () => {
    const service = await start({ 'server.allowed_hosts': 'scan.example.net,[2001:db8::1]' });
    expect(await status(service, 'scan.example.net')).toBe(200);
    expect(await status(service, '[2001:db8:0::1]:8080')).toBe(200);
    expect(await status(service, 'localhost')).toBe(200);
    expect(await status(service, 'other.example.net')).toBe(403);
  });

  it('is no matter where a token is demanded', async () => {
    const service = await start({ 'server.api.auth': true });
    const authorization = `Bearer ${await service.token('scan:read')}`;
    const headers = { authorization, host: 'behind.a.proxy.example', origin: 'https://elsewhere.example' };
    expect((await service.app.inject({ url: '/api/v1/scans', headers })).statusCode).toBe(200);
    expect(await status(service, 'behind.a.proxy.example', '/metrics')).toBe(200);
  });
});

describe('clients behind a trusted proxy', () => {
  it('have a bucket each, for requests and for wrong tokens', async () => {
    const service = await start({
      'server.api.auth': true,
      'server.trusted_proxies': '10.0.0.0/8',
    });
    const wrong = async (client: string, remoteAddress: string) => {
      const headers = { authorization: `Bearer svc_zzzzzz_${'A'.repeat(43)}`, 'x-forwarded-for': client };
      return (await service.app.inject({ url: '/api/v1/version', headers, remoteAddress })).statusCode;
    };
    const seen = new Set<number>();
    for (let time = 0; time < 25; time++) seen.add(await wrong('192.0.2.1', '10.0.0.1'));
    expect([...seen]).toEqual([401, 429]);
    expect(await wrong('192.0.2.2', '10.0.0.1')).toBe(401);
    // Not a trusted proxy: it is the client.
    seen.clear();
    for (let time = 0; time < 25; time++) seen.add(await wrong(`192.0.2.${time}`, '203.0.113.1'));
    expect([...seen]).toEqual([401, 429]);
  });

  it('are let in by protected mode only from this machine', async () => {
    const service = await start({
      'server.bind': '0.0.0.0:0',
      'server.api.auth': false,
      'server.trusted_proxies': '127.0.0.1,10.0.0.1',
    });
    const status = async (remoteAddress: string, forwarded?: string) => {
      const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
      return (await service.app.inject({ url: '/api/v1/scans', headers, remoteAddress })).statusCode;
    };
    expect(await status('127.0.0.1')).toBe(200);
    expect(await status('127.0.0.1', '127.0.0.5')).toBe(200);
    expect(await status('127.0.0.1', '192.0.2.1')).toBe(403);
    expect(await status('192.0.2.1', '127.0.0.1')).toBe(403);
    // A remote proxy is not a local client, whoever it forwards for.
    expect(await status('10.0.0.1', '127.0.0.1')).toBe(403);
  });
});

describe('the order of the checks', () => {
  it('is token, rate, path, scope, body', async () => {
    const service = await start({ 'server.api.auth': true, 'server.api.rate_limit': 4 });
    const reader = { authorization: `Bearer ${await service.token('job:read')}` };
    const post = (url: string, headers: Record<string, string>) =>
      service.app.inject({ method: 'POST', url, headers, payload: '{' });
    expect((await post('/api/v1/scans', {})).statusCode).toBe(401);
    expect((await post('/api/v1/nothing', reader)).statusCode).toBe(404);
    expect((await post('/api/v1/version', reader)).statusCode).toBe(405);
    expect((await post('/health', {})).statusCode).toBe(405);
    expect((await post('/api/v1/scans', reader)).statusCode).toBe(403);
    const writer = { authorization: `Bearer ${await service.token('scan:write')}` };
    expect((await post('/api/v1/scans', { ...writer, 'content-type': 'text/xml' })).statusCode).toBe(415);
    expect((await post('/api/v1/scans', writer)).statusCode).toBe(400);
    expect((await post('/api/v1/scans', reader)).statusCode).toBe(403);
    expect((await post('/api/v1/nothing', reader)).statusCode).toBe(429);
  });

  it('follows another rate limit without a restart', async () => {
    const service = await start({ 'server.api.rate_limit': 1 });
    const status = async () => (await service.app.inject({ url: '/api/v1/version' })).statusCode;
    expect([await status(), await status()]).toEqual([200, 429]);
    service.context.config.server.api.rate_limit = 2;
    expect([await status(), await status(), await status()]).toEqual([200, 200, 429]);
    service.context.config.server.api.rate_limit = null;
    expect([await status(), await status(), await status()]).toEqual([200, 200, 200]);
  });
});

describe('while the server shuts down', () => {
  it('new work is refused with Retry-After, readiness is over, reading goes on, connections end', async () => {
    const service = await start();
    service.context.phase = 'draining';
    const submitted = await service.app.inject({
      method: 'POST',
      url: '/api/v1/scans',
      payload: { targets: ['127.0.0.1'] },
    });
    expect([submitted.statusCode, submitted.json().error.code]).toEqual([503, 'unavailable']);
    const ready = await service.app.inject({ url: '/readyz' });
    expect(ready.statusCode).toBe(503);
    const list = await service.app.inject({ url: '/api/v1/scans' });
    expect(list.statusCode).toBe(200);
    for (const { headers } of [submitted, ready, list]) expect(headers['connection']).toBe('close');
    for (const { headers } of [submitted, ready]) expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  });
});
