import { afterEach, describe, expect, it } from 'vitest';
import { postgresObstacle, storeDatabase } from '../../../test/postgres.ts';
import { openService, type Service } from '../fixtures/service.ts';

const own: Service[] = [];
afterEach(async () => {
  for (const one of own.splice(0)) await one.close();
});
async function serviceWith(
  flags: Record<string, unknown>,
  working = false,
  database?: string,
): Promise<Service> {
  const one = await openService(flags, { working, ...(database !== undefined && { database }) });
  own.push(one);
  return one;
}

const gc = (service: Service, payload?: unknown) =>
  service.app.inject({
    method: 'POST',
    url: '/api/v1/workspace/gc',
    ...(payload !== undefined && { payload: payload as object }),
  });

async function finished(service: Service, name: string): Promise<string> {
  const scanId = await service.submit(name);
  await service.store.scans.update(scanId, { status: 'failed' });
  return scanId;
}

/** Begins a collection that goes on until `end`. */
async function beginHeld({ store, workspace, context }: Service) {
  const gate = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const space = { tenant: null, store: store.forTenant(null), workspace };
  const tenants = space.store.scanAges.tenants.bind(space.store.scanAges);
  space.store.scanAges.tenants = async () => {
    begun.resolve();
    await gate.promise;
    return tenants();
  };
  const ended = context.garbage.collect(space, { keep_last: 9 });
  await begun.promise;
  return {
    end: () => {
      gate.resolve();
      return ended;
    },
  };
}

describe('POST /workspace/gc', () => {
  it('deletes expired data, keeps what is pending and reports both', async () => {
    const service = await serviceWith({});
    const done = await finished(service, 'a');
    const waits = await service.submit('b');
    const dry = (await gc(service, { keep_last: 0, dry_run: true })).json().data;
    expect(dry).toMatchObject({ dry_run: true, deleted_scans: [done], kept_count: 1 });
    const response = await gc(service, { keep_last: 0, colour: 'red' });
    expect(response.statusCode).toBe(200);
    expect(response.json().data).toEqual({ ...dry, dry_run: false });
    expect(response.json().meta.warnings).toEqual(['unknown field: colour']);
    const left = await Array.fromAsync(service.store.scanAges.newestFirst());
    expect(left.map(({ scan_id }) => scan_id)).toEqual([waits]);
  });

  it('applies the configured retention to an empty body, `{}` and no body', async () => {
    const service = await serviceWith({});
    await finished(service, 'a');
    for (const payload of [undefined, '', {}]) {
      const response = await gc(service, payload);
      expect([response.statusCode, response.json().data?.deleted_count]).toEqual([200, 0]);
    }
    const headers = { 'content-type': 'application/json' };
    const typed = await service.app.inject({ method: 'POST', url: '/api/v1/workspace/gc', headers });
    expect([typed.statusCode, typed.json().data?.deleted_count]).toEqual([200, 0]);
    const kept = await serviceWith({
      'workspace.retention.enabled': true,
      'workspace.retention.max_scans': 1,
    });
    for (const name of ['a', 'b']) await finished(kept, name);
    const { data } = (await gc(kept)).json();
    expect(data.deleted_count).toBe(1);
    expect(data.policy.retention.max_scans).toBe(1);
  });

  it.each([
    { older_than: '5m' },
    { older_than: '30' },
    { older_than: 30 },
    { older_than: '' },
    { keep_last: -1 },
    { keep_last: 1.5 },
    { keep_last: '1' },
    { keep_last: null },
    { dry_run: 'yes' },
  ])('refuses %j', async (payload) => {
    const service = await serviceWith({});
    const scan = await finished(service, 'a');
    const response = await gc(service, payload);
    expect([response.statusCode, response.json().error.code]).toEqual([400, 'invalid_request']);
    expect(response.json().error.details.fields[0].field).toBe(Object.keys(payload)[0]);
    expect(await service.store.scans.get(scan)).not.toBeNull();
  });

  it('responds 409 to a concurrent second one', async () => {
    const service = await serviceWith({});
    const first = await beginHeld(service);
    const second = await gc(service, { keep_last: 0 });
    expect([second.statusCode, second.json().error.code]).toEqual([409, 'conflict']);
    expect((await first.end()).deleted_count).toBe(0);
    expect((await gc(service, { keep_last: 0 })).statusCode).toBe(200);
  });

  it('requires workspace:write or scan:write', async () => {
    const service = await serviceWith({ 'server.api.auth': true });
    const status = async (scope: string) => {
      const headers = { authorization: `Bearer ${await service.token(scope)}` };
      return (await service.app.inject({ method: 'POST', url: '/api/v1/workspace/gc', headers })).statusCode;
    };
    expect(await status('workspace:read')).toBe(403);
    expect(await status('workspace:write')).toBe(200);
    expect(await status('scan:write')).toBe(200);
  });
});

describe('the configured retention', () => {
  it('is applied after each scan', async () => {
    const service = await serviceWith(
      { 'workspace.retention.enabled': true, 'workspace.retention.max_scans': 1, 'server.workers': 1 },
      true,
    );
    const first = await service.submit('rows 1');
    await service.until(first, ({ status }) => status === 'completed');
    const second = await service.submit('rows 1');
    await service.until(second, ({ status }) => status === 'completed');
    await expect.poll(() => service.store.scans.get(first)).toBeNull();
    expect(await service.workspace.scan(first).exists()).toBe(false);
    expect(await service.store.scans.get(second)).not.toBeNull();
  });

  it('is applied at the start', async () => {
    const service = await serviceWith({
      'workspace.retention.enabled': true,
      'workspace.retention.max_age': '1s',
    });
    const scan = await finished(service, 'a');
    await service.store.scans.update(scan, { created_at: '2020-01-01T00:00:00.000Z' });
    service.context.garbage.start();
    await expect.poll(() => service.store.scans.get(scan)).toBeNull();
  });

  it('keeps finished scans when min_free_space cannot be reached, and says so', async () => {
    const service = await serviceWith(
      {
        'workspace.retention.enabled': true,
        'workspace.retention.min_free_space': '900TB',
        'workspace.retention.protect': 0,
      },
      true,
    );
    const warnings: unknown[] = [];
    service.context.log.warn = (...line: unknown[]) => void warnings.push(line);
    service.context.garbage.start();
    await expect.poll(() => service.context.garbage.shortfall).not.toBeNull();
    const scan = await service.submit('rows 1');
    await service.until(scan, ({ status }) => status === 'completed');
    // After the run that the end of the scan started.
    await expect.poll(async () => (await gc(service)).json().data?.deleted_scans).toEqual([]);
    expect((await service.app.inject({ url: `/api/v1/scans/${scan}/results` })).statusCode).toBe(200);
    const { checks } = (await service.app.inject({ url: '/api/v1/health' })).json().data;
    expect(checks).toContainEqual(
      expect.objectContaining({ name: 'retention', message: expect.stringMatching(/cannot reach/) }),
    );
    expect(warnings).toEqual([
      [
        expect.objectContaining({ clearable: 0 }),
        expect.stringMatching(/cannot reach workspace.retention.min_free_space/),
      ],
    ]);
  });

  it('reports a full disk in the health response', async () => {
    const service = await serviceWith({ 'workspace.retention.min_free_space': '900TB' });
    const { checks } = (await service.app.inject({ url: '/api/v1/health' })).json().data;
    expect(checks).toContainEqual(expect.objectContaining({ name: 'disk_space', status: 'degraded' }));
  });
});

describe.skipIf(postgresObstacle() !== null)('of two servers on one database', () => {
  it('one collects garbage at a time: a request to the other one gets 409, retention waits', async () => {
    const database = await storeDatabase();
    const one = await serviceWith({}, false, database);
    const other = await serviceWith(
      { 'workspace.retention.enabled': true, 'workspace.retention.max_age': '1s' },
      false,
      database,
    );
    const held = await beginHeld(one);
    const scan = await finished(other, 'a');
    await other.store.scans.update(scan, { created_at: '2020-01-01T00:00:00.000Z' });
    other.context.garbage.start();
    await expect.poll(async () => (await gc(other, { keep_last: 0 })).statusCode).toBe(409);
    expect(await other.store.scans.get(scan)).not.toBeNull();
    await held.end();
    await expect.poll(() => other.store.scans.get(scan), { timeout: 10_000 }).toBeNull();
  });
});
