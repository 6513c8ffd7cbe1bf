import { status } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createToken } from '../../actions/access/create-token.ts';
import { revokeToken } from '../../actions/access/revoke-token.ts';
import { codeOf, type Ended, fromProto, GrpcClient } from '../fixtures/grpc-client.ts';
import { type GrpcService, openGrpcService, struct } from '../fixtures/grpc-service.ts';
import { methodRules } from './method-rules.ts';

const open: GrpcService[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});
async function start(...input: Parameters<typeof openGrpcService>): Promise<GrpcService> {
  const one = await openGrpcService(...input);
  open.push(one);
  return one;
}

const definition = fromProto('service.proto');
const target = { targets: ['127.0.0.1'] };
const outcome = (ended: Ended<unknown>) => [ended.error?.code ?? status.OK, codeOf(ended)];

/** Every method of the service's own API. */
const methods = Object.keys(methodRules)
  .filter((path) => path.startsWith('/service.api.v1.'))
  .map((path) => path.slice(1).split('/') as [string, string]);

describe('tokens', () => {
  let grpc: GrpcService;
  beforeAll(async () => {
    grpc = await openGrpcService({ 'server.api.auth': true });
  });
  afterAll(() => grpc.close());

  const call = async (service: string, method: string, token: string | null, more = {}) => {
    const client = new GrpcClient(definition, service, grpc.address, token);
    try {
      const streams = ['GetResults', 'WatchScan', 'ExportScan'].includes(method);
      if (!streams) return await client.call(method, {}, more);
      const { error } = await client.all(method, {}, more);
      return { error } as Ended<unknown>;
    } finally {
      client.close();
    }
  };

  it.each(methods)('%s/%s needs one, and one with its scope', async (service, method) => {
    expect(outcome(await call(service, method, null))).toEqual([status.UNAUTHENTICATED, 'unauthorized']);
    const other = await call(service, method, await grpc.service.token('plugin:read'));
    expect(outcome(other)).toEqual([status.PERMISSION_DENIED, 'insufficient_scope']);
    const right = await call(service, method, await grpc.service.token('admin'));
    expect(outcome(right)[1]).not.toBe('unauthorized');
    expect(outcome(right)[1]).not.toBe('insufficient_scope');
  });

  it('a read token changes nothing', async () => {
    const token = await grpc.service.token('scan:read', 'job:read', 'workspace:read');
    for (const [service, method] of methods) {
      const ended = await call(service, method, token);
      const changes = methodRules[`/${service}/${method}`]?.changes ?? false;
      expect([method, codeOf(ended) === 'insufficient_scope']).toEqual([method, changes]);
    }
  });

  it('say one and the same for every cause', async () => {
    const { token, record } = await createToken(grpc.service.store, {
      name: 'gone',
      scopes: ['admin'],
      expiry: '1h',
    });
    await revokeToken(grpc.service.store, record.id);
    const texts = new Set<string>();
    for (const bad of [null, 'garbage', `svc_zzzzzz_${'A'.repeat(43)}`, token]) {
      const ended = await call('service.api.v1.ScanService', 'ListScans', bad);
      expect(outcome(ended)).toEqual([status.UNAUTHENTICATED, 'unauthorized']);
      texts.add(ended.error?.details ?? '');
    }
    expect(texts.size).toBe(1);
  });

  it('come once, and as a bearer only', async () => {
    const token = await grpc.service.token('admin');
    const client = new GrpcClient(definition, 'service.api.v1.ScanService', grpc.address, null);
    const basic = await client.call('ListScans', {}, { authorization: `Basic ${token}` });
    expect(codeOf(basic)).toBe('unauthorized');
    client.close();
  });

  it('are required before a method is looked up', async () => {
    const client = new GrpcClient(
      {
        'x.Y': {
          Nothing: {
            path: '/x.Y/Nothing',
            requestStream: false,
            responseStream: false,
            requestSerialize: () => Buffer.alloc(0),
            requestDeserialize: () => ({}),
            responseSerialize: () => Buffer.alloc(0),
            responseDeserialize: () => ({}),
          },
        },
      } as never,
      'x.Y',
      grpc.address,
    );
    expect(outcome(await client.call('Nothing'))).toEqual([status.UNAUTHENTICATED, 'unauthorized']);
    const token = await grpc.service.token('scan:read');
    const ended = await client.call('Nothing', {}, { authorization: `Bearer ${token}` });
    expect(outcome(ended)).toEqual([status.UNIMPLEMENTED, 'not_implemented']);
    client.close();
  });

  it('are not required for a health request', async () => {
    const health = new GrpcClient(
      fromProto('grpc/health/v1/health.proto'),
      'grpc.health.v1.Health',
      grpc.address,
    );
    expect(await health.get('Check')).toEqual({ status: 'SERVING' });
    health.close();
  });

  it('that are guessed are slowed down by address', async () => {
    const one = await start({ 'server.api.auth': true });
    const outcomes: unknown[] = [];
    for (let i = 0; i < 22; i++) outcomes.push(codeOf(await one.scans('svc_bad').call('ListScans')));
    expect(outcomes.slice(0, 20)).toEqual(Array(20).fill('unauthorized'));
    expect(outcomes.slice(20)).toEqual(['rate_limited', 'rate_limited']);
    const good = await one.scans(await one.service.token('scan:read')).call('ListScans');
    expect(good.error).toBeNull();
  });
});

describe('rates', () => {
  it('have one bucket for REST and gRPC', async () => {
    const grpc = await start({ 'server.api.auth': true, 'server.api.rate_limit': 3 });
    const token = await grpc.service.token('scan:read');
    const headers = { authorization: `Bearer ${token}` };
    await grpc.service.app.inject({ url: '/api/v1/scans', headers });
    await grpc.service.app.inject({ url: '/api/v1/scans', headers });
    const third = await grpc.scans(token).call('ListScans');
    expect(third.headers.get('x-ratelimit-remaining')).toEqual(['0']);
    const fourth = await grpc.scans(token).call('ListScans');
    expect(outcome(fourth)).toEqual([status.RESOURCE_EXHAUSTED, 'rate_limited']);
    expect(Number(fourth.error?.metadata.get('retry-after')[0])).toBeGreaterThan(0);
    const rest = await grpc.service.app.inject({ url: '/api/v1/scans', headers });
    expect(rest.statusCode).toBe(429);
  });
});

describe('tenants', () => {
  it('see only their own scans; a foreign one gets the response of a missing one', async () => {
    const grpc = await start({
      'server.api.auth': true,
      'multi_tenant.enabled': true,
      'multi_tenant.tenants': ['red', 'blue'],
    });
    const of = async (tenant: string) =>
      (
        await createToken(grpc.service.store, {
          name: tenant,
          scopes: ['admin'],
          expiry: '1h',
          tenant,
        })
      ).token;
    const red = grpc.scans(await of('red'));
    const blue = grpc.scans(await of('blue'));
    const as = (tenant: string) => ({ 'x-tenant-id': tenant });
    const sent = await red.call<{ scan_id: string }>('SubmitScan', target, as('red'));
    const scan_id = sent.value?.scan_id ?? '';
    expect((await red.call('GetScan', { scan_id }, as('red'))).error).toBeNull();
    const theirs = await blue.call('GetScan', { scan_id }, as('blue'));
    expect(outcome(theirs)).toEqual([status.NOT_FOUND, 'not_found']);
    const unknown = await blue.call('GetScan', { scan_id: '20260101-000000-abcdef' }, as('blue'));
    expect(theirs.error?.details.replace(scan_id, 'ID')).toBe(
      unknown.error?.details.replace('20260101-000000-abcdef', 'ID'),
    );
    expect((await blue.all('WatchScan', { scan_id }, as('blue'))).error?.code).toBe(status.NOT_FOUND);
    expect((await blue.all('GetResults', { scan_id }, as('blue'))).error?.code).toBe(status.NOT_FOUND);
    expect((await blue.call('ListScans', {}, as('blue'))).value).toMatchObject({ total: 0 });
    expect(outcome(await blue.call('GetScan', { scan_id }, as('red')))).toEqual([
      status.PERMISSION_DENIED,
      'tenant_forbidden',
    ]);
    expect(outcome(await red.call('ListScans', {}))).toEqual([status.INVALID_ARGUMENT, 'invalid_request']);
    expect(outcome(await red.call('ListScans', {}, as('No Name')))[1]).toBe('invalid_request');
  });
});

describe('without tokens', () => {
  it('a listener on an outside address serves this machine only', async () => {
    const grpc = await start({ 'server.api.auth': false, 'server.grpc.bind': '0.0.0.0:0' });
    expect((await grpc.scans().call('ListScans')).error).toBeNull();
    // A client behind a proxy of this machine is remote.
    const proxied = await start({
      'server.api.auth': false,
      'server.grpc.bind': '0.0.0.0:0',
      'server.trusted_proxies': ['127.0.0.1/32'],
    });
    const ended = await proxied.scans().call('ListScans', {}, { 'x-forwarded-for': '192.0.2.7' });
    expect(outcome(ended)).toEqual([status.PERMISSION_DENIED, 'forbidden_origin']);
  });

  it('a listener on an outside address requires tokens unless configured otherwise', async () => {
    const grpc = await start({ 'server.grpc.bind': '0.0.0.0:0' });
    expect(codeOf(await grpc.scans().call('ListScans'))).toBe('unauthorized');
  });

  it('a page of another origin, or under a name of its own, is refused', async () => {
    const grpc = await start();
    const foreign = await grpc.scans().call('ListScans', {}, { origin: 'https://evil.example' });
    expect(outcome(foreign)).toEqual([status.PERMISSION_DENIED, 'forbidden_origin']);
    const client = new GrpcClient(definition, 'service.api.v1.ScanService', grpc.address);
    const named = await client.call('ListScans', {}, {}, { host: 'evil.example' });
    expect(outcome(named)).toEqual([status.PERMISSION_DENIED, 'forbidden_origin']);
    client.close();
  });
});

describe('licenses', () => {
  it('are required for jobs and PDF where they are enforced', async () => {
    const { publicKey } = await import('node:crypto').then(({ generateKeyPairSync }) =>
      generateKeyPairSync('ed25519'),
    );
    const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const grpc = await start({ 'license.enforce': true, 'license.public_key': pem });
    const ended = await grpc.jobs().call('SubmitJob', { type: 'scan', params: struct(target) });
    expect(outcome(ended)).toEqual([status.PERMISSION_DENIED, 'license_required']);
    const accepted = await grpc.scans().get<{ scan_id: string }>('SubmitScan', target);
    const pdf = await grpc.workspace().all('ExportScan', { ...accepted, format: 'pdf' });
    expect([pdf.error?.code, codeOf(pdf)]).toEqual([status.PERMISSION_DENIED, 'license_required']);
    const html = await grpc.workspace().all('ExportScan', { scan_id: accepted.scan_id, format: 'html' });
    expect(html.error).toBeNull();
  });
});
