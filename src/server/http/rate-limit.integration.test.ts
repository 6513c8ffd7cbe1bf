import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { InjectOptions } from 'fastify';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openService, type Service } from '../fixtures/service.ts';

const open: Service[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const service of open.splice(0)) await service.close();
});
async function start(flags: Record<string, unknown>): Promise<Service> {
  const service = await openService(flags, { working: true });
  open.push(service);
  return service;
}

const five = [
  'ratelimit',
  'ratelimit-policy',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
];
const rateNames = (headers: object) => Object.keys(headers).filter((name) => name.includes('ratelimit'));
/** Stops the clocks: only `vi.advanceTimersByTime` refills buckets. */
const stopClocks = () => vi.useFakeTimers({ toFake: ['performance', 'Date'] });
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function statuses(service: Service, times: number, options: InjectOptions): Promise<number[]> {
  const seen: number[] = [];
  for (let time = 0; time < times; time++) seen.push((await service.app.inject(options)).statusCode);
  return seen;
}

describe('server.api.rate_limit', () => {
  it('lets a token make so many requests and others as many', async () => {
    const service = await start({ 'server.api.auth': true, 'server.api.rate_limit': 100 });
    const headers = bearer(await service.token('scan:read'));
    stopClocks();
    expect(new Set(await statuses(service, 100, { url: '/api/v1/version', headers }))).toEqual(
      new Set([200]),
    );
    // One request is refilled every 0.6 s.
    vi.advanceTimersByTime(599);
    expect(await statuses(service, 1, { url: '/api/v1/version', headers })).toEqual([429]);
    vi.advanceTimersByTime(1);
    expect(await statuses(service, 2, { url: '/api/v1/version', headers })).toEqual([200, 429]);
    const forwarded = { ...headers, 'x-forwarded-for': '192.0.2.1' };
    const refused = await service.app.inject({ url: '/api/v1/scans', headers: forwarded });
    expect(refused.json()).toMatchObject({
      error: { code: 'rate_limited', details: { request_id: refused.headers['x-request-id'] } },
    });
    expect(refused.headers).toMatchObject({
      'retry-after': '1',
      'ratelimit-policy': '"default";q=100;w=60',
      ratelimit: '"default";r=0;t=60',
      'x-ratelimit-remaining': '0',
    });
    const other = await service.app.inject({
      url: '/api/v1/version',
      headers: bearer(await service.token('scan:read')),
    });
    expect([other.statusCode, other.headers['x-ratelimit-remaining']]).toEqual([200, '99']);
    for (const url of ['/health', '/livez', '/healthz', '/readyz', '/api/v1/health']) {
      const probe = await service.app.inject({ url, headers });
      expect([probe.statusCode, rateNames(probe.headers)]).toEqual([200, []]);
    }
  });

  it('comes after the token and before everything else', async () => {
    const service = await start({ 'server.api.auth': true, 'server.api.rate_limit': 1 });
    stopClocks();
    const headers = bearer(await service.token('job:read'));
    expect(await statuses(service, 1, { url: '/api/v1/scans', headers })).toEqual([403]);
    const requests: InjectOptions[] = [
      { url: '/api/v1/nothing', headers },
      { url: '/api/v1/%', headers },
      { method: 'PUT', url: '/api/v1/scans', headers },
      { method: 'POST', url: '/api/v1/scans', headers, payload: '{' },
    ];
    for (const request of requests) expect((await service.app.inject(request)).statusCode).toBe(429);
    expect((await service.app.inject({ url: '/api/v1/scans', headers: bearer('x') })).statusCode).toBe(401);
  });

  it('counts by client address where no tokens are demanded, each form of it as one', async () => {
    const service = await start({ 'server.api.rate_limit': 2 });
    stopClocks();
    const from = async (remoteAddress: string, url = '/api/v1/version') =>
      (
        await service.app.inject({
          url,
          remoteAddress,
          headers: { 'x-forwarded-for': String(Math.random()) },
        })
      ).statusCode;
    expect([await from('127.0.0.1'), await from('::ffff:127.0.0.1', '/api/v1/nothing')]).toEqual([200, 404]);
    expect([await from('127.0.0.1'), await from('127.0.0.2')]).toEqual([429, 200]);
  });

  it('sends the state with every response, and nothing when unlimited', async () => {
    const service = await start({ 'server.api.rate_limit': 50 });
    stopClocks();
    const now = Date.now();
    const requests: InjectOptions[] = [
      { url: '/api/v1/scans' },
      { url: '/api/v1/nothing' },
      { method: 'PUT', url: '/api/v1/scans' },
      { method: 'POST', url: '/api/v1/scans', payload: '{' },
      { method: 'HEAD', url: '/api/v1/version' },
    ];
    for (const request of requests) {
      const { headers } = await service.app.inject(request);
      expect(rateNames(headers).sort()).toEqual(five);
    }
    const reset = Number((await service.app.inject({ url: '/api/v1/scans' })).headers['x-ratelimit-reset']);
    expect(reset).toBe(Math.ceil((now + 6 * 1200) / 1000));
    for (const flags of [{}, { 'server.api.rate_limit': 0 }]) {
      const free = await start(flags);
      const { statusCode, headers } = await free.app.inject({ url: '/api/v1/scans' });
      expect([statusCode, rateNames(headers)]).toEqual([200, []]);
    }
  });

  it('counts a stream of events once', async () => {
    const service = await start({ 'server.api.rate_limit': 10 });
    const base = await service.listen();
    const scanId = await service.submit('rows 200');
    // A client of its own: a scan of this machine may send requests from 127.0.0.1.
    const client = '127.0.0.9';
    const asked = get(`${base}/api/v1/scans/${scanId}/events`, { localAddress: client });
    const [stream] = (await once(asked, 'response')) as [IncomingMessage];
    expect(rateNames(stream.headers).sort()).toEqual(five);
    expect(stream.headers).toMatchObject({ 'x-ratelimit-remaining': '9', 'cache-control': 'no-store' });
    await text(stream);
    const after = await service.app.inject({ url: '/api/v1/version', remoteAddress: client });
    expect(Number(after.headers['x-ratelimit-remaining'])).toBeGreaterThanOrEqual(8);
  });
});

describe('wrong tokens', () => {
  it('are limited by address, apart from the requests; good ones still pass', async () => {
    const service = await start({ 'server.api.auth': true });
    const good = bearer(await service.token('scan:read'));
    const url = '/api/v1/version';
    const wrong = bearer(`svc_zzzzzz_${'A'.repeat(43)}`);
    stopClocks();
    const seen = await statuses(service, 21, { url, headers: wrong });
    expect(seen).toEqual([...Array(20).fill(401), 429]);
    const refused = await service.app.inject({ url, headers: wrong });
    expect(refused.json().error.code).toBe('rate_limited');
    expect(refused.headers['retry-after']).toBe('3');
    expect(refused.headers['ratelimit-policy']).toBe('"failed-authentication";q=20;w=60');
    const forwarded = { ...wrong, 'x-forwarded-for': '192.0.2.1' };
    expect((await service.app.inject({ url, headers: forwarded })).statusCode).toBe(429);
    expect((await service.app.inject({ url, headers: good })).statusCode).toBe(200);
    expect((await service.app.inject({ url, headers: wrong, remoteAddress: '127.0.0.9' })).statusCode).toBe(
      401,
    );
    // A request without credentials is not an attempt.
    expect((await service.app.inject({ url })).statusCode).toBe(401);
  });
});
