import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createToken } from '../../../actions/access/create-token.ts';
import { openService, type Service } from '../../fixtures/service.ts';

interface Listed {
  event: string;
  outcome: string;
  tenant: string | null;
  actor: { name: string | null };
  resource: { type: string; id: string | null } | null;
  request: { path: string; status: number };
  details: Record<string, unknown>;
}

const audited = { 'logging.audit.enabled': true, 'server.api.auth': true };

async function tokenFor(service: Service, name: string, tenant: string | null, ...scopes: string[]) {
  return (await createToken(service.store, { name, scopes, expiry: '1h', tenant })).token;
}

/** A client of a service; `who` is a token. */
function clientOf(service: Service) {
  return async (who: string, url: string, tenant?: string) => {
    const headers = { authorization: `Bearer ${who}`, ...(tenant && { 'x-tenant-id': tenant }) };
    const response = await service.app.inject({ url, headers });
    const body = response.json();
    return {
      status: response.statusCode,
      error: body.error,
      data: body.data as {
        audit: Listed[];
        total: number;
        next_cursor: string | null;
        total_is_minimum: boolean;
      },
      meta: body.meta as { warnings?: string[] },
      link: String(response.headers['link']),
    };
  };
}

/** Polls until every response so far has its record. */
async function records(
  list: () => Promise<Listed[]>,
  wanted: (audit: Listed[]) => boolean,
): Promise<Listed[]> {
  for (let tries = 0; tries < 600; tries++) {
    const audit = await list();
    if (wanted(audit)) return audit;
    await sleep(50);
  }
  throw new Error('the records did not come');
}

describe('GET /api/v1/audit', () => {
  let service: Service;
  let reader: string;
  let scanner: string;
  let get: ReturnType<typeof clientOf>;
  beforeAll(async () => {
    service = await openService(audited);
    reader = await tokenFor(service, 'auditor', null, 'audit:read');
    scanner = await tokenFor(service, 'scanner', null, 'scan:read');
    get = clientOf(service);
    for (let n = 0; n < 5; n++) await get(scanner, `/api/v1/scans?limit=${n + 1}`);
    await get(scanner, '/api/v1/audit');
  });
  afterAll(() => service.close());

  it('lists every request, newest first, and the reading itself as config_change', async () => {
    const filter = '/api/v1/audit?event=config_change&actor=auditor';
    await get(reader, '/api/v1/audit');
    const read = await records(
      async () => (await get(reader, filter)).data.audit,
      (audit) => audit.length >= 1,
    );
    expect(read[0]).toMatchObject({
      event: 'config_change',
      outcome: 'allowed',
      actor: { type: 'token', name: 'auditor' },
      resource: { type: 'audit', id: null },
      details: { operation: 'audit.read' },
    });
    const allowed = '/api/v1/audit?actor=scanner&outcome=allowed';
    const served = await records(
      async () => (await get(reader, allowed)).data.audit,
      (audit) => audit.length >= 5,
    );
    expect(served.map(({ request }) => [request.path, request.status])).toEqual(
      Array.from({ length: 5 }, () => ['/api/v1/scans', 200]),
    );
  });

  it('demands the scope audit:read, and records that it was missing', async () => {
    expect(await get(scanner, '/api/v1/audit')).toMatchObject({
      status: 403,
      error: { code: 'insufficient_scope', details: { required_scopes: ['audit:read'] } },
    });
    const denied = '/api/v1/audit?actor=scanner&outcome=denied&event=config_change';
    const [refusal] = await records(
      async () => (await get(reader, denied)).data.audit,
      (audit) => audit.length > 0,
    );
    expect(refusal).toMatchObject({
      resource: { type: 'audit' },
      details: { operation: 'audit.read', error: 'insufficient_scope' },
    });
  });

  it('comes in pages by cursor, also with a Link header', async () => {
    const first = await get(reader, '/api/v1/audit?actor=scanner&outcome=allowed&limit=2');
    expect(first.data).toMatchObject({ total: 5, limit: 2, offset: 0, total_is_minimum: false });
    const seen = [...first.data.audit];
    for (let cursor = first.data.next_cursor; cursor !== null; ) {
      const page = await get(reader, `/api/v1/audit?actor=scanner&outcome=allowed&limit=2&cursor=${cursor}`);
      expect(page.data.total).toBe(5);
      seen.push(...page.data.audit);
      cursor = page.data.next_cursor;
    }
    expect(seen).toHaveLength(5);
    expect(new Set(seen.map((record) => JSON.stringify(record))).size).toBe(5);
    expect(first.link).toMatch(/audit\?[^>]*offset=2[^>]*>; rel="next"/);
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=1e3', 'limit'],
    ['offset=-1', 'offset'],
    ['since=yesterday', 'since'],
    ['until=24:00', 'until'],
    ['event=everything', 'event'],
    ['outcome=maybe', 'outcome'],
    ['cursor=x', 'cursor'],
    ['cursor=x&offset=1', 'cursor'],
  ])('rejects ?%s', async (query, field) => {
    const { status, error } = await get(reader, `/api/v1/audit?${query}`);
    expect([status, error.code]).toEqual([400, 'invalid_request']);
    expect(error.details.fields.map((problem: { field: string }) => problem.field)).toContain(field);
  });

  it('names damage of the log in the warnings, without a path of this machine', async () => {
    writeFileSync(join(service.workspace.dir, 'audit', '2026-01-01.jsonl'), 'not a record\n');
    const { status, meta } = await get(reader, '/api/v1/audit');
    expect(status).toBe(200);
    expect(meta.warnings).toContain(
      'audit log damaged: 2026-01-01.jsonl, byte 0: not a record of an audit log',
    );
    expect(JSON.stringify(meta)).not.toContain(service.workspace.dir);
  });
});

describe.each([
  ['logs of their own', {}],
  ['one file for all', { 'logging.audit.file': 'all.jsonl' }],
])('tenants with %s', (_what, more) => {
  let service: Service;
  let get: ReturnType<typeof clientOf>;
  const tokens: Record<string, string> = {};
  beforeAll(async () => {
    const tenants = { 'multi_tenant.enabled': true, 'multi_tenant.tenants': 'acme,globex' };
    service = await openService({ ...audited, ...tenants });
    const { audit } = service.context.config.logging;
    if ('logging.audit.file' in more) audit.file = join(service.dir, more['logging.audit.file']);
    get = clientOf(service);
    for (const tenant of ['acme', 'globex'])
      tokens[tenant] = await tokenFor(service, tenant, tenant, 'audit:read', 'scan:read');
    tokens['operator'] = await tokenFor(service, 'operator', null, 'audit:read');
    tokens['admin'] = await tokenFor(service, 'admin', null, 'admin');
    for (const tenant of ['acme', 'globex', 'acme']) await get(tokens[tenant] ?? '', '/api/v1/scans', tenant);
    await get(tokens['operator'] ?? '', '/api/v1/audit');
  });
  afterAll(() => service.close());

  const listAs = async (who: string, tenant?: string) =>
    (await get(tokens[who] ?? '', '/api/v1/audit?limit=1000', tenant)).data.audit;

  it('see their own records only, with and without naming themselves', async () => {
    for (const tenant of ['acme', 'globex']) {
      for (const named of [tenant, undefined]) {
        const audit = await records(
          () => listAs(tenant, named),
          (all) => all.some(({ request }) => request.path === '/api/v1/scans'),
        );
        expect(new Set(audit.map((record) => record.tenant))).toEqual(new Set([tenant]));
      }
    }
    const response = await get(tokens['acme'] ?? '', '/api/v1/audit', 'globex');
    expect([response.status, response.error.code]).toEqual([403, 'tenant_forbidden']);
  });

  it('are out of sight for an operator without admin, and for an admin to be named', async () => {
    await records(
      () => listAs('operator'),
      (audit) => audit.some(({ actor }) => actor.name === 'operator'),
    );
    expect(new Set((await listAs('operator')).map((record) => record.tenant))).toEqual(new Set([null]));
    const forbidden = await get(tokens['operator'] ?? '', '/api/v1/audit', 'acme');
    expect([forbidden.status, forbidden.error.code]).toEqual([403, 'tenant_forbidden']);
    const named = await listAs('admin', 'acme');
    expect(new Set(named.map((record) => record.tenant))).toEqual(new Set(['acme']));
    const ofAll = new Set((await listAs('admin')).map((record) => record.tenant));
    expect(ofAll).toEqual(new Set('logging.audit.file' in more ? [null, 'acme', 'globex'] : [null]));
  });
});

it('a token of a tenant reads nothing of the service where tenants are switched off', async () => {
  const service = await openService(audited);
  try {
    const token = await tokenFor(service, 'old', 'acme', 'audit:read');
    const { status, error } = await clientOf(service)(token, '/api/v1/audit');
    expect([status, error.code]).toEqual([403, 'tenant_forbidden']);
  } finally {
    await service.close();
  }
});
