import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify from 'fastify';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLicenseKeys, issueLicense } from '../../../actions/access/issue-license.ts';
import { GraphLibrary } from '../../../engine/graph/graph-library.ts';
import { defineModule } from '../../../engine/module.ts';
import { Registry } from '../../../engine/registry.ts';
import { License } from '../../../workspace/license/read-license.ts';
import { watchLicense } from '../../background/license-watch.ts';
import { openService, type Service } from '../../fixtures/service.ts';
import type { ServerLog } from '../../logging/log.ts';
import type { App } from '../app-type.ts';
import { sendError } from '../errors.ts';
import { requestCheck } from '../request/request-checks.ts';
import { KnownPaths } from '../routes.ts';

const keys = createLicenseKeys();
let dir: string;
const own: Service[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-license-'));
});
afterEach(async () => {
  for (const one of own.splice(0)) await one.close();
  await rm(dir, { recursive: true, force: true });
});

/** A service that enforces licenses, with a license for the plan and features, or without one. */
async function enforced(
  plan: string | null,
  features: string[] = [],
  flags: Record<string, unknown> = {},
): Promise<Service> {
  const home = await mkdtemp(join(dir, 'home-'));
  const keyFile = join(home, 'key.pem');
  await writeFile(keyFile, keys.publicKey);
  if (plan !== null) {
    const order = { customer: 'acme', plan, features, expiry: '90d', licenseId: 'lic-1' };
    const { license } = await issueLicense(order, keys.privateKey);
    await mkdir(join(home, 'ws/config'), { recursive: true });
    await writeFile(join(home, 'ws/config/license.key'), license);
  }
  const service = await openService(
    { 'license.enforce': true, 'license.public_key': keyFile, ...flags },
    { dir: home },
  );
  own.push(service);
  return service;
}

describe('GET /license', () => {
  it('reports the licensed features and never the license itself', async () => {
    const service = await enforced('business', ['jobs']);
    const response = await service.app.inject({ url: '/api/v1/license' });
    const { data } = response.json();
    expect(Object.keys(data).toSorted()).toEqual(
      ['enforced', 'expires_at', 'features', 'grace_until', 'plan', 'valid'].toSorted(),
    );
    expect(data).toMatchObject({ enforced: true, plan: 'business', valid: true, features: ['jobs'] });
    expect(Date.parse(data.grace_until) - Date.parse(data.expires_at)).toBe(7 * 86_400_000);
    expect(response.body).not.toContain('eyJ');
  });

  it('says that everything works where licenses are not enforced', async () => {
    const service = await openService();
    own.push(service);
    const { data } = (await service.app.inject({ url: '/api/v1/license' })).json();
    expect(data).toMatchObject({ enforced: false, plan: 'enterprise', expires_at: null });
    expect(data.features).toContain('jobs');
  });
});

describe('the rate of the plan', () => {
  const limit = async (service: Service) =>
    (await service.app.inject({ url: '/api/v1/version' })).headers['x-ratelimit-limit'];

  it.each([
    [null, '60'],
    ['starter', '60'],
    ['team', '100'],
    ['business', '500'],
    ['enterprise', undefined],
  ])('%s is %s a minute', async (plan, requests) => {
    expect(await limit(await enforced(plan))).toBe(requests);
  });

  it('gives way to server.api.rate_limit', async () => {
    expect(await limit(await enforced('team', [], { 'server.api.rate_limit': 7 }))).toBe('7');
    expect(await limit(await enforced('team', [], { 'server.api.rate_limit': 0 }))).toBeUndefined();
  });
});

describe('a feature', () => {
  /** A route that requires a feature, behind the checks of the real app. */
  async function ask(service: Service, scopes: string): Promise<[number, unknown]> {
    const app = Fastify() as unknown as App;
    app.decorateRequest('unknownFields', null as never);
    app.decorateRequest('space', null as never);
    app.addHook('onRequest', requestCheck(service.context, new KnownPaths()));
    app.setErrorHandler((error, request, reply) => sendError(error, request, reply));
    const config = { access: ['job:write'] as const, feature: 'jobs' as const };
    app.route({ method: 'POST', url: '/jobs', config, handler: async () => 'done' });
    const headers = { authorization: `Bearer ${await service.token(scopes)}` };
    const response = await app.inject({ method: 'POST', url: '/jobs', headers });
    await app.close();
    return [response.statusCode, response.statusCode === 200 ? null : response.json().error];
  }
  const auth = { 'server.api.auth': true };

  it('is refused after the scope, naming the feature', async () => {
    const without = await enforced('enterprise', ['ui'], auth);
    expect(await ask(without, 'scan:read')).toEqual([
      403,
      expect.objectContaining({ code: 'insufficient_scope' }),
    ]);
    const [status, error] = await ask(without, 'job:write');
    expect([status, error]).toEqual([
      403,
      expect.objectContaining({
        code: 'license_required',
        details: expect.objectContaining({ feature: 'jobs' }),
      }),
    ]);
  });

  it('is refused on an open route too', async () => {
    const service = await enforced('team', ['jobs']);
    const app = Fastify() as unknown as App;
    app.decorateRequest('unknownFields', null as never);
    app.addHook('onRequest', requestCheck(service.context, new KnownPaths()));
    app.setErrorHandler((error, request, reply) => sendError(error, request, reply));
    const config = { access: 'open' as const, feature: 'metrics' as const };
    app.route({ method: 'GET', url: '/figures', config, handler: async () => 'done' });
    const response = await app.inject({ url: '/figures' });
    await app.close();
    expect([response.statusCode, response.json().error.details.feature]).toEqual([403, 'metrics']);
  });

  it('jobs: every route is refused without a license for them', async () => {
    const service = await enforced('team');
    const payload = { type: 'scan', params: { targets: ['127.0.0.1'] } };
    for (const [method, url] of [
      ['POST', '/api/v1/jobs'],
      ['GET', '/api/v1/jobs'],
      ['GET', '/api/v1/jobs/job-ffffffff'],
      ['POST', '/api/v1/jobs/job-ffffffff/cancel'],
    ] as const) {
      const response = await service.app.inject({ method, url, ...(method === 'POST' && { payload }) });
      expect([response.statusCode, response.json().error.details.feature]).toEqual([403, 'jobs']);
    }
    const licensed = await enforced('business', ['jobs']);
    expect((await licensed.app.inject({ url: '/api/v1/jobs' })).statusCode).toBe(200);
  });

  it('works with a license for it, and everywhere without enforcement', async () => {
    expect((await ask(await enforced('team', ['jobs'], auth), 'job:write'))[0]).toBe(200);
    const free = await openService(auth);
    own.push(free);
    expect((await ask(free, 'job:write'))[0]).toBe(200);
  });
});

describe('a graph with modules that need a license', () => {
  const reporter = (name: string) =>
    defineModule({
      name,
      type: 'reporter',
      version: '1.0.0',
      description: 'Writes nothing.',
      options: {},
      requires: [],
      provides: [],
      execute: async () => undefined,
    });
  const graph = `
name: standard
metadata: {kind: profile}
nodes:
  - {instance_id: plain, module_type: plain_reporter}
  - {instance_id: pdf, module_type: pdf_reporter}
  - {instance_id: audit, module_type: compliance_evaluator, condition: "\${compliance}"}
`;

  async function submit(service: Service, more: object = {}): Promise<[number, string | undefined]> {
    const registry = new Registry();
    for (const name of ['plain_reporter', 'pdf_reporter', 'compliance_evaluator']) {
      registry.register(reporter(name), 'test');
    }
    const profiles = await mkdtemp(join(dir, 'profiles-'));
    await writeFile(join(profiles, 'standard.yaml'), graph);
    const library = await GraphLibrary.load(profiles, 'test', registry);
    const libraries = { service: library, tenants: new Map() };
    Object.assign(service.context.installed, { registry, libraries });
    const payload = { targets: ['127.0.0.1'], profile: 'standard', ...more };
    const response = await service.app.inject({ method: 'POST', url: '/api/v1/scans', payload });
    return [response.statusCode, response.json().error?.details.feature];
  }

  it('is refused at submission; nodes that will not run need nothing', async () => {
    expect(await submit(await enforced(null))).toEqual([403, 'pdf_reporter']);
    const service = await enforced('team', ['pdf_reporter']);
    expect(await submit(service)).toEqual([201, undefined]);
    expect(await submit(service, { options: { compliance: ['cis'] } })).toEqual([
      403,
      'compliance_evaluator',
    ]);
    expect((await service.store.scans.totals()).scan_count).toBe(1);
  });

  it('is refused as the format of an export too, before anything is said about the scan', async () => {
    const url = '/api/v1/workspace/scans/20261006-143022-a1b2c3/export?format=pdf';
    const response = await (await enforced(null)).app.inject({ url });
    expect([response.statusCode, response.json().error.details.feature]).toEqual([403, 'pdf_reporter']);
    const allowed = await enforced('team', ['pdf_reporter']);
    expect((await allowed.app.inject({ url })).json().error.code).toBe('not_found');
  });

  it('runs without a license where none is enforced', async () => {
    const service = await openService();
    own.push(service);
    expect(await submit(service, { options: { compliance: ['cis'] } })).toEqual([201, undefined]);
  });
});

describe('an end that comes near', () => {
  const day = 86_400_000;
  const claims = (left: number) => ({
    customer_id: 'acme',
    license_id: 'lic-1',
    plan: 'team' as const,
    features: [],
    iat: 0,
    exp: Math.floor((Date.now() + left) / 1000),
  });

  it('is in the health response where licenses are enforced', async () => {
    const service = await openService({}, { working: true });
    own.push(service);
    const checks = async (license: License) => {
      service.context.license = license;
      const response = await service.app.inject({ url: '/api/v1/health' });
      expect(response.statusCode).toBe(200);
      return response.json().checks.filter(({ name }: { name: string }) => name === 'license').length;
    };
    expect(await checks(new License(true, claims(5 * day), null))).toBe(1);
    expect(await checks(new License(true, claims(60 * day), null))).toBe(0);
    expect(await checks(new License(true, claims(-day), null))).toBe(1);
    expect(await checks(new License(true, null, 'no license is installed'))).toBe(1);
    expect(await checks(new License(false, claims(-30 * day), null))).toBe(0);
  });

  it('is logged at the start and again when a further warning is due', () => {
    vi.useFakeTimers();
    try {
      const lines: string[] = [];
      const log = { warn: (_facts: unknown, text: string) => lines.push(text) } as unknown as ServerLog;
      const stop = watchLicense(new License(true, claims(10 * day), null), log);
      expect(lines).toHaveLength(1);
      vi.advanceTimersByTime(2 * day);
      expect(lines).toHaveLength(1);
      vi.advanceTimersByTime(2 * day);
      expect(lines).toHaveLength(2);
      vi.advanceTimersByTime(6 * day);
      expect(lines.length).toBeGreaterThanOrEqual(3);
      const before = lines.length;
      vi.advanceTimersByTime(7 * day);
      expect(lines.length - before).toBeGreaterThanOrEqual(7);
      stop();
      const after = lines.length;
      vi.advanceTimersByTime(30 * day);
      expect(lines).toHaveLength(after);
    } finally {
      vi.useRealTimers();
    }
  });
});
