import { mkdir, mkdtemp, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createToken } from '../../actions/access/create-token.ts';
import { type RouteEntry, routeTable } from '../fixtures/route-table.ts';
import { openService, type Service } from '../fixtures/service.ts';
import { problemsOf } from '../installed.ts';

const tenants = { 'multi_tenant.enabled': true, 'multi_tenant.tenants': 'acme,globex' };

let service: Service;
const keys: Record<string, string> = {};

beforeAll(async () => {
  service = await openService(
    { ...tenants, 'server.api.auth': true, 'server.workers': 2 },
    { working: true },
  );
  keys['acme'] = await tokenFor(service, 'acme', 'scan:read', 'scan:write');
  keys['globex'] = await tokenFor(service, 'globex', 'scan:read', 'scan:write');
  keys['admin'] = await tokenFor(service, null, 'admin');
  keys['plain'] = await tokenFor(service, null, 'scan:read', 'scan:write');
});
afterAll(() => service.close());

async function tokenFor(one: Service, tenant: string | null, ...scopes: string[]): Promise<string> {
  return (await createToken(one.store, { name: 'test', scopes, expiry: '1h', tenant })).token;
}

function call(who: string, tenant: string | null, options: InjectOptions): Promise<LightMyRequestResponse> {
  const headers = {
    authorization: `Bearer ${keys[who]}`,
    ...(tenant !== null && { 'x-tenant-id': tenant }),
    ...options.headers,
  };
  return service.app.inject({ ...options, headers });
}

async function submit(tenant: string, name: string, more: InjectOptions['headers'] = {}): Promise<string> {
  const payload = { targets: ['127.0.0.1'], name };
  const response = await call(tenant, tenant, {
    method: 'POST',
    url: '/api/v1/scans',
    payload,
    headers: more,
  });
  expect([response.statusCode, response.body]).toEqual([201, expect.any(String)]);
  return response.json().data.scan_id;
}

async function done(scanId: string): Promise<void> {
  await service.until(scanId, ({ status }) => status === 'completed' || status === 'failed');
}

/** The parts of a response that could distinguish it from another one. */
function visible(response: LightMyRequestResponse) {
  const { date: _date, 'x-request-id': _id, ...headers } = response.headers;
  const body = response.body
    .replaceAll(/req_[0-9a-f]+/g, 'req')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'now');
  return { status: response.statusCode, headers, body };
}

describe("another tenant's ids", () => {
  it('respond on every route with an id as for an unknown id, and nothing changes', async () => {
    const theirs = await submit('acme', 'rows 3');
    const own = await submit('globex', 'rows 2');
    await Promise.all([done(theirs), done(own)]);
    const before = await call('acme', 'acme', { url: `/api/v1/scans/${theirs}` });
    const unknown = '20200101-000000-abcdef';
    const routes = routeTable(service.app).filter(({ url }) => /:(?:scan|job)_id/.test(url));
    expect(routes.length).toBeGreaterThan(8);
    const requests = routes.flatMap((route) => idRequests(route, own));
    for (const { method, url, payload } of requests) {
      const request = async (who: string, scanId: string) =>
        visible(await call(who, 'globex', { method, url: url.replace('ID', scanId), ...payload }));
      const [foreign, missing] = [await request('globex', theirs), await request('globex', unknown)];
      // The response may contain an unknown id only where the client sent it.
      expect([method, url, foreign.status]).toEqual([method, url, 404]);
      expect(foreign).toEqual(missing);
      // An operator's token that acts for globex sees no more.
      expect(await request('admin', theirs)).toEqual(await request('admin', unknown));
    }
    expect((await call('acme', 'acme', { url: `/api/v1/scans/${theirs}` })).json().data).toEqual(
      before.json().data,
    );
    expect((await call('globex', 'globex', { url: `/api/v1/scans/${own}` })).statusCode).toBe(200);
  });

  /** The route with `ID` in place of its parameter; a comparison has two ids, and both are tried. */
  function idRequests({ method, url }: RouteEntry, own: string) {
    const place = url.replace(/:\w+/, 'ID');
    const job = { type: 'scan', schedule: '@daily', params: { targets: ['127.0.0.1'] } };
    const payload = method === 'POST' ? { payload: {} } : method === 'PUT' ? { payload: job } : {};
    if (url.endsWith('/explain')) return [{ method, url: `${place}?host=192.0.2.1`, payload }];
    if (!url.endsWith('/diff')) return [{ method, url: place, payload }];
    return [
      { method, url: `${place}?against=${own}`, payload },
      { method, url: `${place.replace('ID', own)}?against=ID`, payload },
    ];
  }

  it('are in no list, no total, no collection and no events', async () => {
    const mine = [await submit('acme', 'rows 1'), await submit('acme', 'rows 2')];
    for (const scanId of mine) await done(scanId);
    const list = async (tenant: string, query = '') =>
      (await call(tenant, tenant, { url: `/api/v1/scans?limit=1000${query}` })).json().data;
    const ids = ({ scans }: { scans: { scan_id: string }[] }) => scans.map(({ scan_id }) => scan_id);
    const theirs = await list('globex');
    expect(ids(theirs).filter((scanId) => mine.includes(scanId))).toEqual([]);
    expect(theirs.total).toBe(ids(theirs).length);
    expect(ids(await list('globex', '&q=127.0.0.1'))).toEqual(ids(theirs));
    expect(ids(await list('acme'))).toEqual(expect.arrayContaining(mine));

    const info = async (tenant: string) =>
      (await call(tenant, tenant, { url: '/api/v1/workspace/info' })).json().data;
    expect((await info('globex')).scan_count).toBe(theirs.total);
    expect((await info('globex')).path).toBe(join(service.workspace.dir, 'tenants/globex'));
    const health = async (tenant: string) =>
      (await call(tenant, tenant, { url: '/api/v1/health' })).json().workspace.scans;
    expect(await health('globex')).toBe(theirs.total);
    expect((await call('admin', null, { url: '/api/v1/health' })).json().workspace.scans).toBe(
      theirs.total + (await list('acme')).total,
    );

    const collected = await call('globex', 'globex', {
      method: 'POST',
      url: '/api/v1/workspace/gc',
      payload: { keep_last: 0 },
    });
    expect(collected.json().data.deleted_scans.toSorted()).toEqual(ids(theirs).toSorted());
    expect(ids(await list('acme'))).toEqual(expect.arrayContaining(mine));
    expect(await list('globex')).toMatchObject({ scans: [], total: 0 });
  });

  it('lie in a folder of their own, and results and events come from there', async () => {
    const scanId = await submit('acme', 'rows 3');
    await done(scanId);
    const folder = join(service.workspace.dir, 'tenants/acme/scans', scanId);
    expect((await stat(join(folder, 'request.json'))).isFile()).toBe(true);
    await expect(stat(join(service.workspace.dir, 'scans', scanId))).rejects.toThrow('ENOENT');
    const results = await call('acme', 'acme', { url: `/api/v1/scans/${scanId}/results?format=jsonl` });
    expect(results.body.match(/"type":"host"/g)).toHaveLength(3);
    const events = await call('acme', 'acme', { url: `/api/v1/scans/${scanId}/events` });
    expect(events.body).toContain('event: end');
    const deleted = await call('acme', 'acme', { method: 'DELETE', url: `/api/v1/scans/${scanId}` });
    expect(deleted.statusCode).toBe(200);
    await expect(stat(folder)).rejects.toThrow('ENOENT');
  });

  it('share no idempotency key, no queue and no rate', async () => {
    const headers = { 'idempotency-key': 'nightly' };
    const asAdmin = async (tenant: string) => {
      const payload = { targets: ['127.0.0.1'], name: 'rows 1' };
      const order = { method: 'POST' as const, url: '/api/v1/scans', payload, headers };
      return (await call('admin', tenant, order)).json().data.scan_id;
    };
    const first = await asAdmin('acme');
    expect(await asAdmin('acme')).toBe(first);
    expect(await asAdmin('globex')).not.toBe(first);

    const small = await openService({ ...tenants, 'queue.max_jobs': 1, 'server.api.rate_limit': 3 });
    try {
      const post = (tenant: string) =>
        small.app.inject({
          method: 'POST',
          url: '/api/v1/scans',
          payload: { targets: ['127.0.0.1'] },
          headers: { 'x-tenant-id': tenant },
        });
      const statuses = [];
      for (const tenant of ['acme', 'acme', 'globex', 'acme', 'acme']) {
        statuses.push((await post(tenant)).statusCode);
      }
      expect(statuses).toEqual([201, 503, 201, 503, 429]);
      expect((await post('globex')).headers['x-ratelimit-remaining']).toBe('1');
      // Names that do not exist all share one bucket.
      const unknown = [];
      for (const name of ['n1', 'n2', 'n3', 'n4']) unknown.push((await post(name)).statusCode);
      expect(unknown).toEqual([403, 403, 403, 429]);
    } finally {
      await small.close();
    }
  });

  it('stay apart when tenants are switched off again', async () => {
    const first = await openService(tenants);
    const headers = { 'x-tenant-id': 'acme' };
    const payload = { targets: ['127.0.0.1'] };
    await first.app.inject({ method: 'POST', url: '/api/v1/scans', payload, headers });
    await first.close({ keep: true });
    const second = await openService({ 'server.api.auth': true }, { dir: first.dir });
    try {
      const list = async (token: string) => {
        const authorization = `Bearer ${token}`;
        return second.app.inject({ url: '/api/v1/scans', headers: { authorization, 'x-tenant-id': '../b' } });
      };
      // The header is ignored.
      expect((await list(await tokenFor(second, null, 'scan:read'))).json().data.total).toBe(0);
      expect((await list(await tokenFor(second, 'acme', 'scan:read'))).statusCode).toBe(403);
    } finally {
      await second.close();
    }
  });

  it('of an interrupted scan are resumed in its own folder', async () => {
    const first = await openService({ ...tenants, 'server.workers': 1 }, { working: true });
    const headers = { 'x-tenant-id': 'globex' };
    const payload = { targets: ['127.0.0.1'], name: 'hang' };
    const response = await first.app.inject({ method: 'POST', url: '/api/v1/scans', payload, headers });
    const scanId = response.json().data.scan_id;
    await first.until(scanId, ({ results }) => results.live_hosts > 0);
    await first.close({ keep: true });
    const second = await openService(tenants, { dir: first.dir, working: true });
    try {
      const resumed = await second.until(scanId, ({ progress }) => progress.resumes === 1);
      expect(resumed.status).toBe('running');
      const url = `/api/v1/scans/${scanId}/cancel`;
      const canceled = await second.app.inject({ method: 'POST', url, headers });
      expect(canceled.json().data.error.code).toBe('canceled');
    } finally {
      await second.close();
    }
  });
});

describe('X-Tenant-ID', () => {
  const listAs = async (who: string, tenant: string | null) => {
    const response = await call(who, tenant, { url: '/api/v1/scans' });
    return [response.statusCode, response.json().error?.code];
  };

  it.each([
    ['missing', null, 400, 'invalid_request'],
    ['empty', '', 400, 'invalid_request'],
    ['a path', '../globex', 400, 'invalid_request'],
    ['a list', 'acme,globex', 400, 'invalid_request'],
    ['in another case', 'ACME', 400, 'invalid_request'],
    ['with a blank', 'acme globex', 400, 'invalid_request'],
    ['with a dash at the start', '-acme', 400, 'invalid_request'],
    ['too long', 'a'.repeat(64), 400, 'invalid_request'],
    ['very long', 'a'.repeat(10_240), 400, 'invalid_request'],
    ['a look-alike', 'аcme', 400, 'invalid_request'],
    ['percent-encoded', '%61cme', 400, 'invalid_request'],
    ['unknown', 'initech', 403, 'tenant_forbidden'],
    ["of another one's token", 'globex', 403, 'tenant_forbidden'],
  ])('%s is refused', async (_case, tenant, status, code) => {
    expect(await listAs('acme', tenant)).toEqual([status, code]);
  });

  it('sent twice is refused, also with one value', async () => {
    const base = new URL(await service.listen());
    const request = (...lines: string[]) =>
      new Promise<string>((resolve, reject) => {
        const head = ['GET /api/v1/scans HTTP/1.1', 'Host: localhost', 'Connection: close', ...lines];
        const socket = connect(Number(base.port), base.hostname, () =>
          socket.end(`${head.join('\r\n')}\r\n\r\n`),
        );
        let response = '';
        socket.on('data', (bytes) => (response += bytes)).on('error', reject);
        socket.on('close', () => resolve(response.split(' ')[1] ?? ''));
      });
    const token = `Authorization: Bearer ${keys['acme']}`;
    expect(await request(token, 'X-Tenant-ID: acme')).toBe('200');
    expect(await request(token, 'X-Tenant-ID:   acme  ')).toBe('200');
    expect(await request(token, 'X-Tenant-ID: acme', 'x-tenant-id: globex')).toBe('400');
    expect(await request(token, 'X-Tenant-ID: acme', 'X-TENANT-ID: acme')).toBe('400');
    expect(await request(token, 'X-Tenant-ID: acme\x00')).toBe('400');
  });

  it('rejects an unknown and a foreign tenant with the same text', async () => {
    const refusal = async (tenant: string) => visible(await call('acme', tenant, { url: '/api/v1/scans' }));
    expect(await refusal('initech')).toEqual(await refusal('globex'));
  });

  it("is any tenant's for an admin token, and nobody's for another one without tenant", async () => {
    expect(await listAs('admin', 'acme')).toEqual([200, undefined]);
    expect(await listAs('admin', 'globex')).toEqual([200, undefined]);
    expect(await listAs('admin', 'initech')).toEqual([403, 'tenant_forbidden']);
    expect(await listAs('admin', null)).toEqual([400, 'invalid_request']);
    expect(await listAs('plain', 'acme')).toEqual([403, 'tenant_forbidden']);
  });

  it('falls back to the default tenant only when it is missing, and never past the token', async () => {
    const other = await openService({
      ...tenants,
      'multi_tenant.default_tenant': 'acme',
      'server.api.auth': true,
    });
    try {
      const list = async (tenant: string | null, header: string | null) => {
        const authorization = `Bearer ${await tokenFor(other, tenant, 'scan:read')}`;
        const headers = { authorization, ...(header !== null && { 'x-tenant-id': header }) };
        return (await other.app.inject({ url: '/api/v1/scans', headers })).statusCode;
      };
      expect(await list('acme', null)).toBe(200);
      expect(await list('acme', '')).toBe(400);
      expect(await list('globex', null)).toBe(403);
      expect(await list('globex', 'globex')).toBe(200);
    } finally {
      await other.close();
    }
  });

  it('is looked at after 401, 429, 404 and 405 and before scopes', async () => {
    const wrong = { 'x-tenant-id': 'initech' };
    expect((await service.app.inject({ url: '/api/v1/scans', headers: wrong })).statusCode).toBe(401);
    expect((await call('acme', 'initech', { url: '/api/v1/nothing' })).statusCode).toBe(404);
    expect((await call('acme', 'initech', { method: 'DELETE', url: '/api/v1/scans' })).statusCode).toBe(405);
    keys['reader'] = await tokenFor(service, 'acme', 'metrics:read');
    const refused = await call('reader', 'globex', { method: 'POST', url: '/api/v1/scans', payload: '{' });
    expect(refused.json().error.code).toBe('tenant_forbidden');
    const scoped = await call('reader', 'acme', { method: 'POST', url: '/api/v1/scans', payload: '{' });
    expect(scoped.json().error.code).toBe('insufficient_scope');
  });

  it('is needed on every route but the open ones and those of the service as a whole', async () => {
    const free = new Set<string>();
    for (const { method, url } of routeTable(service.app)) {
      const path = url.replace(/:\w+/, '20200101-000000-abcdef');
      const response = await call('acme', null, { method, url: path });
      if (response.statusCode !== 400 || !response.body.includes('X-Tenant-ID')) {
        if (method !== 'HEAD') free.add(`${method} ${url}`);
      }
    }
    expect([...free].filter((route) => !route.includes('/docs')).toSorted()).toEqual([
      'DELETE /api/v1/plugins/:name',
      'DELETE /api/v1/tokens/:token_id',
      'GET /',
      'GET /api/v1/alerts',
      'GET /api/v1/audit',
      'GET /api/v1/config',
      'GET /api/v1/health',
      'GET /api/v1/license',
      'GET /api/v1/notifications/channels',
      'GET /api/v1/openapi.json',
      'GET /api/v1/tokens',
      'GET /api/v1/version',
      'GET /api/v1/workers',
      'GET /health',
      'GET /healthz',
      'GET /livez',
      'GET /metrics',
      'GET /readyz',
      'GET /ui',
      'GET /ui/*',
      'POST /api/v1/notifications/test',
      'POST /api/v1/plugins',
      'POST /api/v1/plugins/:name/rollback',
      'POST /api/v1/session',
      'POST /api/v1/tokens',
      'POST /api/v1/vulndb/sync',
      'PUT /api/v1/plugins/:name',
    ]);
  });

  it('decides alone where no tokens are demanded', async () => {
    const open = await openService(tenants);
    try {
      const status = async (headers: Record<string, string>) =>
        (await open.app.inject({ url: '/api/v1/scans', headers })).statusCode;
      expect(await status({ 'x-tenant-id': 'acme' })).toBe(200);
      expect(await status({ 'x-tenant-id': 'initech' })).toBe(403);
      expect(await status({})).toBe(400);
    } finally {
      await open.close();
    }
  });
});

describe('graphs and profiles of a tenant', () => {
  it('are its own: no other tenant sees them, may name them or learns of them', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'portolan-tenant-profiles-'));
    const put = async (tenant: string, kind: string, text: string) => {
      const folder = join(dir, 'ws/tenants', tenant, 'config', kind);
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, 'nightly.yaml'), text);
    };
    await put('acme', 'dags', 'nodes:\n  - {id: only, module: connect_scanner, config: {ports: "7"}}\n');
    await put('acme', 'profiles', 'dag: nightly\nscanner: {rate: 7}\n');
    await put('globex', 'profiles', 'dag: port-scan\nscanner: {rate: 9}\n');
    await put('globex', 'dags', 'nodes: nonsense\n');
    const one = await openService(tenants, { dir });
    const request = async (tenant: string, method: 'GET' | 'POST', path: string, payload?: object) => {
      const headers = { 'x-tenant-id': tenant };
      const url = `/api/v1/${path}`;
      const response = await one.app.inject({ method, url, headers, ...(payload && { payload }) });
      return { status: response.statusCode, ...response.json() };
    };
    const sources = async (tenant: string, kind: 'dags' | 'profiles') =>
      (await request(tenant, 'GET', kind)).data[kind]
        .filter(({ source }: { source: string }) => source !== 'builtin')
        .map(({ name, source }: { name: string; source: string }) => `${source}:${name}`);
    const plan = (tenant: string, more: object) =>
      request(tenant, 'POST', 'scans/plan', { targets: ['127.0.0.1'], ...more });
    try {
      expect([await sources('acme', 'dags'), await sources('acme', 'profiles')]).toEqual([
        ['tenant:nightly'],
        ['tenant:nightly'],
      ]);
      expect([await sources('globex', 'dags'), await sources('globex', 'profiles')]).toEqual([
        [],
        ['tenant:nightly'],
      ]);
      expect((await plan('acme', { profile: 'nightly' })).data).toMatchObject({ graph: 'nightly', rate: 7 });
      expect((await plan('globex', { profile: 'nightly' })).data).toMatchObject({
        graph: 'port-scan',
        rate: 9,
      });
      const foreign = await plan('globex', { dag: 'nightly' });
      expect([foreign.status, foreign.error.code]).toEqual([400, 'invalid_request']);
      expect(problemsOf(one.context.installed.libraries).map(({ message }) => message)).toEqual([
        expect.stringMatching(/globex\/config\/dags\/nightly.yaml:1:8: nodes/),
      ]);
    } finally {
      await one.close();
    }
  });
});

describe('POST /session', () => {
  it('returns the permissions of the token, with or without a tenant', async () => {
    const response = await call('acme', null, { method: 'POST', url: '/api/v1/session' });
    expect(response.json().data).toEqual({
      token_id: keys['acme']?.split('_')[1],
      name: 'test',
      scopes: ['scan:read', 'scan:write'],
      tenant: 'acme',
      expires_at: expect.any(String),
      tenants: ['acme'],
    });
    const whole = await call('admin', null, { method: 'POST', url: '/api/v1/session' });
    expect(whole.json().data).toMatchObject({ tenant: null, tenants: ['acme', 'globex'] });
    expect((await call('acme', 'globex', { method: 'POST', url: '/api/v1/session' })).statusCode).toBe(403);
    expect((await service.app.inject({ method: 'POST', url: '/api/v1/session' })).statusCode).toBe(401);
  });

  it('names no client where no tokens are required', async () => {
    const open = await openService();
    try {
      const response = await open.app.inject({ method: 'POST', url: '/api/v1/session' });
      expect(response.json().data).toEqual({
        token_id: null,
        name: null,
        scopes: ['admin'],
        tenant: null,
        expires_at: null,
        tenants: null,
      });
    } finally {
      await open.close();
    }
  });
});
