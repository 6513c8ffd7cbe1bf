import { readdir } from 'node:fs/promises';
import { connect, Socket } from 'node:net';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { InjectOptions } from 'fastify';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { errorCatalog } from '../../domain/errors.ts';
import { Authenticator } from '../access/auth.ts';
import { openService, type Service } from '../fixtures/service.ts';

let service: Service;
beforeAll(async () => {
  service = await openService();
});
afterAll(() => service.close());

const own: Service[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const one of own.splice(0)) await one.close();
});
async function another(
  flags: Record<string, unknown>,
  options?: Parameters<typeof openService>[1],
): Promise<Service> {
  const one = await openService(flags, options);
  own.push(one);
  return one;
}

const post = (payload: unknown, headers: Record<string, string> = {}) =>
  service.app.inject({
    method: 'POST',
    url: '/api/v1/scans',
    payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
    headers: { 'content-type': 'application/json', ...headers },
  });

/** Sends bytes as they are and reads the answer to its end. */
async function raw(base: string, request: string): Promise<string> {
  const { hostname, port } = new URL(base);
  return await new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(request));
    let answer = '';
    socket.on('data', (bytes) => (answer += bytes));
    socket.on('end', () => resolve(answer)).on('error', reject);
    socket.on('close', () => resolve(answer));
  });
}

describe('submission', () => {
  it('answers exactly three fields, with Location, and is durable', async () => {
    const answer = await post({ targets: ['127.0.0.1'], name: 'a', tags: ['x'], ports: [80, 443] });
    expect(answer.statusCode).toBe(201);
    const { data, meta } = answer.json();
    expect(Object.keys(data)).toEqual(['scan_id', 'status', 'created_at']);
    expect(data.status).toBe('queued');
    expect(data.scan_id).toMatch(/^\d{8}-\d{6}-[0-9a-f]{6}$/);
    expect(meta.warnings).toBeUndefined();
    expect(answer.headers['location']).toBe(`/api/v1/scans/${data.scan_id}`);
    expect(await service.workspace.scan(data.scan_id).request()).toMatchObject({
      profile: 'standard',
      ports: '80,443',
      rate: 1000,
      pool: 'default',
      vuln: false,
    });
    expect((await service.store.scans.get(data.scan_id))?.status).toBe('pending');
  });

  it('decides aliases, and turns vuln on for deep unless told otherwise', async () => {
    const request = async (body: object) => {
      const { data } = (await post({ targets: ['127.0.0.1'], ...body })).json();
      return await service.workspace.scan(data.scan_id).request();
    };
    expect(await request({ profile: 'quick_discovery' })).toMatchObject({ profile: 'quick', vuln: false });
    expect(await request({ profile: 'full_scan' })).toMatchObject({ profile: 'deep', vuln: true });
    expect(await request({ profile: 'deep', vuln: false })).toMatchObject({ vuln: false });
    expect(await request({ dag: 'vuln-scan' })).toMatchObject({ profile: 'standard', vuln: true });
    expect(await request({ dag: 'vuln-scan', vuln: false })).toMatchObject({ vuln: false });
  });

  it('names unknown parameters of a query and ignores them', async () => {
    const answer = await service.app.inject({ url: '/api/v1/scans?staus=running&limit=1' });
    expect([answer.statusCode, answer.json().meta.warnings]).toEqual([200, ['unknown parameter: staus']]);
    const known = await service.app.inject({ url: '/api/v1/scans?status=running' });
    expect(known.json().meta.warnings).toBeUndefined();
  });

  it('names unknown fields and ignores them', async () => {
    const answer = await post({ targets: ['127.0.0.1'], colour: 1, options: { speed: 2 } });
    expect(answer.statusCode).toBe(201);
    expect(answer.json().meta.warnings).toEqual(['unknown field: colour', 'unknown field: options.speed']);
  });

  it('reports all problems at once', async () => {
    const bad = {
      targets: ['127.0.0.1'],
      profile: 'none',
      ports: '0',
      rate: 1e9,
      pool: 'no name',
      notifications: ['nope'],
    };
    const answer = await post(bad);
    expect(answer.statusCode).toBe(400);
    const { error } = answer.json();
    expect(error.code).toBe('invalid_request');
    expect(error.details.fields.map(({ field }: { field: string }) => field).sort()).toEqual([
      'notifications',
      'pool',
      'ports',
      'profile',
      'rate',
    ]);
    expect(error.details.fields.find(({ field }: { field: string }) => field === 'profile').reason).toContain(
      'standard',
    );
  });

  it('counts the items of comma lists as entries, before it reads any of them', async () => {
    const list = (items: number) => Array(items).fill('127.0.0.1').join(',');
    const body = { targets: ['127.0.0.2', list(10_000)], exclude: [list(10_001)] };
    const { error } = (await post(body)).json();
    expect(error.details.fields).toEqual([
      { field: 'targets', reason: 'at most 10000 entries, not 10001' },
      { field: 'exclude', reason: 'at most 10000 entries, not 10001' },
    ]);
    expect((await post({ targets: [list(10_000)], ports: '9' })).statusCode).toBe(201);
  });

  it('names every bad target by its place', async () => {
    const { error } = (await post({ targets: ['10.0.0.1', '10.0.0.300', 'http://x'] })).json();
    expect(error.details.fields).toEqual([{ field: 'targets', reason: 'invalid targets' }]);
    expect(error.details.targets.map(({ index }: { index: number }) => index)).toEqual([1, 2]);
    expect(error.message).toContain('2 of 3 targets');
  });

  it.each([
    ['targets-missing', {}],
    ['targets-empty', { targets: [] }],
    ['targets-text', { targets: '127.0.0.1' }],
    ['target-empty', { targets: [''] }],
    ['target-number', { targets: [1] }],
    ['vuln-text', { targets: ['127.0.0.1'], vuln: 'yes' }],
    ['rate-text', { targets: ['127.0.0.1'], rate: '5' }],
    ['rate-zero', { targets: ['127.0.0.1'], rate: 0 }],
    ['rate-infinite', '{"targets":["127.0.0.1"],"rate":1e999}'],
    ['rate-2^53', '{"targets":["127.0.0.1"],"rate":9007199254740993}'],
    ['ports-reversed', { targets: ['127.0.0.1'], ports: '9-1' }],
    ['ports-number', { targets: ['127.0.0.1'], ports: [65_536] }],
    ['name-long', { targets: ['127.0.0.1'], name: 'x'.repeat(201) }],
    ['tags-many', { targets: ['127.0.0.1'], tags: Array(33).fill('t') }],
    ['compliance-many', { targets: ['127.0.0.1'], options: { compliance: Array(17).fill('cis') } }],
    ['options-list', { targets: ['127.0.0.1'], options: [] }],
    ['retries-high', { targets: ['127.0.0.1'], options: { retries: 11 } }],
    ['timeout-without-unit', { targets: ['127.0.0.1'], options: { timeout: '5' } }],
    ['exclude-bad', { targets: ['127.0.0.1'], exclude: ['x y'] }],
    ['dag-unknown', { targets: ['127.0.0.1'], dag: '../../etc/passwd' }],
    ['body-list', []],
    ['body-text', '"x"'],
    ['body-empty', ''],
    ['body-broken', '{"targets":'],
    ['trailing-garbage', '{"targets":["127.0.0.1"]} x'],
    ['byte-order-mark', '\ufeff{"targets":["127.0.0.1"]}'],
    ['proto-key', '{"targets":["127.0.0.1"],"__proto__":{"polluted":1}}'],
    ['proto-key-escaped', '{"targets":["127.0.0.1"],"\\u005f_proto__":{"polluted":1}}'],
    ['constructor-key', '{"targets":["127.0.0.1"],"x":{"constructor":{"prototype":{"polluted":1}}}}'],
    ['deep-65', `{"targets":["127.0.0.1"],"x":${'['.repeat(65)}${']'.repeat(65)}}`],
    ['deep-10000', `{"targets":["127.0.0.1"],"x":${'['.repeat(10_000)}${']'.repeat(10_000)}}`],
    ['shell', { targets: ['$(touch /tmp/x)'] }],
    ['option', { targets: ['-oN /tmp/x'] }],
  ])('refuses %s with 400 and stores nothing', async (_rule, payload) => {
    const before = (await service.store.scans.totals()).scan_count;
    const answer = await post(payload);
    expect([answer.statusCode, answer.json().error.code]).toEqual([400, 'invalid_request']);
    expect(answer.json().error.details.fields.length).toBeGreaterThan(0);
    expect((await service.store.scans.totals()).scan_count).toBe(before);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('takes the last of two equal keys', async () => {
    expect((await post('{"targets":["nonsense!"],"targets":["127.0.0.1"]}')).statusCode).toBe(201);
  });

  it('takes JSON without a content type', async () => {
    const untyped = await another({});
    const body = '{"targets":["127.0.0.1"]}';
    const head = `POST /api/v1/scans HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: ${body.length}`;
    expect(await raw(await untyped.listen(), `${head}\r\n\r\n${body}`)).toMatch(/^HTTP\/1.1 201 /);
  });

  it('refuses another media type and a large body', async () => {
    expect((await post('<x/>', { 'content-type': 'text/xml' })).json().error.code).toBe(
      'unsupported_media_type',
    );
    const large = await post({ targets: ['127.0.0.1'], name: 'x'.repeat(2_100_000) });
    expect([large.statusCode, large.json().error.code]).toEqual([413, 'payload_too_large']);
  });

  it('refuses the whole internet without counting through it, with limit and count (T-028)', async () => {
    // Whoever expands the larger ones does not end within the time of a test.
    for (const target of ['0.0.0.0/0', '::/0', '10.0.0.0/8', '2001:db8::/64']) {
      const answer = await post({ targets: [target] });
      expect(answer.statusCode).toBe(400);
      if (target === '10.0.0.0/8') expect(answer.json().error.message).toContain('the limit is 65536');
    }
  });

  it('reports a few of a million wrong items', async () => {
    const answer = await post(`{"targets":[${'1,'.repeat(900_000)}1]}`);
    expect(answer.statusCode).toBe(400);
    expect(answer.body.length).toBeLessThan(2000);
  });

  it('refuses a target that is wholly out of scope, with a hint, and takes one that is partly inside', async () => {
    const scoped = await another({
      'scanner.scope.allow': '127.0.0.0/8',
      'scanner.blocklist': '127.9.0.0/16',
    });
    const submit = async (targets: string[]) =>
      (await scoped.app.inject({ method: 'POST', url: '/api/v1/scans', payload: { targets } })).json();
    const { error } = await submit(['127.0.0.1', '10.0.0.0/30']);
    expect(error.details.targets).toMatchObject([{ index: 1, value: '10.0.0.0/30', reason: 'out_of_scope' }]);
    expect(error.details.targets[0].hint).toContain('scanner.scope.allow');
    expect((await submit(['127.9.0.1'])).error.details.targets[0].hint).toContain('scanner.blocklist');
    expect((await submit(['126.255.255.0-127.0.0.5'])).data.status).toBe('queued');
  });

  it('rejects the metadata services of clouds without a configuration, and scans them where scope.deny is another list', async () => {
    const submit = async (service: Service, target: string) =>
      (
        await service.app.inject({ method: 'POST', url: '/api/v1/scans', payload: { targets: [target] } })
      ).json();
    const unconfigured = await another({});
    for (const target of [
      '169.254.169.254',
      '::ffff:169.254.169.254',
      'fd00:ec2::254',
      'fd00:ec2::254/128',
    ]) {
      const { error } = await submit(unconfigured, target);
      expect(error.details.targets).toEqual([
        {
          index: 0,
          value: target,
          reason: 'out_of_scope',
          hint: 'to authorize it, set scanner.scope.deny to a list without it',
        },
      ]);
    }
    const configured = await another({ 'scanner.scope.deny': '192.0.2.1' });
    expect((await submit(configured, '169.254.169.254')).data.status).toBe('queued');
    expect((await submit(configured, '192.0.2.1')).error.details.targets[0].reason).toBe('out_of_scope');
  });

  it('answers 503 with Retry-After when the queue is full', async () => {
    const small = await another({ 'queue.max_jobs': 1 });
    await small.submit('rows 1');
    const answer = await small.app.inject({
      method: 'POST',
      url: '/api/v1/scans',
      payload: { targets: ['127.0.0.1'] },
    });
    expect([answer.statusCode, answer.json().error.code]).toEqual([503, 'queue_full']);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  });

  it('takes no more than queue.max_jobs from any number of clients at once', async () => {
    const small = await another({ 'queue.max_jobs': 3 });
    const submit = () =>
      small.app.inject({ method: 'POST', url: '/api/v1/scans', payload: { targets: ['127.0.0.1'] } });
    const answers = await Promise.all(Array.from({ length: 20 }, submit));
    expect(answers.filter(({ statusCode }) => statusCode === 201)).toHaveLength(3);
    expect(answers.filter(({ statusCode }) => statusCode === 503)).toHaveLength(17);
    expect(await readdir(join(small.workspace.dir, 'scans'))).toHaveLength(3);
  });
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

  it('shows the first 100 of very many targets; the detail shows all', async () => {
    const [scan] = (await get('?q=many')).json().data.scans;
    expect([scan.targets.length, scan.targets_total]).toEqual([100, 150]);
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
  ])('refuses ?%s with the field named (T-034)', async (query) => {
    const answer = await get(`?${query}`);
    if (query === 'limit[]=1') return expect(answer.statusCode).toBe(200);
    expect([answer.statusCode, answer.json().error.code]).toEqual([400, 'invalid_request']);
    const field = query === 'offset=0&cursor=abc' ? 'cursor' : query.split(/[=[]/)[0];
    expect(answer.json().error.details.fields[0].field).toBe(field);
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
  ])('answers 404 for the id %s without touching the disk (T-027)', async (id) => {
    for (const [method, tail] of [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/results'],
      ['POST', '/cancel'],
      ['GET', '/events'],
    ] as const) {
      const answer = await service.app.inject({ method, url: `/api/v1/scans/${id}${tail}` });
      expect([answer.statusCode, answer.json().error.code]).toEqual(
        answer.statusCode === 405 ? [405, 'method_not_allowed'] : [404, 'not_found'],
      );
      expect(answer.headers['x-content-type-options']).toBe('nosniff');
    }
  });

  it('answers 404 for an unknown path and 405 with Allow for a wrong method', async () => {
    expect((await service.app.inject({ url: '/api/v1/nothing' })).json().error.code).toBe('not_found');
    const wrong = await service.app.inject({ method: 'PUT', url: '/api/v1/scans' });
    expect([wrong.statusCode, wrong.headers['allow']]).toEqual([405, 'GET, HEAD, POST']);
    const detail = await service.app.inject({ method: 'POST', url: '/api/v1/scans/20261006-143022-abcdef' });
    expect([detail.statusCode, detail.headers['allow']]).toEqual([405, 'DELETE, GET, HEAD']);
  });

  it('answers HEAD where GET does', async () => {
    const scanId = await service.submit('head');
    for (const url of [
      '/health',
      '/api/v1/scans',
      `/api/v1/scans/${scanId}`,
      `/api/v1/scans/${scanId}/results`,
      `/api/v1/scans/${scanId}/events`,
    ]) {
      const answer = await service.app.inject({ method: 'HEAD', url });
      expect([url, answer.statusCode, answer.body]).toEqual([url, 200, '']);
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

  it('gives RFC 9457 members to who asks for them', async () => {
    const answer = await service.app.inject({
      url: '/nothing',
      headers: { accept: 'application/problem+json' },
    });
    expect(answer.headers['content-type']).toContain('application/problem+json');
    expect(answer.json()).toMatchObject({ type: 'about:blank', status: 404, error: { code: 'not_found' } });
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
    expect((await service.app.inject({ url: `${exported}?format=pdf` })).json().error.code).toBe(
      'not_implemented',
    );
    expect((await service.app.inject({ url: `${exported}?format=exe` })).statusCode).toBe(400);
  });
});

describe('tokens', () => {
  it('asks for a good one on every closed route, with one text for every cause (T-043)', async () => {
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
      // An address for each: wrong tokens from one are limited.
      const remoteAddress = `127.0.1.${index}`;
      for (const [method, url] of closedRoutes) {
        const headers = token === null ? {} : { authorization: `Bearer ${token}` };
        const answer = await closed.app.inject({ method, url, headers, remoteAddress });
        expect([method, url, answer.statusCode, answer.json().error.code]).toEqual([
          method,
          url,
          401,
          'unauthorized',
        ]);
        expect(answer.headers['www-authenticate']).toBe(
          token === null ? 'Bearer' : 'Bearer error="invalid_token"',
        );
        messages.add(answer.json().error.message);
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

  it('lets a reader read and not write (T-044)', async () => {
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
      const answer = await closed.app.inject({
        method,
        url,
        headers,
        ...(method === 'POST' && { payload: '{' }),
      });
      expect([answer.statusCode, answer.json().error.code]).toEqual([403, 'insufficient_scope']);
      expect(answer.json().error.details.required_scopes).toContain('scan:write');
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

  it('takes a token from one Authorization header only (T-046)', async () => {
    const closed = await another({ 'server.api.auth': true });
    const token = await closed.token('admin');
    const base = await closed.listen();
    const status = async (head: string, path = '/api/v1/version') =>
      (await raw(base, `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${head}\r\n`)).split(
        ' ',
      )[1];
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
      // Longer than any URL: a look for each of them does not end within the time of a test.
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

  it('serves this machine only in protected mode (T-058)', async () => {
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

describe('limits of a connection (T-036)', () => {
  it('answers 414, 431 and 413 in the error shape and stays alive', async () => {
    const limited = await another({});
    const base = await limited.listen();
    const get = (path: string, head = '') =>
      raw(base, `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${head}\r\n`);
    expect(await get(`/api/v1/scans?q=${'x'.repeat(8200)}`)).toMatch(/^HTTP\/1.1 414 [\s\S]*uri_too_long/);
    expect(await get(`/${'x'.repeat(1_000_000)}`)).toMatch(/^HTTP\/1.1 414 [\s\S]*uri_too_long/);
    expect(await get('/health', `A: ${'x'.repeat(17_000)}\r\n`)).toMatch(
      /^HTTP\/1.1 431 [\s\S]*headers_too_large/,
    );
    expect(await get('/health', 'A: x\r\n'.repeat(101))).toMatch(/^HTTP\/1.1 431 [\s\S]*headers_too_large/);
    expect(await raw(base, 'NONSENSE\r\n\r\n')).toMatch(/^HTTP\/1.1 400 [\s\S]*invalid_request/);
    const chunk = `100000\r\n${'x'.repeat(0x100000)}\r\n`;
    const body = `POST /api/v1/scans HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(3)}0\r\n\r\n`;
    expect(await raw(base, body)).toMatch(/^HTTP\/1.1 413 [\s\S]*payload_too_large/);
    expect(await get('/health')).toMatch(/^HTTP\/1.1 200 /);
  });
});

describe('the host of a request', () => {
  it('stands there once', async () => {
    const one = await another({});
    const base = await one.listen();
    const get = (head: string, version = '1.1') =>
      raw(base, `GET /api/v1/version HTTP/${version}\r\n${head}Connection: close\r\n\r\n`);
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
    const ask = (line: string, host = 'localhost') =>
      raw(base, `${line} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(await ask('GET http://localhost/api/v1/version', 'evil.example')).toMatch(/^HTTP\/1.1 200 /);
    for (const scheme of ['http', 'HTTPS'])
      expect(await ask(`GET ${scheme}://evil.example/api/v1/version`)).toMatch(/^HTTP\/1.1 403 /);
    expect(await ask('PUT http://localhost/api/v1/version')).toMatch(/^HTTP\/1.1 405 [\s\S]*allow: GET/i);
    expect(await ask('GET http://localhost')).toMatch(/^HTTP\/1.1 404 /);
    expect(await ask('GET ftp://localhost/api/v1/version')).toMatch(/^HTTP\/1.1 404 /);
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
      const answer = await send(url, body, number);
      expect([number, answer.statusCode, answer.json().error?.code]).toEqual([
        number,
        400,
        'invalid_request',
      ]);
    }
    // Finite, and beyond what is exact: accepted or rejected, but no fault.
    expect((await send(url, { ...body, dry_run: true }, '1e300')).statusCode).toBeLessThan(500);
  });
});

describe('faults', () => {
  it('show nothing of their cause (T-040)', async () => {
    const broken = await another({});
    await broken.store.close();
    const answer = await broken.app.inject({ url: '/api/v1/scans' });
    expect(answer.statusCode).toBeGreaterThanOrEqual(500);
    expect(Object.keys(errorCatalog)).toContain(answer.json().error.code);
    expect(answer.body).not.toMatch(/sqlite|select|node_modules|\.ts|\/tmp/i);
    const health = await broken.app.inject({ url: '/api/v1/health' });
    expect([health.statusCode, health.json().status]).toEqual([503, 'unhealthy']);
    broken.store.close = async () => undefined;
  });
});

describe('the description of the API', () => {
  it('lists every route with every status, and answers keep to it', async () => {
    const working = await another({ 'queue.max_jobs': 1, 'server.workers': 1 }, { working: true });
    const running = await working.submit('hang');
    await working.until(running, ({ status }) => status === 'running');
    await working.submit('waits');
    const document = (await working.app.inject({ url: '/api/v1/openapi.json' })).json();
    expect(document.openapi).toBe('3.1.0');
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const scan = '/api/v1/scans/{scan_id}';
    const nightly = { type: 'scan', params: { targets: ['127.0.0.1'] }, schedule: '0 2 * * *' };
    const jobAnswer = await working.app.inject({ method: 'POST', url: '/api/v1/jobs', payload: nightly });
    const job = jobAnswer.json().data.job_id as string;
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
      ['GET', '/api/v1/plugins', 200],
      ['GET', '/api/v1/vulndb', 200],
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
      ['GET', '/api/v1/workspace/scans/{scan_id}/export', 501, { query: { format: 'pdf' } }],
      ['POST', '/api/v1/scans', 503, { payload: { targets: ['127.0.0.1'] } }],
      ['POST', '/api/v1/jobs', 201, { payload: nightly }],
      ['POST', '/api/v1/jobs', 400, { payload: { ...nightly, schedule: '60 * * * *' } }],
      ['POST', '/api/v1/jobs', 503, { payload: { ...nightly, schedule: undefined } }],
      ['GET', '/api/v1/jobs', 200],
      ['GET', '/api/v1/jobs', 400, { query: { status: 'x' } }],
      ['GET', '/api/v1/jobs/{job_id}', 200],
      ['POST', '/api/v1/jobs/{job_id}/cancel', 200],
      ['GET', `${scan}/records`, 200],
      ['GET', `${scan}/records`, 400, { query: { cursor: 'x' } }],
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
      const url = path.replace('{scan_id}', running).replace('{job_id}', job);
      const answer = await working.app.inject({ method: method as 'GET', url, ...wish });
      const told = document.paths[path][method.toLowerCase()].responses[String(status)];
      const valid = ajv.validate(told?.content['application/json'].schema ?? false, answer.json());
      expect([method, path, answer.statusCode, ajv.errors, valid]).toEqual([
        method,
        path,
        status,
        null,
        true,
      ]);
      // Room for the submission that comes later.
      if (method === 'DELETE') await expect.poll(async () => (await working.queue.counts()).pending).toBe(0);
    }
    // The one answer that is no JSON.
    expect(document.paths['/metrics'].get.responses['200'].content).toHaveProperty('text/plain');
    expect(Object.keys(document.paths).toSorted()).toEqual(
      [...new Set(calls.map(([, path]) => path)), '/metrics'].toSorted(),
    );
  });

  it('fails to build with a route that declares no access', async () => {
    const { buildApp } = await import('./app.ts');
    const app = await buildApp(service.context);
    const routes = app.printRoutes({ commonPrefix: false });
    expect(routes).toContain('/api/v1/scans');
    await app.close();
    const fastify = (await import('fastify')).default();
    const { requireAccess } = await import('./routes.ts');
    fastify.addHook('onRoute', requireAccess);
    expect(() => fastify.get('/open-door', () => '')).toThrow(/GET \/open-door declares no access/);
  });
});
