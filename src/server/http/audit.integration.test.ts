import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createToken } from '../../actions/access/create-token.ts';
import { revokeToken } from '../../actions/access/revoke-token.ts';
import { checkAuditLog } from '../../workspace/audit/audit-check.ts';
import { auditFiles } from '../../workspace/audit/audit-files.ts';
import type { AuditEvent } from '../../workspace/audit/audit-record.ts';
import { openService, type Service } from '../fixtures/service.ts';

let service: Service;
beforeEach(async () => {
  service = await openService({
    'server.api.auth': true,
    'logging.audit.enabled': true,
    'logging.output': 'file',
    'logging.level': 'trace',
    'logging.format': 'json',
    'scanner.scope.deny': '192.0.2.0/24',
  });
});
afterEach(() => service.close());

type Recorded = AuditEvent & { timestamp: string; hash: string; prev_hash: string };

/** All records, once those of the latest responses are written. */
async function records(): Promise<Recorded[]> {
  await new Promise((resolve) => setTimeout(resolve, 50));
  const place = { folder: join(service.workspace.dir, 'audit'), file: null };
  const files = auditFiles(place);
  if (files.length === 0) return [];
  expect((await checkAuditLog(files)).problems).toEqual([]);
  return files.flatMap((path) =>
    readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Recorded),
  );
}

/** Every file that the service wrote: store, logs, audit, scans. */
function everythingWritten(folder = service.dir): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}

/** What changes nothing, although it has a body. */
const readingPosts = ['/api/v1/session', '/api/v1/dags/validate', '/api/v1/schedules/preview'];

/** Every route that changes something. */
async function writingRoutes(token: string, scanId: string) {
  const response = await service.app.inject({ url: '/api/v1/openapi.json', headers: bearer(token) });
  const { paths } = response.json<{ paths: { [path: string]: object } }>();
  return Object.entries(paths).flatMap(([path, methods]) =>
    (['post', 'put', 'patch', 'delete'] as const)
      .filter((method) => method in methods && !readingPosts.includes(path))
      .map(
        (method) =>
          [
            method.toUpperCase() as 'POST' | 'DELETE',
            path
              .replace('{scan_id}', scanId)
              .replace('{job_id}', 'job-7f3a91c2')
              .replace(/\{\w+\}/, 'abcdef'),
          ] as const,
      ),
  );
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const submission = (targets: string[], more: object = {}) => ({ targets, profile: 'quick', ...more });

it('what the Web UI reads is left out unless asked for; what it changes and what is rejected stays', async () => {
  const { token } = await createToken(service.store, {
    name: 'ui',
    scopes: ['scan:read'],
    expiry: '1h',
    tenant: null,
  });
  const ui = { ...bearer(token), 'x-portolan-client': 'ui' };
  const ask = (url: string, headers: Record<string, string>) => service.app.inject({ url, headers });
  await ask('/api/v1/scans', ui);
  await ask('/api/v1/tokens', ui);
  await ask('/api/v1/profiles', bearer(token));
  const paths = async () => (await records()).map(({ request }) => request?.path);
  expect(await paths()).toEqual(['/api/v1/tokens', '/api/v1/profiles']);
  service.context.config.logging.audit.reads = true;
  await ask('/api/v1/scans', ui);
  expect(await paths()).toContain('/api/v1/scans');
});

describe('audit of API calls', () => {
  it('a read token is refused on every writing route, changes nothing, and stands in the audit log', async () => {
    const token = await service.token('scan:read');
    const id = token.split('_')[1] as string;
    const admin = await service.token('admin');
    const made = await service.app.inject({
      method: 'POST',
      url: '/api/v1/scans',
      headers: bearer(admin),
      payload: submission(['127.0.0.1']),
    });
    const scanId = made.json().data.scan_id as string;
    const writing = await writingRoutes(admin, scanId);
    expect(writing.length).toBeGreaterThan(3);
    const before = (await service.store.scans.list({ limit: 10, offset: 0 })).scans;
    for (const [method, url] of writing) {
      const payload = url.endsWith('/scans') ? submission(['127.0.0.1']) : {};
      const response = await service.app.inject({ method, url, headers: bearer(token), payload });
      expect([method, url, response.statusCode]).toEqual([method, url, 403]);
      expect(response.json().error.code).toBe('insufficient_scope');
    }
    expect((await service.store.scans.list({ limit: 10, offset: 0 })).scans).toEqual(before);
    const denied = (await records()).filter(({ outcome }) => outcome === 'denied');
    const refused = denied.filter(({ event }) => event === 'api_access');
    expect(refused.map(({ request }) => [request?.method, request?.path])).toEqual(
      writing.map(([method, url]) => [method, url]),
    );
    for (const record of refused) {
      expect(record).toMatchObject({
        event: 'api_access',
        actor: { type: 'token', id, name: 'test' },
        request: { status: 403 },
        details: { error: 'insufficient_scope', required_scopes: expect.any(Array) },
      });
    }
    const deletion = refused.find(
      ({ request }) => request?.method === 'DELETE' && request.path.includes('/scans/'),
    );
    expect(deletion?.resource).toEqual({ type: 'scan', id: scanId });
  });

  it('a token in the wrong place is refused and never written anywhere', async () => {
    const token = await service.token('admin');
    const secret = token.split('_').slice(2).join('_');
    const url = await service.listen();
    const basic = Buffer.from(`user:${token}`).toString('base64');
    const encoded = `%73vc%5F${token.slice(4)}`;
    const tries: [string, RawHeaders][] = [
      [`/api/v1/scans?token=${token}`, {}],
      [`/api/v1/scans?access_token=${encoded}`, {}],
      ['/api/v1/scans', { Cookie: `token=${token}` }],
      ['/api/v1/scans', { Authorization: `Basic ${basic}` }],
      ['/api/v1/scans', { Authorization: [`Bearer ${token}`, `Bearer ${token}`] }],
      ['/api/v1/scans', { Authorization: `Token ${token}` }],
      ['/api/v1/scans', { 'X-Api-Key': token, 'X-Request-Id': token, 'User-Agent': token }],
      [`/api/v1/${token}`, {}],
      [`/api/v1/${encoded}`, {}],
      [`/api/v1/scans/${token}/results`, {}],
      [`/api/v1/scans/%zz${token}`, {}],
    ];
    for (const [path, headers] of tries) {
      const status = await rawGet(url, path, headers);
      expect([path.slice(0, 20), status]).toEqual([path.slice(0, 20), 401]);
    }
    const [path] = tries[0] as [string, object];
    // A valid header does not help if the URL reveals a token to every proxy.
    expect(await rawGet(url, path, { Authorization: `Bearer ${token}` })).toBe(401);
    // Requests that are not HTTP are recorded, too.
    await rawSend(url, `GET /api/v1/${token} HTTP/1.1\r\n${token} bad\r\n\r\n`);
    const seen = await records();
    expect(seen).toHaveLength(tries.length + 2);
    const written = everythingWritten();
    expect(written).not.toContain(secret);
    expect(written).not.toContain(secret.slice(0, 20));
    expect(written).not.toContain(basic);
    expect(written).toContain('[redacted]');
  });

  it('every success and refusal of submit and delete has exactly one record', async () => {
    const [writer, reader] = [await service.token('scan:write'), await service.token('scan:read')];
    const id = writer.split('_')[1];
    const revoked = await service.token('admin');
    await revokeToken(service.store, revoked.split('_')[1] as string);
    const forged = `${writer.slice(0, -4)}AAAA`;
    const call = async (method: 'POST' | 'DELETE', url: string, token: string | null, payload?: unknown) => {
      const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
      const response = await service.app.inject({
        method,
        url,
        headers: { ...(token ? bearer(token) : {}), ...(text && { 'content-type': 'application/json' }) },
        ...(text !== undefined && { payload: text }),
      });
      return response;
    };
    const made = await call('POST', '/api/v1/scans', writer, submission(['127.0.0.0/30', '127.0.1.1']));
    const scanId = made.json().data.scan_id as string;
    await call('POST', '/api/v1/scans', writer, submission(['192.0.2.7']));
    await call('POST', '/api/v1/scans', writer, submission(['nonsense!']));
    await call('POST', '/api/v1/scans', writer, '{"targets": [');
    await call('POST', '/api/v1/scans', writer, 'x'.repeat(2_200_000));
    await call('POST', '/api/v1/scans', reader, submission(['127.0.0.1']));
    await call('POST', '/api/v1/scans', null, submission(['127.0.0.1']));
    await call('POST', '/api/v1/scans', forged, submission(['127.0.0.1']));
    await call('POST', '/api/v1/scans', revoked, submission(['127.0.0.1']));
    await call('DELETE', `/api/v1/scans/${scanId}`, reader);
    await call('DELETE', `/api/v1/scans/${scanId}`, writer);
    await call('DELETE', `/api/v1/scans/${scanId}`, writer);
    await call('DELETE', '/api/v1/scans/nonsense', writer);

    const token = { type: 'token', id };
    const anonymous = { type: 'anonymous', id: null, name: null };
    const expected = [
      [201, 'allowed', token, { type: 'scan', id: scanId }, { targets: 2, addresses: 3, rule: 'unicast' }],
      [400, 'denied', token, { type: 'scan', id: null }, { targets: 1, addresses: 1, rule: 'scope.deny' }],
      [400, 'denied', token, { type: 'scan', id: null }, { rule: 'invalid_request', fields: ['targets'] }],
      [400, 'denied', token, { type: 'scan', id: null }, { error: 'invalid_request' }],
      [413, 'denied', token, { type: 'scan', id: null }, { error: 'payload_too_large' }],
      [403, 'denied', { type: 'token' }, { type: 'scan', id: null }, { error: 'insufficient_scope' }],
      [401, 'denied', anonymous, { type: 'scan', id: null }, { error: 'unauthorized' }],
      [401, 'denied', anonymous, { type: 'scan', id: null }, { claimed_token_id: id }],
      [
        401,
        'denied',
        { type: 'token', id: revoked.split('_')[1] },
        { type: 'scan' },
        { error: 'unauthorized' },
      ],
      [403, 'denied', { type: 'token' }, { type: 'scan', id: scanId }, { error: 'insufficient_scope' }],
      [200, 'allowed', token, { type: 'scan', id: scanId }, {}],
      [404, 'denied', token, { type: 'scan', id: scanId }, { error: 'not_found' }],
      [404, 'denied', token, { type: 'scan', id: null }, { error: 'not_found' }],
    ] as const;
    const seen = (await records()).filter(({ event }) => event === 'api_access');
    expect(seen).toHaveLength(expected.length);
    for (const [index, [status, outcome, actor, resource, details]] of expected.entries()) {
      const of = seen[index];
      expect(of).toMatchObject({ outcome, actor, tenant: null, request: { status }, resource, details });
      expect(Object.keys(of ?? {})).toEqual([
        'timestamp',
        'event',
        'outcome',
        'actor',
        'tenant',
        'request',
        'resource',
        'details',
        'prev_hash',
        'hash',
      ]);
      expect(Object.keys(of?.request ?? {})).toEqual([
        'id',
        'method',
        'path',
        'status',
        'ip',
        'user_agent',
        'duration_ms',
      ]);
    }
    expect(JSON.stringify(seen)).not.toMatch(/svc_[a-z0-9]+_[\w-]{16}/);
  });

  it('records logins, leaves open routes out, and keeps to the events that are wanted', async () => {
    const token = await service.token('scan:read');
    await service.app.inject({ url: '/health' });
    await service.app.inject({ method: 'POST', url: '/api/v1/session', headers: bearer(token) });
    await service.app.inject({ method: 'POST', url: '/api/v1/session' });
    const seen = await records();
    expect(seen.map(({ event, outcome }) => [event, outcome]).sort()).toEqual([
      ['api_access', 'allowed'],
      ['api_access', 'denied'],
      ['user_login', 'allowed'],
      ['user_login', 'denied'],
    ]);
    service.context.config.logging.audit.events = ['scan_start'];
    await service.app.inject({ url: '/api/v1/scans', headers: bearer(token) });
    expect(await records()).toHaveLength(4);
  });

  it('records a client that hangs up before its answer has ended', async () => {
    const token = await service.token('scan:read', 'scan:write');
    const made = await service.app.inject({
      method: 'POST',
      url: '/api/v1/scans',
      headers: bearer(token),
      payload: submission(['127.0.0.1']),
    });
    const url = new URL(await service.listen());
    const socket = connect(Number(url.port), url.hostname);
    const path = `/api/v1/scans/${made.json().data.scan_id}/events`;
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${url.host}\r\nAuthorization: Bearer ${token}\r\n\r\n`);
    await new Promise((resolve) => socket.once('data', resolve));
    socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, 100));
    const seen = (await records()).filter(({ request }) => request?.path === path);
    expect(seen).toMatchObject([{ outcome: 'allowed', request: { status: 200 } }]);
  });
});

type RawHeaders = { [name: string]: string | string[] };

/** A request with raw headers, including duplicates. @returns the status */
function rawGet(url: string, path: string, headers: RawHeaders): Promise<number> {
  const fields = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((one) => `${name}: ${one}\r\n`),
  );
  const { host } = new URL(url);
  return rawSend(url, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${fields.join('')}Connection: close\r\n\r\n`);
}

function rawSend(url: string, text: string): Promise<number> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(text));
    let answer = '';
    socket.setEncoding('utf8').on('data', (part: string) => {
      answer += part;
    });
    socket.once('error', reject);
    socket.once('close', () => resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1])));
  });
}
