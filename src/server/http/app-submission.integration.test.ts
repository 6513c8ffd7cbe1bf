import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { sendRaw } from '../../../test/send-raw.ts';
import { ExtraServices } from '../fixtures/extra-services.ts';
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

const post = (payload: unknown, headers: Record<string, string> = {}) =>
  service.app.inject({
    method: 'POST',
    url: '/api/v1/scans',
    payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
    headers: { 'content-type': 'application/json', ...headers },
  });

describe('submission', () => {
  it('responds with exactly three fields and Location, and is durable', async () => {
    const response = await post({ targets: ['127.0.0.1'], name: 'a', tags: ['x'], ports: [80, 443] });
    expect(response.statusCode).toBe(201);
    const { data, meta } = response.json();
    expect(Object.keys(data)).toEqual(['scan_id', 'status', 'created_at']);
    expect(data.status).toBe('queued');
    expect(data.scan_id).toMatch(/^\d{8}-\d{6}-[0-9a-f]{6}$/);
    expect(meta.warnings).toBeUndefined();
    expect(response.headers['location']).toBe(`/api/v1/scans/${data.scan_id}`);
    expect(await service.workspace.scan(data.scan_id).request()).toMatchObject({
      profile: 'standard',
      ports: '80,443',
      rate: 'auto',
      pool: 'default',
      vuln: false,
    });
    expect((await service.store.scans.get(data.scan_id))?.status).toBe('pending');
  });

  it('resolves aliases, and turns vuln on for deep unless set otherwise', async () => {
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
    const response = await service.app.inject({ url: '/api/v1/scans?staus=running&limit=1' });
    expect([response.statusCode, response.json().meta.warnings]).toEqual([
      200,
      ['unknown parameter: staus; did you mean status?'],
    ]);
    const known = await service.app.inject({ url: '/api/v1/scans?status=running' });
    expect(known.json().meta.warnings).toBeUndefined();
  });

  it('names unknown fields and ignores them', async () => {
    const response = await post({ targets: ['127.0.0.1'], colour: 1, options: { speed: 2 } });
    expect(response.statusCode).toBe(201);
    expect(response.json().meta.warnings).toEqual(['unknown field: colour', 'unknown field: options.speed']);
  });

  it('suggests the field that was meant, and keeps the warning with the scan and its plan', async () => {
    const body = { targets: ['127.0.0.1'], options: { rate: 5, max_durration: '1h' } };
    const response = await post(body);
    const warnings = [
      'unknown field: options.rate; did you mean rate?',
      'unknown field: options.max_durration; did you mean options.max_duration?',
    ];
    expect([response.statusCode, response.json().meta.warnings]).toEqual([201, warnings]);
    const { scan_id } = response.json().data;
    expect(await service.store.scans.request(scan_id)).toMatchObject({ ignored: warnings });
    const plan = await service.app.inject({ method: 'POST', url: '/api/v1/scans/plan', payload: body });
    expect(plan.json().data.warnings).toEqual(
      warnings.map((text) => ({ code: 'unknown_field', message: `ignored ${text}` })),
    );
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
    const response = await post(bad);
    expect(response.statusCode).toBe(400);
    const { error } = response.json();
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
    const response = await post(payload);
    expect([response.statusCode, response.json().error.code]).toEqual([400, 'invalid_request']);
    expect(response.json().error.details.fields.length).toBeGreaterThan(0);
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
    expect(await sendRaw(await untyped.listen(), `${head}\r\n\r\n${body}`)).toMatch(/^HTTP\/1.1 201 /);
  });

  it('refuses another media type and a large body', async () => {
    expect((await post('<x/>', { 'content-type': 'text/xml' })).json().error.code).toBe(
      'unsupported_media_type',
    );
    const large = await post({ targets: ['127.0.0.1'], name: 'x'.repeat(2_100_000) });
    expect([large.statusCode, large.json().error.code]).toEqual([413, 'payload_too_large']);
  });

  it('refuses the whole internet without counting through it, with limit and count', async () => {
    // Expanding the larger ones would exceed the test timeout.
    for (const target of ['0.0.0.0/0', '::/0', '10.0.0.0/8', '2001:db8::/64']) {
      const response = await post({ targets: [target] });
      expect(response.statusCode).toBe(400);
      if (target === '10.0.0.0/8') expect(response.json().error.message).toContain('the limit is 65536');
    }
  });

  it('reports a few of a million wrong items', async () => {
    const response = await post(`{"targets":[${'1,'.repeat(900_000)}1]}`);
    expect(response.statusCode).toBe(400);
    expect(response.body.length).toBeLessThan(2000);
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

  it('responds 503 with Retry-After when the queue is full', async () => {
    const small = await another({ 'queue.max_jobs': 1 });
    await small.submit('rows 1');
    const response = await small.app.inject({
      method: 'POST',
      url: '/api/v1/scans',
      payload: { targets: ['127.0.0.1'] },
    });
    expect([response.statusCode, response.json().error.code]).toEqual([503, 'queue_full']);
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
  });

  it('takes no more than queue.max_jobs from any number of clients at once', async () => {
    const small = await another({ 'queue.max_jobs': 3 });
    const submit = () =>
      small.app.inject({ method: 'POST', url: '/api/v1/scans', payload: { targets: ['127.0.0.1'] } });
    const responses = await Promise.all(Array.from({ length: 20 }, submit));
    expect(responses.filter(({ statusCode }) => statusCode === 201)).toHaveLength(3);
    expect(responses.filter(({ statusCode }) => statusCode === 503)).toHaveLength(17);
    expect(await readdir(join(small.workspace.dir, 'scans'))).toHaveLength(3);
  });
});
