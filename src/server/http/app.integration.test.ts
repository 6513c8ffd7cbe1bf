import { Ajv2020 } from 'ajv/dist/2020.js';
import type { InjectOptions } from 'fastify';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { sendRaw } from '../../../test/send-raw.ts';
import { syncSources } from '../../actions/catalogs/vulndb-sources.ts';
import { errorCatalog } from '../../domain/errors.ts';
import { withoutReferences } from '../fixtures/api-document.ts';
import { ExtraServices } from '../fixtures/extra-services.ts';
import { routeTable } from '../fixtures/route-table.ts';
import { openService, type Service } from '../fixtures/service.ts';

let service: Service;
beforeAll(async () => {
  service = await openService();
});
afterAll(() => service.close());

const own = new ExtraServices();
const another = own.open;
afterEach(async () => {
  vi.useRealTimers();
  await own.close();
});

describe('list', () => {
  let listed: Service;
  beforeAll(async () => {
    listed = await openService();
    for (const name of ['one', 'two', 'three']) await listed.submit(name, { tags: [`t-${name}`] });
    await listed.submit('many', { targets: Array.from({ length: 150 }, (_, i) => `127.0.1.${i + 1}`) });
  });
  afterAll(() => listed.close());
  const get = async (query: string) => await listed.app.inject({ url: `/api/v1/scans${query}` });

  it('pages by offset and by cursor, with Link', async () => {
    const first = await get('?limit=2');
    const { scans, total, limit, offset, next_cursor } = first.json().data;
    expect([scans.length, total, limit, offset]).toEqual([2, 4, 2, 0]);
    expect(first.headers['link']).toContain('rel="next"');
    expect(first.headers['link']).toContain('</api/v1/scans?limit=2&offset=2>; rel="last"');
    const second = (await get(`?limit=2&cursor=${next_cursor}`)).json().data;
    expect(second.next_cursor).toBeNull();
    expect((await get(`?cursor=${next_cursor}!!`)).statusCode).toBe(400);
    const all = [...scans, ...second.scans].map(({ name }: { name: string }) => name);
    expect(all.toSorted()).toEqual(['many', 'one', 'three', 'two']);
    const past = (await get('?offset=99999999999999999999')).json();
    expect(past.data.scans).toEqual([]);
  });

  it('coerces a limit above 1000 and echoes it', async () => {
    expect((await get('?limit=1001')).json().data.limit).toBe(1000);
    expect((await get('?limit=99999999999999999999999')).json().data.limit).toBe(1000);
  });

  it('filters, with queued as another word for pending', async () => {
    const names = async (query: string) =>
      (await get(query)).json().data.scans.map(({ name }: { name: string }) => name);
    expect(await names('?tag=t-two')).toEqual(['two']);
    expect(await names('?q=thr')).toEqual(['three']);
    expect(await names('?status=queued&q=one')).toEqual(['one']);
    expect(await names('?status=running')).toEqual([]);
    expect(await names('?since=2020-01-01&q=one')).toEqual(['one']);
    expect(await names('?since=2999-01-01T00:00:00%2B02:00')).toEqual([]);
    expect(await names('?since=2999-01-01T00:00:00+02:00')).toEqual([]);
  });

  it('shows the first 10 of many targets; the detail shows all', async () => {
    const [scan] = (await get('?q=many')).json().data.scans;
    expect([scan.targets.length, scan.targets_total]).toEqual([10, 150]);
    const detail = await listed.app.inject({ url: `/api/v1/scans/${scan.scan_id}` });
    expect(detail.json().data.targets).toHaveLength(150);
  });

  it.each([
    'limit=0',
    'limit=-1',
    'limit=1e9',
    'limit=10;',
    'limit=',
    'limit=%201',
    'limit=1&limit=2',
    'limit[]=1',
    'offset=-1',
    'offset=x',
    'offset=0&cursor=abc',
    'cursor=!!!',
    'status=unknown',
    'status=',
    'since=yesterday',
    'since=275761-01-01',
    'since=2026-02-30',
    'since=1969-12-31',
    'since=2026-01-01T25:00:00Z',
    'since=1700000000',
  ])('refuses ?%s with the field named', async (query) => {
    const response = await get(`?${query}`);
    if (query === 'limit[]=1') return expect(response.statusCode).toBe(200);
    expect([response.statusCode, response.json().error.code]).toEqual([400, 'invalid_request']);
    const field = query === 'offset=0&cursor=abc' ? 'cursor' : query.split(/[=[]/)[0];
    expect(response.json().error.details.fields[0].field).toBe(field);
  });
});

describe('paths', () => {
  it.each([
    '..',
    '%2e%2e%2f',
    '..%5c',
    '%00',
    '%2fetc%2fpasswd',
    'x'.repeat(5000),
    '20261006-143022-A1B2C3',
    '20261006-143022-abcdef',
    '%ff',
    '%',
  ])('responds 404 for the id %s without touching the disk', async (id) => {
    for (const [method, tail] of [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/results'],
      ['POST', '/cancel'],
      ['GET', '/events'],
    ] as const) {
      // `inject` resolves dots: this one is the stream of all events.
      if (id === '..' && tail === '/events') continue;
      const response = await service.app.inject({ method, url: `/api/v1/scans/${id}${tail}` });
      expect([response.statusCode, response.json().error.code]).toEqual(
        response.statusCode === 405 ? [405, 'method_not_allowed'] : [404, 'not_found'],
      );
      expect(response.headers['x-content-type-options']).toBe('nosniff');
    }
  });

  it('responds 404 for an unknown path and 405 with Allow for a wrong method', async () => {
    expect((await service.app.inject({ url: '/api/v1/nothing' })).json().error.code).toBe('not_found');
    const wrong = await service.app.inject({ method: 'PUT', url: '/api/v1/scans' });
    expect([wrong.statusCode, wrong.headers['allow']]).toEqual([405, 'GET, HEAD, POST']);
    const detail = await service.app.inject({ method: 'POST', url: '/api/v1/scans/20261006-143022-abcdef' });
    expect([detail.statusCode, detail.headers['allow']]).toEqual([405, 'DELETE, GET, HEAD']);
  });

  it('responds to HEAD where it does to GET', async () => {
    const scanId = await service.submit('head');
    for (const url of [
      '/health',
      '/api/v1/scans',
      `/api/v1/scans/${scanId}`,
      `/api/v1/scans/${scanId}/results`,
      `/api/v1/scans/${scanId}/events`,
    ]) {
      const response = await service.app.inject({ method: 'HEAD', url });
      expect([url, response.statusCode, response.body]).toEqual([url, 200, '']);
    }
    const url = `/api/v1/scans/${scanId}/results`;
    const { headers } = await service.app.inject({ method: 'HEAD', url });
    expect([headers['content-type'], headers['content-length']]).toEqual(['application/json', undefined]);
  });

  it('echoes a well-formed request id and replaces another', async () => {
    const echoed = await service.app.inject({ url: '/api/v1/version', headers: { 'x-request-id': 'abc-1' } });
    expect([echoed.headers['x-request-id'], echoed.json().meta.request_id]).toEqual(['abc-1', 'abc-1']);
    const replaced = await service.app.inject({ url: '/nothing', headers: { 'x-request-id': 'a b' } });
    expect(replaced.headers['x-request-id']).toMatch(/^req_[0-9a-f]{12}$/);
    expect(replaced.json().error.details.request_id).toBe(replaced.headers['x-request-id']);
  });

  it('sends RFC 9457 members to clients that accept them', async () => {
    const response = await service.app.inject({
      url: '/nothing',
      headers: { accept: 'application/problem+json' },
    });
    expect(response.headers['content-type']).toContain('application/problem+json');
    expect(response.json()).toMatchObject({ type: 'about:blank', status: 404, error: { code: 'not_found' } });
  });
});

describe('results', () => {
  it('gives each format with its headers, and partial while unfinished', async () => {
    const scanId = await service.submit('results');
    const url = `/api/v1/scans/${scanId}/results`;
    const json = await service.app.inject({ url });
    expect(json.json().data).toMatchObject({
      scan_id: scanId,
      partial: true,
      results: [],
      compliance: [],
      errors: [],
    });
    expect(json.headers).toMatchObject({
      'content-type': 'application/json',
      'content-disposition': `attachment; filename="${scanId}.json"`,
      'x-scan-status': 'pending',
    });
    const lines = await service.app.inject({ url: `${url}?format=jsonl` });
    expect(lines.headers['content-type']).toBe('application/x-ndjson');
    expect(JSON.parse(lines.body.trim())).toMatchObject({ type: 'summary', partial: true });
    const csv = await service.app.inject({ url, headers: { accept: 'application/xml, text/csv;q=0.5' } });
    expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(csv.body).toMatch(/^host,port,protocol,state,service,version/);
    expect((await service.app.inject({ url: `${url}?format=xml` })).statusCode).toBe(400);
    const unknown = '/api/v1/scans/20261006-143022-abcdef/results';
    expect((await service.app.inject({ url: `${unknown}?format=xml` })).statusCode).toBe(400);
    expect((await service.app.inject({ url: unknown })).statusCode).toBe(404);
    expect((await service.app.inject({ url, headers: { accept: 'image/png' } })).json().error.code).toBe(
      'not_acceptable',
    );
    const exported = `/api/v1/workspace/scans/${scanId}/export`;
    expect((await service.app.inject({ url: `${exported}?format=csv` })).statusCode).toBe(200);
    expect((await service.app.inject({ url: `${exported}?format=exe` })).statusCode).toBe(400);
  });
});

describe('limits of a connection', () => {
  it('responds 414, 431 and 413 in the error shape and stays alive', async () => {
    const limited = await another({});
    const base = await limited.listen();
    const get = (path: string, head = '') =>
      sendRaw(base, `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${head}\r\n`);
    expect(await get(`/api/v1/scans?q=${'x'.repeat(8200)}`)).toMatch(/^HTTP\/1.1 414 [\s\S]*uri_too_long/);
    expect(await get(`/${'x'.repeat(1_000_000)}`)).toMatch(/^HTTP\/1.1 414 [\s\S]*uri_too_long/);
    expect(await get('/health', `A: ${'x'.repeat(17_000)}\r\n`)).toMatch(
      /^HTTP\/1.1 431 [\s\S]*headers_too_large/,
    );
    expect(await get('/health', 'A: x\r\n'.repeat(101))).toMatch(/^HTTP\/1.1 431 [\s\S]*headers_too_large/);
    expect(await sendRaw(base, 'NONSENSE\r\n\r\n')).toMatch(/^HTTP\/1.1 400 [\s\S]*invalid_request/);
    const chunk = `100000\r\n${'x'.repeat(0x100000)}\r\n`;
    const body = `POST /api/v1/scans HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(3)}0\r\n\r\n`;
    expect(await sendRaw(base, body)).toMatch(/^HTTP\/1.1 413 [\s\S]*payload_too_large/);
    expect(await get('/health')).toMatch(/^HTTP\/1.1 200 /);
  });
});

describe('the host of a request', () => {
  it('stands there once', async () => {
    const one = await another({});
    const base = await one.listen();
    const get = (head: string, version = '1.1') =>
      sendRaw(base, `GET /api/v1/version HTTP/${version}\r\n${head}Connection: close\r\n\r\n`);
    expect(await get('Host: localhost\r\n')).toMatch(/^HTTP\/1.1 200 /);
    expect(await get('', '1.0')).toMatch(/^HTTP\/1.1 200 /);
    const own = 'Host: localhost\r\n';
    for (const head of ['', own + own, `${own}hOST: evil.example\r\n`, `Host: evil.example\r\n${own}`])
      expect(await get(head)).toMatch(/^HTTP\/1.1 400 [\s\S]*"field":"Host"/);
    expect(await get(own + own, '1.0')).toMatch(/^HTTP\/1.1 400 /);
  });

  it('is that of a target in absolute form, whatever the Host header says', async () => {
    const one = await another({});
    const base = await one.listen();
    const request = (line: string, host = 'localhost') =>
      sendRaw(base, `${line} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(await request('GET http://localhost/api/v1/version', 'evil.example')).toMatch(/^HTTP\/1.1 200 /);
    for (const scheme of ['http', 'HTTPS'])
      expect(await request(`GET ${scheme}://evil.example/api/v1/version`)).toMatch(/^HTTP\/1.1 403 /);
    expect(await request('PUT http://localhost/api/v1/version')).toMatch(/^HTTP\/1.1 405 [\s\S]*allow: GET/i);
    expect(await request('GET http://localhost')).toMatch(/^HTTP\/1.1 302 [\s\S]*location: \/ui\//i);
    expect(await request('GET ftp://localhost/api/v1/version')).toMatch(/^HTTP\/1.1 404 /);
  });
});

describe('drain', () => {
  it('refuses writes and readiness, and goes on reading', async () => {
    const draining = await another({});
    draining.context.phase = 'draining';
    const status = async (method: 'GET' | 'POST', url: string) =>
      (await draining.app.inject({ method, url })).statusCode;
    expect(await status('POST', '/api/v1/scans')).toBe(503);
    expect(await status('GET', '/readyz')).toBe(503);
    expect(await status('GET', '/api/v1/scans')).toBe(200);
  });
});

describe('numbers beyond every range', () => {
  const whole = { targets: ['127.0.0.1'] };
  /** `%` stands for the number. */
  const bodies: [url: string, body: object][] = [
    ['/api/v1/workspace/gc', { keep_last: '%' }],
    ...['/api/v1/scans', '/api/v1/scans/plan'].flatMap((url): [string, object][] => [
      [url, { ...whole, rate: '%' }],
      [url, { ...whole, ports: ['%'] }],
      ...['concurrency', 'retries', 'discovery_retries', 'max_protocols'].map((name): [string, object] => [
        url,
        { ...whole, options: { [name]: '%' } },
      ]),
    ]),
    ['/api/v1/jobs', { type: 'scan', params: { ...whole, rate: '%' } }],
  ];
  const send = async (url: string, body: object, number: string) =>
    await service.app.inject({
      method: 'POST',
      url,
      payload: JSON.stringify(body).replace('"%"', number),
      headers: { 'content-type': 'application/json' },
    });

  it.each(bodies)('%s %j is 400', async (url, body) => {
    for (const number of ['1e999', '-1e999', '1.5', '-1']) {
      const response = await send(url, body, number);
      expect([number, response.statusCode, response.json().error?.code]).toEqual([
        number,
        400,
        'invalid_request',
      ]);
    }
    // Finite, but not a safe integer: accepted or rejected, but not an internal error.
    expect((await send(url, { ...body, dry_run: true }, '1e300')).statusCode).toBeLessThan(500);
  });
});

describe('faults', () => {
  it('show nothing of their cause', async () => {
    const broken = await another({});
    await broken.store.close();
    const response = await broken.app.inject({ url: '/api/v1/scans' });
    expect(response.statusCode).toBeGreaterThanOrEqual(500);
    expect(Object.keys(errorCatalog)).toContain(response.json().error.code);
    expect(response.body).not.toMatch(/sqlite|select|node_modules|\.ts|\/tmp/i);
    const health = await broken.app.inject({ url: '/api/v1/health' });
    expect([health.statusCode, health.json().status]).toEqual([503, 'unhealthy']);
    broken.store.close = async () => undefined;
  });
});

describe('the description of the API', () => {
  it('lists every route with every status, and responses conform', async () => {
    const working = await another(
      // Nothing listens there: no publisher is contacted.
      {
        'queue.max_jobs': 1,
        'server.workers': 1,
        'vulndb.sources': syncSources.map((name) => `${name}=http://127.0.0.1:1/`),
      },
      { working: true },
    );
    const running = await working.submit('hang');
    await working.until(running, ({ status }) => status === 'running');
    await working.submit('waits');
    const document = withoutReferences((await working.app.inject({ url: '/api/v1/openapi.json' })).json());
    expect(document.openapi).toBe('3.1.0');
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const scan = '/api/v1/scans/{scan_id}';
    const [graph, profile] = ['standard', 'quick'];
    const nightly = { type: 'scan', params: { targets: ['127.0.0.1'] }, schedule: '0 2 * * *' };
    const jobResponse = await working.app.inject({ method: 'POST', url: '/api/v1/jobs', payload: nightly });
    const job = jobResponse.json().data.job_id as string;
    const calls: [method: string, path: string, status: number, wish?: InjectOptions][] = [
      ['GET', '/health', 200],
      ['GET', '/livez', 200],
      ['GET', '/healthz', 200],
      ['GET', '/readyz', 200],
      ['GET', '/api/v1/health', 200],
      ['GET', '/api/v1/version', 200],
      ['GET', '/api/v1/license', 200],
      ['POST', '/api/v1/session', 200],
      ['GET', '/api/v1/openapi.json', 200],
      ['GET', '/api/v1/modules', 200],
      ['GET', '/api/v1/profiles', 200],
      ['GET', '/api/v1/dags', 200],
      ['POST', '/api/v1/dags/validate', 200, { payload: { text: 'x' } }],
      ['POST', '/api/v1/dags/validate', 400, { payload: {} }],
      ['GET', '/api/v1/dags/{name}', 200],
      ['PUT', '/api/v1/dags/{name}', 409, { payload: { text: 'x' } }],
      ['DELETE', '/api/v1/dags/{name}', 409],
      ['GET', '/api/v1/profiles/{name}', 200],
      ['PUT', '/api/v1/profiles/{name}', 409, { payload: { text: 'x' } }],
      ['DELETE', '/api/v1/profiles/{name}', 409],
      ['GET', '/api/v1/tokens', 200],
      ['POST', '/api/v1/tokens', 201, { payload: { name: 'one', scopes: ['scan:read'] } }],
      ['POST', '/api/v1/tokens', 400, { payload: { name: 'one', scopes: ['x'] } }],
      ['DELETE', '/api/v1/tokens/{token_id}', 404],
      ['GET', '/api/v1/config', 200],
      ['GET', '/api/v1/workers', 200],
      ['GET', '/api/v1/dashboard', 200],
      ['POST', '/api/v1/schedules/preview', 200, { payload: { schedule: '0 2 * * *' } }],
      ['POST', '/api/v1/schedules/preview', 400, { payload: { schedule: '60 * * * *' } }],
      ['GET', '/api/v1/events', 400, { query: { scan: 'x' } }],
      ['GET', '/api/v1/plugins', 200],
      ['PUT', '/api/v1/plugins/{name}', 404, { payload: { disabled: true } }],
      ['POST', '/api/v1/plugins/{name}/rollback', 404],
      ['DELETE', '/api/v1/plugins/{name}', 404],
      ['POST', '/api/v1/plugins', 400, { payload: { file: 'x', content: 'eA==' } }],
      ['GET', '/api/v1/vulndb', 200],
      ['POST', '/api/v1/vulndb/sync', 202],
      ['GET', '/api/v1/alerts', 200],
      ['GET', '/api/v1/audit', 200],
      ['GET', '/api/v1/notifications/channels', 200],
      ['POST', '/api/v1/notifications/test', 200, { payload: { channel: 'slack://x' } }],
      ['POST', '/api/v1/notifications/test', 400, { payload: { channel: 'x' } }],
      ['GET', '/api/v1/workspace/info', 200],
      ['POST', '/api/v1/workspace/gc', 200, { payload: { older_than: '1y' } }],
      ['POST', '/api/v1/workspace/gc', 400, { payload: { keep_last: -1 } }],
      ['GET', '/api/v1/scans', 200],
      ['GET', '/api/v1/scans', 400, { query: { limit: '0' } }],
      ['GET', scan, 200],
      ['GET', `${scan}/results`, 200],
      ['GET', `${scan}/results`, 400, { query: { format: 'xml' } }],
      ['GET', `${scan}/results`, 406, { headers: { accept: 'image/png' } }],
      ['GET', '/api/v1/workspace/scans/{scan_id}/export', 200],
      ['GET', '/api/v1/workspace/scans/{scan_id}/export', 400, { query: { format: 'pdf', paper: 'a3' } }],
      ['POST', '/api/v1/scans', 503, { payload: { targets: ['127.0.0.1'] } }],
      ['POST', '/api/v1/jobs', 201, { payload: nightly }],
      ['POST', '/api/v1/jobs', 400, { payload: { ...nightly, schedule: '60 * * * *' } }],
      ['POST', '/api/v1/jobs', 503, { payload: { ...nightly, schedule: undefined } }],
      ['GET', '/api/v1/jobs', 200],
      ['GET', '/api/v1/jobs', 400, { query: { status: 'x' } }],
      ['GET', '/api/v1/jobs/{job_id}', 200],
      ['PUT', '/api/v1/jobs/{job_id}', 200, { payload: nightly }],
      ['POST', '/api/v1/jobs/{job_id}/run', 200],
      ['POST', '/api/v1/jobs/{job_id}/cancel', 200],
      ['GET', `${scan}/records`, 200],
      ['GET', `${scan}/records`, 400, { query: { cursor: 'x' } }],
      ['GET', `${scan}/facets`, 200],
      ['GET', `${scan}/facets`, 400, { query: { q: 'port:' } }],
      ['GET', `${scan}/fixes`, 200],
      ['GET', `${scan}/fixes`, 400, { query: { q: 'port:' } }],
      ['GET', `${scan}/coverage`, 200],
      ['GET', `${scan}/request`, 200],
      ['GET', `${scan}/baseline`, 200],
      ['GET', `${scan}/explain`, 404, { query: { host: '192.0.2.1' } }],
      ['GET', `${scan}/explain`, 400],
      ['POST', `${scan}/pause`, 200],
      ['POST', `${scan}/resume`, 200],
      ['GET', `${scan}/diff`, 409, { query: { against: running } }],
      ['POST', `${scan}/cancel`, 200],
      ['GET', `${scan}/diff`, 200, { query: { against: running } }],
      ['GET', `${scan}/diff`, 400],
      ['POST', '/api/v1/scans/plan', 200, { payload: { targets: ['127.0.0.1'] } }],
      ['POST', '/api/v1/scans/plan', 400, { payload: { targets: [] } }],
      ['POST', `${scan}/pause`, 409],
      ['POST', `${scan}/resume`, 409],
      ['DELETE', scan, 200],
      ['GET', scan, 404],
      ['GET', `${scan}/events`, 404],
      ['POST', '/api/v1/scans', 201, { payload: { targets: ['127.0.0.1'] } }],
      ['POST', '/api/v1/scans', 400, { payload: { targets: [] } }],
      ['POST', '/api/v1/scans', 415, { payload: 'x', headers: { 'content-type': 'text/plain' } }],
    ];
    for (const [method, path, status, wish] of calls) {
      const url = path
        .replace('{scan_id}', running)
        .replace('{job_id}', job)
        .replace('{name}', path.includes('dags') ? graph : profile)
        .replace('{token_id}', 'abcdef');
      const response = await working.app.inject({ method: method as 'GET', url, ...wish });
      const { responses } = document.paths[path][method.toLowerCase()];
      const reported = responses[String(status)] ?? responses['default'];
      const valid = ajv.validate(reported?.content['application/json'].schema ?? false, response.json());
      expect([method, path, response.statusCode, ajv.errors, valid]).toEqual([
        method,
        path,
        status,
        null,
        true,
      ]);
      // Makes room for the later submission.
      if (method === 'DELETE' && path === scan)
        await expect.poll(async () => (await working.store.scanQueue.counts('2000')).pending).toBe(0);
    }
    // The only response that is not JSON.
    expect(document.paths['/metrics'].get.responses['200'].content).toHaveProperty('text/plain');
    expect(Object.keys(document.paths).toSorted()).toEqual(
      [...new Set(calls.map(([, path]) => path)), '/metrics'].toSorted(),
    );
  });

  it('fails to build with a route that declares no access', async () => {
    const { buildApp } = await import('./app.ts');
    const app = await buildApp(service.context);
    expect(routeTable(app)).toContainEqual({ method: 'GET', url: '/api/v1/scans' });
    await app.close();
    const fastify = (await import('fastify')).default();
    const { requireAccess } = await import('./routes.ts');
    fastify.addHook('onRoute', requireAccess);
    expect(() => fastify.get('/open-door', () => '')).toThrow(/GET \/open-door declares no access/);
  });
});
