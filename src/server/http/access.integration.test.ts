import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createToken } from '../../actions/access/create-token.ts';
import { revokeToken } from '../../actions/access/revoke-token.ts';
import { rotateToken } from '../../actions/access/rotate-token.ts';
import { type RouteEntry, routeTable } from '../fixtures/route-table.ts';
import { openService, type Service } from '../fixtures/service.ts';

let service: Service;
let routes: RouteEntry[];
beforeAll(async () => {
  service = await openService({ 'server.api.auth': true });
  routes = routeTable(service.app);
});
afterAll(() => service.close());

const make = async (expiry: string | null = '1h') =>
  await createToken(service.store, { name: 'test', scopes: ['admin'], expiry });

/** A token for every cause of rejection. */
async function badTokens(): Promise<Record<string, string | null>> {
  const [expired, revoked, rotated, good] = [await make(), await make(), await make(), await make()];
  await service.store.tokens.update(expired.record.id, { expires_at: '2020-01-01T00:00:00.000Z' });
  await revokeToken(service.store, revoked.record.id);
  await rotateToken(service.store, rotated.record.id, null);
  return {
    missing: null,
    malformed: 'garbage',
    'too short': good.token.slice(0, -1),
    unknown: `svc_zzzzzz_${'A'.repeat(43)}`,
    'of another secret': `${good.token.slice(0, -2)}__`,
    expired: expired.token,
    revoked: revoked.token,
    rotated: rotated.token,
  };
}

/** A new address per request: invalid tokens are limited per address. */
let addresses = 0;
function nextAddress(): string {
  addresses += 1;
  return `127.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`;
}

/** The UI is public: the root leads to it, and its pages are there once it is built. */
const statusOfPages: Record<string, number[]> = { '/': [302], '/ui': [308], '/ui/*': [200, 503] };

/** Without a wrong parameter its response does not end. */
const streamPath = '/api/v1/events';

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

describe('every method of every route', () => {
  it('responds 401 with the same body for every cause, unless the route is open', async () => {
    const causes = await badTokens();
    const paths = [
      ...new Set(routes.map(({ url }) => url)),
      '/api/v1/unknown',
      '/api/v1/scans/%',
      '/elsewhere',
    ];
    const open = new Set<string>();
    const bodies = new Set<string>();
    for (const path of paths) {
      for (const method of methods) {
        for (const [cause, token] of Object.entries(causes)) {
          const url = path.replace(/:\w+/, '20261006-143022-abcdef');
          const headers = token === null ? {} : { authorization: `Bearer ${token}` };
          const response = await service.app.inject({ method, url, headers, remoteAddress: nextAddress() });
          if (response.statusCode !== 401) {
            open.add(path);
            const expected = [...(statusOfPages[path] ?? [200]), 405];
            expect([method, path, cause, expected.includes(response.statusCode)]).toEqual([
              method,
              path,
              cause,
              true,
            ]);
            continue;
          }
          expect(response.headers['www-authenticate']).toBe(
            token === null ? 'Bearer' : 'Bearer error="invalid_token"',
          );
          if (method !== 'HEAD')
            bodies.add(response.body.replace(String(response.headers['x-request-id']), 'ID'));
        }
      }
    }
    expect([...open].filter((path) => !path.startsWith('/api/v1/docs')).toSorted()).toEqual([
      '/',
      '/health',
      '/healthz',
      '/livez',
      '/metrics',
      '/readyz',
      '/ui',
      '/ui/*',
    ]);
    expect(bodies.size).toBe(1);
    expect(JSON.parse([...bodies][0] ?? '').error.code).toBe('unauthorized');
  });

  it('needs a declared access to be built at all', async () => {
    const fastify = (await import('fastify')).default();
    const { requireAccess } = await import('./routes.ts');
    fastify.addHook('onRoute', requireAccess);
    expect(() => fastify.get('/open-door', () => '')).toThrow('GET /open-door declares no access');
  });

  it('responds 403 to a valid token without its scopes', async () => {
    const { token } = await createToken(service.store, { name: 'm', scopes: ['metrics:read'], expiry: '1h' });
    const anyToken = new Set<string>();
    for (const { method, url } of routes.filter((route) => route.url.startsWith('/api/v1/'))) {
      const path = url.replace(/:\w+/, '20261006-143022-abcdef');
      const headers = { authorization: `Bearer ${token}` };
      const response = await service.app.inject({ method, url: path, headers });
      if (response.statusCode !== 403) anyToken.add(url);
      else if (method !== 'HEAD') {
        expect(response.json().error.details.required_scopes.length).toBeGreaterThan(0);
      }
    }
    expect([...anyToken].filter((path) => !path.startsWith('/api/v1/docs')).toSorted()).toEqual([
      // Needs the scope of the token.
      '/api/v1/alerts',
      '/api/v1/health',
      '/api/v1/license',
      '/api/v1/openapi.json',
      '/api/v1/session',
      '/api/v1/version',
      // Needs the scope of the token.
      '/api/v1/workers',
    ]);
  });

  it('is reached by a token with just scan:read and scan:write', async () => {
    const { token } = await createToken(service.store, {
      name: 'core',
      scopes: ['scan:read', 'scan:write'],
      expiry: '1h',
    });
    for (const { method, url } of routes) {
      const path = url.replace(/:\w+/, '20261006-143022-abcdef').replace(streamPath, `${streamPath}?scan=x`);
      const headers = { authorization: `Bearer ${token}` };
      const { statusCode } = await service.app.inject({ method, url: path, headers });
      const extensions = [
        '/api/v1/alerts',
        '/api/v1/audit',
        '/api/v1/config',
        '/api/v1/notifications/test',
        '/api/v1/plugins/:name',
        '/api/v1/plugins/:name/rollback',
        '/api/v1/tokens',
        '/api/v1/tokens/:token_id',
        '/api/v1/vulndb/sync',
        '/api/v1/workers',
      ];
      const writesFiles = /^\/api\/v1\/(?:dags|profiles)\//.test(url) && ['PUT', 'DELETE'].includes(method);
      const installs = method === 'POST' && url === '/api/v1/plugins';
      const isCore = !extensions.includes(url) && !writesFiles && !installs;
      expect([method, url, [401, 403].includes(statusCode)]).toEqual([method, url, !isCore]);
    }
  });
});
