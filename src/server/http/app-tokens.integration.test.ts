import { Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { sendRaw } from '../../../test/send-raw.ts';
import { Authenticator } from '../access/auth.ts';
import { ExtraServices } from '../fixtures/extra-services.ts';

const own = new ExtraServices();
const another = own.open;
afterEach(async () => {
  vi.useRealTimers();
  await own.close();
});

describe('tokens', () => {
  it('requires a valid one on every closed route, with one text for every cause', async () => {
    const closed = await another({ 'server.api.auth': true });
    const expired = await closed.token('admin');
    await closed.store.tokens.update(expired.split('_')[1] as string, {
      expires_at: '2020-01-01T00:00:00.000Z',
    });
    const unknown = `svc_zzzzzz_${'A'.repeat(43)}`;
    const good = await closed.token('scan:read');
    const messages = new Set<string>();
    const bad = [null, 'garbage', unknown, expired, `${good.slice(0, -1)}_`];
    for (const [index, token] of bad.entries()) {
      // A new address each: invalid tokens are limited per address.
      const remoteAddress = `127.0.1.${index}`;
      for (const [method, url] of closedRoutes) {
        const headers = token === null ? {} : { authorization: `Bearer ${token}` };
        const response = await closed.app.inject({ method, url, headers, remoteAddress });
        expect([method, url, response.statusCode, response.json().error.code]).toEqual([
          method,
          url,
          401,
          'unauthorized',
        ]);
        expect(response.headers['www-authenticate']).toBe(
          token === null ? 'Bearer' : 'Bearer error="invalid_token"',
        );
        messages.add(response.json().error.message);
      }
    }
    expect(messages.size).toBe(1);
    for (const url of ['/health', '/livez', '/healthz', '/readyz']) {
      expect((await closed.app.inject({ url })).statusCode).toBe(200);
      expect((await closed.app.inject({ method: 'POST', url })).statusCode).toBe(405);
    }
    expect(
      (await closed.app.inject({ url: '/api/v1/scans', headers: { authorization: `Bearer ${good}` } }))
        .statusCode,
    ).toBe(200);
  });

  it('that cancel a scan are named by it and by its report', async () => {
    const closed = await another({ 'server.api.auth': true }, { working: true });
    const token = await closed.token('admin');
    const id = token.split('_')[1] as string;
    const headers = { authorization: `Bearer ${token}` };
    const payload = { targets: ['127.0.0.1'], name: 'hang' };
    const submitted = await closed.app.inject({ method: 'POST', url: '/api/v1/scans', payload, headers });
    const scanId = submitted.json().data.scan_id;
    await closed.until(scanId, ({ results }) => results.live_hosts > 0);
    const canceled = await closed.app.inject({
      method: 'POST',
      url: `/api/v1/scans/${scanId}/cancel`,
      headers,
    });
    expect(canceled.json().data.error).toMatchObject({ code: 'canceled', by: id });
    expect((await closed.store.scans.get(scanId))?.error).toMatchObject({ code: 'canceled', by: id });
    const url = `/api/v1/workspace/scans/${scanId}/export?format=html`;
    expect((await closed.app.inject({ url, headers })).body).toContain(`UTC by token ${id} after`);
  });

  const closedRoutes = [
    ['GET', '/api/v1/scans'],
    ['POST', '/api/v1/scans'],
    ['GET', '/api/v1/health'],
    ['GET', '/api/v1/openapi.json'],
    ['GET', '/api/v1/scans/20261006-143022-abcdef/events'],
    ['DELETE', '/api/v1/scans/20261006-143022-abcdef'],
    ['GET', '/api/v1/unknown'],
    ['PUT', '/api/v1/scans'],
    ['GET', '/api/v1/scans/%'],
  ] as const;

  it('lets a reader read and not write', async () => {
    const closed = await another({ 'server.api.auth': true });
    const headers = { authorization: `Bearer ${await closed.token('scan:read')}` };
    const before = (await closed.store.scans.totals()).scan_count;
    const writes = [
      ['POST', '/api/v1/scans'],
      ['DELETE', '/api/v1/scans/20261006-143022-abcdef'],
      ['POST', '/api/v1/scans/20261006-143022-abcdef/cancel'],
      ['POST', '/api/v1/workspace/gc'],
    ] as const;
    for (const [method, url] of writes) {
      const response = await closed.app.inject({
        method,
        url,
        headers,
        ...(method === 'POST' && { payload: '{' }),
      });
      expect([response.statusCode, response.json().error.code]).toEqual([403, 'insufficient_scope']);
      expect(response.json().error.details.required_scopes).toContain('scan:write');
    }
    expect((await closed.store.scans.totals()).scan_count).toBe(before);
    const admin = { authorization: `Bearer ${await closed.token('admin')}` };
    const made = await closed.app.inject({
      method: 'POST',
      url: '/api/v1/scans',
      headers: admin,
      payload: { targets: ['127.0.0.1'] },
    });
    expect(made.statusCode).toBe(201);
  });

  it('takes a token from one Authorization header only', async () => {
    const closed = await another({ 'server.api.auth': true });
    const token = await closed.token('admin');
    const base = await closed.listen();
    const status = async (head: string, path = '/api/v1/version') =>
      (
        await sendRaw(base, `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${head}\r\n`)
      ).split(' ')[1];
    expect(await status(`Authorization: Bearer ${token}\r\n`)).toBe('200');
    expect(await status(`Authorization: Bearer ${token}\r\nAuthorization: Bearer ${token}\r\n`)).toBe('401');
    expect(await status(`Cookie: token=${token}\r\n`)).toBe('401');
    expect(await status('', `/api/v1/version?token=${token}`)).toBe('401');
    expect(await status(`Authorization: Bearer ${token}\r\n`, `/api/v1/version?token=${token}`)).toBe('401');
    expect(await status(`Authorization: Bearer ${token}\r\n`, `/api/v1/version??&x=${token}`)).toBe('401');
    expect(await status(`Authorization: Bearer ${token}\r\n`, '/api/v1/scans?q=svc_backup')).toBe('200');
    expect(await status(`Authorization: Bearer ${token}\r\n`, `/api/v1/version${'?'.repeat(8000)}`)).toBe(
      '200',
    );
    expect(await status(`Authorization: Basic ${Buffer.from(`${token}:`).toString('base64')}\r\n`)).toBe(
      '401',
    );
  });

  it('looks for a token in the query once, however many question marks it has', async () => {
    const { store, token } = await another({ 'server.api.auth': true });
    const authorization = `Bearer ${await token('scan:read')}`;
    const request = {
      headers: { authorization },
      rawHeaders: ['Authorization', authorization],
      // Longer than any URL: searching it once per character would exceed the test timeout.
      url: `/api/v1/version${'?'.repeat(300_000)}`,
      socket: new Socket(),
    };
    const authenticator = new Authenticator(store, () => undefined);
    expect(await authenticator.authenticate(request)).toMatchObject({ scopes: ['scan:read'] });
  });

  it('sees a revocation within 2 s and notes the last use', async () => {
    const closed = await another({ 'server.api.auth': true });
    const token = await closed.token('scan:read');
    const id = token.split('_')[1] as string;
    const status = async () =>
      (await closed.app.inject({ url: '/api/v1/version', headers: { authorization: `Bearer ${token}` } }))
        .statusCode;
    vi.useFakeTimers({ toFake: ['performance'] });
    expect(await status()).toBe(200);
    await expect.poll(async () => (await closed.store.tokens.find(id))?.last_used_at).not.toBeNull();
    await closed.store.tokens.update(id, { revoked_at: new Date().toISOString() });
    vi.advanceTimersByTime(2000);
    expect(await status()).toBe(401);
  });

  it('serves this machine only in protected mode', async () => {
    const open = await another({ 'server.bind': '0.0.0.0:0', 'server.api.auth': false });
    const from = async (remoteAddress: string) => await open.app.inject({ url: '/health', remoteAddress });
    expect((await from('127.0.0.1')).statusCode).toBe(200);
    expect((await from('::ffff:127.0.0.1')).statusCode).toBe(200);
    const other = await from('192.0.2.7');
    expect([other.statusCode, other.json().error.code]).toEqual([403, 'forbidden_origin']);
    expect(other.json().error.message).toContain('server.api.auth');
    expect(other.json().error.message).toContain('server.allow_insecure');
    const insecure = await another({
      'server.bind': '0.0.0.0:0',
      'server.api.auth': false,
      'server.allow_insecure': true,
    });
    expect((await insecure.app.inject({ url: '/health', remoteAddress: '192.0.2.7' })).statusCode).toBe(200);
  });
});
