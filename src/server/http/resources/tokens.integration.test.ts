import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { InjectOptions } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createToken } from '../../../actions/access/create-token.ts';
import { openService, type Service } from '../../fixtures/service.ts';

let service: Service;
const keys: Record<string, string> = {};

const tenants = { 'multi_tenant.enabled': true, 'multi_tenant.tenants': 'acme,globex' };
const logged = { 'logging.audit.enabled': true, 'logging.output': 'file', 'logging.level': 'trace' };

beforeEach(async () => {
  service = await openService({ ...tenants, ...logged, 'server.api.auth': true });
  keys['operator'] = await tokenFor(null, 'admin');
  keys['acme'] = await tokenFor('acme', 'admin');
  keys['globex'] = await tokenFor('globex', 'admin');
  keys['reader'] = await tokenFor('acme', 'scan:read', 'metrics:read', 'audit:read');
});
afterEach(() => service.close());

async function tokenFor(tenant: string | null, ...scopes: string[]): Promise<string> {
  return (await createToken(service.store, { name: 'test', scopes, expiry: '1h', tenant })).token;
}

function call(key: string, options: InjectOptions) {
  return service.app.inject({ ...options, headers: { authorization: `Bearer ${key}`, ...options.headers } });
}

const url = '/api/v1/tokens';
const create = (who: string, payload: object, headers = {}) =>
  call(keys[who] as string, { method: 'POST', url, payload, headers });
const idOf = (token = '') => token.split('_')[1] as string;

describe('tokens over REST', () => {
  it('are created with a secret that is shown once, stored nowhere, and works', async () => {
    const response = await create('operator', { name: 'ci', scopes: ['admin'], expires_in: '90d' });
    expect(response.statusCode).toBe(201);
    const { secret, ...data } = response.json().data;
    expect(secret).toMatch(/^svc_[a-z0-9]{6}_[A-Za-z0-9_-]{43}$/);
    expect(data).toEqual({
      token_id: idOf(secret),
      name: 'ci',
      scopes: ['admin'],
      tenant: null,
      created_at: expect.any(String),
      expires_at: expect.any(String),
      last_used_at: null,
      state: 'active',
    });
    expect((await call(secret, { url })).json().data.tokens).toContainEqual(
      expect.objectContaining({ token_id: data.token_id, state: 'active' }),
    );
    await expect.poll(() => everythingWritten()).toContain('token.create');
    const written = everythingWritten();
    expect(written).toContain(`"id":"${data.token_id}"`);
    expect(written).not.toContain(secret.slice(11));
  });

  it('are never wider than the token of the client', async () => {
    const own = await create('acme', { name: 'x', scopes: ['scan:read'] });
    expect([own.statusCode, own.json().data.tenant]).toEqual([201, 'acme']);
    expect(own.json().meta.warnings).toEqual([expect.stringContaining('never expires')]);
    for (const tenant of ['globex', 'nobody', '../acme']) {
      const response = await create('acme', { name: 'x', scopes: ['scan:read'], tenant });
      expect([tenant, response.statusCode, response.json().error.code]).toEqual([
        tenant,
        403,
        'tenant_forbidden',
      ]);
    }
    const forOther = await create('acme', { name: 'x', scopes: ['scan:read'] }, { 'x-tenant-id': 'globex' });
    expect(forOther.statusCode).toBe(403);
    expect(
      (await create('acme', { name: 'x', scopes: ['scan:read'], tenant: null })).json().data.tenant,
    ).toBe('acme');
    const lesser = await create('reader', { name: 'x', scopes: ['admin'] });
    expect(lesser.json().error.code).toBe('insufficient_scope');
    const grantor = { scopes: ['scan:read'], tenant: null };
    const order = { name: 'x', scopes: ['scan:read', 'scan:write', 'admin'], expiry: '1h', grantor };
    await expect(createToken(service.store, order)).rejects.toMatchObject({
      code: 'insufficient_scope',
      details: { required_scopes: ['scan:write', 'admin'] },
    });
  });

  it("are limited to a tenant by an operator's request, or by the tenant of the request", async () => {
    const named = await create('operator', { name: 'x', scopes: ['scan:read'], tenant: 'globex' });
    expect(named.json().data.tenant).toBe('globex');
    const acting = await create('operator', { name: 'x', scopes: ['scan:read'] }, { 'x-tenant-id': 'acme' });
    expect(acting.json().data.tenant).toBe('acme');
    const unknown = await create('operator', { name: 'x', scopes: ['scan:read'], tenant: 'acne' });
    expect(unknown.json().error.details.fields).toEqual([
      { field: 'tenant', reason: expect.stringContaining('did you mean acme?') },
    ]);
  });

  it.each([
    ['name', { name: '', scopes: ['admin'] }],
    ['name', { name: 'a\u0000b', scopes: ['admin'] }],
    ['name', { name: 'x'.repeat(101), scopes: ['admin'] }],
    ['name', { name: 7, scopes: ['admin'] }],
    ['scopes', { name: 'x', scopes: [] }],
    ['scopes', { name: 'x', scopes: ['scan:raed'] }],
    ['scopes', { name: 'x', scopes: ['*'] }],
    ['scopes', { name: 'x', scopes: Array(65).fill('admin') }],
    ['expires_in', { name: 'x', scopes: ['admin'], expires_in: '90' }],
    ['expires_in', { name: 'x', scopes: ['admin'], expires_in: '0d' }],
    ['expires_in', { name: 'x', scopes: ['admin'], expires_in: '99999999999999d' }],
    ['expires_in', { name: 'x', scopes: ['admin'], expires_in: 5 }],
  ])('are rejected with their field %s (%#)', async (field, payload) => {
    const response = await create('operator', payload);
    expect([response.statusCode, response.json().error.details.fields?.[0]?.field]).toEqual([400, field]);
  });

  it("are listed without secrets, each tenant's for itself", async () => {
    const list = async (who: string, headers = {}) => {
      const response = await call(keys[who] as string, { url, headers });
      expect(response.body).not.toMatch(/digest|svc_/);
      return response.json().data.tokens.map(({ token_id }: { token_id: string }) => token_id) as string[];
    };
    expect(await list('acme')).toEqual([idOf(keys['acme']), idOf(keys['reader'])]);
    expect(await list('globex')).toEqual([idOf(keys['globex'])]);
    expect(await list('operator')).toHaveLength(4);
    expect(await list('operator', { 'x-tenant-id': 'globex' })).toEqual([idOf(keys['globex'])]);
    expect((await call(keys['reader'] as string, { url })).json().error.code).toBe('insufficient_scope');
  });

  it("are revoked, also one's own, but no other tenant's", async () => {
    const revoke = (who: string, id: string) =>
      call(keys[who] as string, { method: 'DELETE', url: `${url}/${id}` });
    const [theirs, mine] = [idOf(keys['globex']), idOf(keys['acme'])];
    const [foreign, unknown] = [await revoke('acme', theirs), await revoke('acme', 'zzzzzz')];
    expect([foreign.statusCode, unknown.statusCode]).toEqual([404, 404]);
    expect(foreign.body.replaceAll(theirs, 'ID').replace(/req_\w+/, '')).toBe(
      unknown.body.replaceAll('zzzzzz', 'ID').replace(/req_\w+/, ''),
    );
    for (const id of ['..%2fx', '%00', 'a'.repeat(3000), keys['globex'] as string])
      expect([404, 400, 401]).toContain((await revoke('acme', id)).statusCode);
    expect((await revoke('acme', idOf(keys['reader']))).json().data).toMatchObject({
      revoked: true,
      own: false,
    });
    expect((await revoke('acme', mine)).json().data).toEqual({ token_id: mine, revoked: true, own: true });
    const revoked = (await service.store.tokens.list()).filter(({ revoked_at }) => revoked_at !== null);
    expect(revoked.map(({ id }) => id).sort()).toEqual([mine, idOf(keys['reader'])].sort());
    await expect.poll(async () => (await call(keys['acme'] as string, { url })).statusCode).toBe(401);
    await expect.poll(() => everythingWritten()).toContain('token.revoke');
  });

  it('of an administrator are revoked, but not the last usable one', async () => {
    const revoke = (key: string, id: string, query = '') =>
      call(key, { method: 'DELETE', url: `${url}/${id}${query}` });
    const second = await tokenFor(null, 'admin');
    const operator = keys['operator'] as string;
    expect((await revoke(operator, idOf(second))).statusCode).toBe(200);
    // None of these can create tokens for the service: a tenant's, one without the scope, an expired one.
    await tokenFor(null, 'scan:read');
    const { record } = await createToken(service.store, {
      name: 'old',
      scopes: ['admin'],
      expiry: '1h',
      tenant: null,
    });
    await service.store.tokens.update(record.id, { expires_at: '2020-01-01T00:00:00.000Z' });
    const refused = await revoke(operator, idOf(operator));
    expect([refused.statusCode, refused.json().error.code]).toEqual([409, 'conflict']);
    expect(refused.json().error.message).toContain('Create another one first');
    expect(refused.json().error.details).toMatchObject({ reason: 'last_admin_token' });
    expect((await call(operator, { url })).statusCode).toBe(200);
    for (const query of ['?force=false', '?force'])
      expect([400, 409]).toContain((await revoke(operator, idOf(operator), query)).statusCode);
    expect((await revoke(operator, idOf(operator), '?force=true')).json().data).toEqual({
      token_id: idOf(operator),
      revoked: true,
      own: true,
    });
  });

  it('are all revoked where no token is required', async () => {
    const open = await openService({ 'server.api.auth': false });
    try {
      const { record } = await createToken(open.store, { name: 'x', scopes: ['admin'], expiry: '1h' });
      const response = await open.app.inject({ method: 'DELETE', url: `${url}/${record.id}` });
      expect(response.statusCode).toBe(200);
    } finally {
      await open.close();
    }
  });

  it('of a tenant reach nothing of the service where tenants are switched off', async () => {
    const second = await openService({ 'server.api.auth': true });
    try {
      const { token } = await createToken(second.store, {
        name: 'x',
        scopes: ['admin'],
        expiry: '1h',
        tenant: 'acme',
      });
      const headers = { authorization: `Bearer ${token}` };
      for (const path of [url, '/api/v1/config', '/api/v1/workers'])
        expect((await second.app.inject({ url: path, headers })).json().error.code).toBe('tenant_forbidden');
      const payload = { name: 'x', scopes: ['admin'] };
      expect((await second.app.inject({ method: 'POST', url, headers, payload })).statusCode).toBe(403);
    } finally {
      await second.close();
    }
  });
});

/** Every file that the service wrote: store, logs, audit. */
function everythingWritten(folder = service.dir): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}
