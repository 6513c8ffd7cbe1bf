import { hostname } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createToken } from '../../../actions/access/create-token.ts';
import { openService, type Service } from '../../fixtures/service.ts';

let service: Service;
beforeEach(async () => {
  service = await openService(
    {
      'multi_tenant.enabled': true,
      'multi_tenant.tenants': 'acme,globex',
      'server.api.auth': true,
      'workspace.result_store.s3.secret_key': 'hunter2-secret',
    },
    { working: true },
  );
});
afterEach(() => service.close());

async function get(url: string, tenant: string | null, scopes: string[], headers = {}) {
  const { token } = await createToken(service.store, { name: 'x', scopes, expiry: '1h', tenant });
  return await service.app.inject({ url, headers: { authorization: `Bearer ${token}`, ...headers } });
}

describe('GET /api/v1/config', () => {
  it('shows each setting with origin, default and description, and masks secrets', async () => {
    const response = await get('/api/v1/config', null, ['admin']);
    expect(response.statusCode).toBe(200);
    expect(response.body).not.toContain('hunter2');
    const settings = response.json().data.settings as { key: string; description: string }[];
    const setting = (key: string) => settings.find((one) => one.key === key);
    expect(setting('server.api.auth')).toMatchObject({
      value: true,
      origin: 'flag',
      default: null,
      secret: false,
    });
    expect(setting('workspace.result_store.s3.secret_key')).toMatchObject({ value: '••••', secret: true });
    expect(setting('scanner.default_profile')).toMatchObject({ value: 'standard', origin: 'default' });
    expect(setting('notifications.webhooks')).toMatchObject({ secret: true });
    expect(settings.filter(({ description }) => description === '')).toEqual([]);
  });

  it('is for operators only', async () => {
    expect((await get('/api/v1/config', 'acme', ['admin'])).json().error.code).toBe('tenant_forbidden');
    expect((await get('/api/v1/config', null, ['metrics:read'])).json().error.code).toBe(
      'insufficient_scope',
    );
  });
});

describe('GET /api/v1/workers', () => {
  it("shows what runs, of the request's tenant only", async () => {
    const { token } = await createToken(service.store, { name: 'x', scopes: ['admin'], expiry: '1h' });
    const submitted = await service.app.inject({
      method: 'POST',
      url: '/api/v1/scans',
      payload: { targets: ['127.0.0.1'], name: 'hang' },
      headers: { authorization: `Bearer ${token}`, 'x-tenant-id': 'acme' },
    });
    const { scan_id } = submitted.json().data;
    await service.until(scan_id, ({ status }) => status === 'running');
    const workers = async (tenant: string | null) =>
      (await get('/api/v1/workers', tenant, ['metrics:read'])).json().data.workers;
    const [worker] = await workers('acme');
    expect(worker).toMatchObject({
      worker_id: 'server',
      host: hostname(),
      version: '0.0.0',
      state: 'working',
      busy: 1,
      scans: [scan_id],
    });
    expect(Date.parse(worker.heartbeat_at)).toBeGreaterThan(Date.parse(worker.started_at));
    expect((await workers('globex'))[0]).toMatchObject({ busy: 1, scans: [] });
    expect((await get('/api/v1/workers', 'acme', ['scan:read'])).statusCode).toBe(403);
  });
});

describe('POST /api/v1/schedules/preview', () => {
  const preview = async (payload: object) => {
    const { token } = await createToken(service.store, {
      name: 'x',
      scopes: ['scan:read'],
      expiry: '1h',
      tenant: 'acme',
    });
    const headers = { authorization: `Bearer ${token}`, 'x-tenant-id': 'acme' };
    return await service.app.inject({ method: 'POST', url: '/api/v1/schedules/preview', payload, headers });
  };

  it('shows the next times of a schedule, in its zone', async () => {
    const { data } = (await preview({ schedule: '0 2 * * MON-FRI', zone: 'Europe/Berlin', count: 3 })).json();
    expect(data).toMatchObject({
      schedule: '0 2 * * MON-FRI',
      zone: 'Europe/Berlin',
      in_words: 'at 02:00 on Monday to Friday',
    });
    expect(data.next).toHaveLength(3);
    for (const time of data.next) expect(time).toMatch(/T0[01]:00:00\.000Z$/);
    const usual = (await preview({ schedule: '@hourly' })).json().data;
    expect([usual.zone, usual.next.length]).toEqual([service.context.config.queue.timezone, 5]);
  });

  it.each<[object, string]>([
    [{ schedule: 'x' }, 'schedule'],
    [{ schedule: '* * * * * *' }, 'schedule'],
    [{ schedule: '0 0 31 2 *' }, 'schedule'],
    [{ schedule: `${'1,'.repeat(5000)}1 * * * *` }, 'schedule'],
    [{ schedule: '@daily', zone: 'Mars/Olympus' }, 'zone'],
    [{ schedule: '@daily', zone: '../../etc/passwd' }, 'zone'],
    [{ schedule: '@daily', count: 21 }, 'count'],
    [{ schedule: '@daily', count: 1.5 }, 'count'],
    [{}, 'schedule'],
  ])('rejects a request (%#)', async (payload, field) => {
    const response = await preview(payload);
    expect([response.statusCode, response.json().error.details.fields[0].field]).toEqual([400, field]);
  });
});
