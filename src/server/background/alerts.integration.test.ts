import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { postgresObstacle, storeDatabase } from '../../../test/postgres.ts';
import { openService, type Service } from '../fixtures/service.ts';

let dir: string;
const opened: Service[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-alerts-'));
});
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close({ keep: true });
  await rm(dir, { recursive: true, force: true });
});

async function open(rules: string, flags: Record<string, unknown> = {}): Promise<Service> {
  const file = join(dir, 'alerts.yaml');
  await writeFile(file, rules);
  const service = await openService({ 'alerts.file': file, ...flags }, { dir });
  opened.push(service);
  return service;
}

/** Stops the service and starts another one on its store. */
async function restarted(rules: string): Promise<Service> {
  await opened.pop()?.close({ keep: true });
  return await open(rules);
}

const backlog =
  '- {name: backlog, condition: queue_length > 1, action: "slack,webhook:ops", message: Long}\n';

/** Pending notices. */
async function pending({ store }: Service) {
  const rows = await store.outbox.due(store.executor, Date.now() + 1000, 100);
  return rows.map(({ channel, payload }) => ({ channel, ...(JSON.parse(payload ?? '{}') as object) }));
}

async function listed({ context }: Service) {
  return (await context.alerts.list()).map(({ name, state, error }) => ({ name, state, error }));
}

describe('the evaluation of alerts', () => {
  it('stores one notice for each channel on the rising edge, and one when it resolves', async () => {
    const service = await open(backlog);
    const { alerts } = service.context;
    await service.submit('one');
    await alerts.evaluate();
    expect(await pending(service)).toEqual([]);
    const second = await service.submit('two');
    await alerts.evaluate();
    await alerts.evaluate();
    const [firing] = (await service.context.alerts.list()).map(({ since }) => since);
    const notice = {
      event: 'alert',
      name: 'backlog',
      condition: 'queue_length > 1',
      message: 'Long',
      fired_at: firing,
    };
    const fired = { ...notice, state: 'firing', values: { queue_length: 2 } };
    const sent = [
      { channel: 'slack://default', ...fired },
      { channel: 'webhook://ops', ...fired },
    ];
    expect(await pending(service)).toEqual(expect.arrayContaining(sent));
    expect(await pending(service)).toHaveLength(2);
    await service.app.inject({ method: 'POST', url: `/api/v1/scans/${second}/cancel` });
    await alerts.evaluate();
    await alerts.evaluate();
    const resolved = { ...notice, state: 'resolved', values: { queue_length: 1 } };
    expect(await pending(service)).toHaveLength(4);
    expect(await pending(service)).toEqual(
      expect.arrayContaining([{ channel: 'slack://default', ...resolved }]),
    );
  });

  it('neither repeats nor loses a notice over a restart', async () => {
    let service = await open(backlog);
    const ids = [await service.submit('one'), await service.submit('two')];
    await service.context.alerts.evaluate();
    expect(await pending(service)).toHaveLength(2);
    service = await restarted(backlog);
    await service.context.alerts.evaluate();
    expect(await pending(service)).toHaveLength(2);
    await service.app.inject({ method: 'POST', url: `/api/v1/scans/${ids[0]}/cancel` });
    service = await restarted(backlog);
    await service.context.alerts.evaluate();
    expect(
      (await pending(service)).filter((notice) => 'state' in notice && notice.state === 'resolved'),
    ).toHaveLength(2);
  });

  it('starts an edited rule anew, and forgets one that is gone', async () => {
    let service = await open(backlog);
    for (const name of ['one', 'two', 'three']) await service.submit(name);
    await service.context.alerts.evaluate();
    service = await restarted(backlog.replace('> 1', '> 2'));
    expect(await listed(service)).toEqual([{ name: 'backlog', state: 'inactive', error: null }]);
    await service.context.alerts.evaluate();
    expect(await pending(service)).toHaveLength(4);
    service = await restarted(backlog.replace('> 1', '> 2').replace('Long', 'Very long'));
    await service.context.alerts.evaluate();
    expect(await pending(service)).toHaveLength(4);
    service = await restarted('[]');
    await service.context.alerts.evaluate();
    expect(await service.store.alertStates.all()).toEqual([]);
    expect(await pending(service)).toHaveLength(4);
  });

  it('says in health which rules cannot be evaluated, and goes on with the others', async () => {
    const broken = '- {name: broken, condition: 1 / 0 == 1, action: slack}\n';
    const service = await open(broken + backlog.replace('> 1', '== 0'));
    await service.context.alerts.evaluate();
    await service.context.alerts.evaluate();
    expect(await listed(service)).toEqual([
      { name: 'broken', state: 'inactive', error: 'division by zero' },
      { name: 'backlog', state: 'firing', error: null },
    ]);
    expect(service.context.alerts.fault).toBe('cannot be evaluated: broken');
    const health = await service.app.inject('/api/v1/health');
    expect(health.json<{ checks: object[] }>().checks).toContainEqual({
      name: 'alerts',
      status: 'degraded',
      message: 'cannot be evaluated: broken',
    });
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['slack', {}, 'notifications.slack.webhook_url is not set'],
    ['email', { 'notifications.email.smtp_server': 'localhost' }, 'notifications.email.from is not set'],
    ['webhook:ops', {}, 'no webhook of this name in notifications.webhooks'],
    [
      'slack',
      {
        'notifications.slack.webhook_url': 'http://127.0.0.1:9/',
        'notifications.rules': JSON.stringify([{ channels: [], events: ['scan.failed'] }]),
      },
      'no entry of notifications.rules sends alerts to this channel',
    ],
  ])('says at the start that %s gets no messages with %j', async (action, flags, missing) => {
    const rules = backlog.replace('slack,webhook:ops', action);
    const service = await open(rules, { 'logging.output': 'file', ...flags });
    service.context.alerts.start();
    await opened.pop()?.close({ keep: true });
    const [line = ''] = (await readFile(join(dir, 'ws', 'logs', 'portolan.log'), 'utf8'))
      .split('\n')
      .filter((text) => text.includes('alerts have a channel that gets no messages'));
    expect(line).toContain(missing);
  });

  it('keeps a pending alert silent until its condition has held for long enough', async () => {
    const service = await open(backlog.replace('> 1', '== 0').replace('}', ', for: 1h}'));
    await service.context.alerts.evaluate();
    await service.context.alerts.evaluate();
    expect(await listed(service)).toMatchObject([{ state: 'pending' }]);
    expect(await pending(service)).toEqual([]);
  });

  it('repeats nothing when the system clock jumps, and counts no time in which nobody looked', async () => {
    const service = await open(
      backlog.replace('> 1', '== 0') +
        '- {name: later, condition: queue_length == 0, action: slack, for: 30m}\n',
    );
    const { alerts } = service.context;
    const [wall, steady] = [Date.now.bind(Date), performance.now.bind(performance)];
    await alerts.evaluate();
    for (const hours of [1, -2, 24]) {
      vi.spyOn(Date, 'now').mockImplementation(() => wall() + hours * 3_600_000);
      await alerts.evaluate();
    }
    vi.restoreAllMocks();
    // The process hung: two intervals of thirty seconds count.
    vi.spyOn(performance, 'now').mockImplementation(() => steady() + 7_200_000);
    await alerts.evaluate();
    vi.restoreAllMocks();
    expect(await listed(service)).toMatchObject([{ state: 'firing' }, { state: 'pending' }]);
    expect(await pending(service)).toHaveLength(2);
  });

  it('loses nothing when its store fails for a while', async () => {
    const service = await open(backlog.replace('> 1', '== 0'));
    const { transaction } = service.store;
    service.store.transaction = async () => {
      throw new Error('disk full');
    };
    await service.context.alerts.evaluate();
    expect(service.context.alerts.fault).toBe('alerts cannot be evaluated now; see the log');
    service.store.transaction = transaction;
    await service.context.alerts.evaluate();
    expect(service.context.alerts.fault).toBeNull();
    expect(await pending(service)).toHaveLength(2);
  });
});

describe.skipIf(postgresObstacle() !== null)('servers on one database', () => {
  async function pair(): Promise<[Service, Service]> {
    const database = await storeDatabase();
    const file = join(dir, 'alerts.yaml');
    await writeFile(file, backlog.replace('> 1', '== 0'));
    const open = async (name: string) => {
      const service = await openService({ 'alerts.file': file }, { dir: join(dir, name), database });
      opened.push(service);
      return service;
    };
    return [await open('first'), await open('second')];
  }

  it('send each notice once, from the one that holds the lease', async () => {
    const [first, second] = await pair();
    await first.context.alerts.evaluate();
    for (let round = 0; round < 5; round++)
      await Promise.all([first, second].map(({ context }) => context.alerts.evaluate()));
    expect([(await pending(first)).length, (await pending(second)).length]).toEqual([2, 0]);
    expect(await first.store.leases.holder('alerts')).toBe(first.store.executor);
    expect(await listed(second)).toEqual([{ name: 'backlog', state: 'firing', error: null }]);
  });

  it('take over from one that stops or dies, with the notices that it has not sent', async () => {
    const [first, second] = await pair();
    await first.context.alerts.evaluate();
    // As after a crash: the lease expires.
    await first.store.execute('update portolan.leases set lease_until = 1', []);
    await second.context.alerts.evaluate();
    expect([(await pending(first)).length, (await pending(second)).length]).toEqual([0, 2]);
    // The server that lost its lease detects that, and waits.
    await first.context.alerts.evaluate();
    expect((await pending(second)).length).toBe(2);
    expect(await second.store.leases.holder('alerts')).toBe(second.store.executor);
    await second.context.alerts.close();
    await first.context.alerts.evaluate();
    expect([(await pending(first)).length, (await pending(second)).length]).toEqual([2, 0]);
  });
});

describe('GET /api/v1/alerts', () => {
  it('lists rules, states and values to whoever may read metrics', async () => {
    const service = await open(
      `${backlog}- {name: idle, condition: worker_utilization < 0.1, action: email, for: 90s}\n`,
      {
        'server.api.auth': true,
      },
    );
    await service.context.alerts.evaluate();
    const get = async (...scopes: string[]) =>
      await service.app.inject({
        url: '/api/v1/alerts',
        headers: { authorization: `Bearer ${await service.token(...scopes)}` },
      });
    expect((await service.app.inject('/api/v1/alerts')).statusCode).toBe(401);
    expect((await get('scan:read')).statusCode).toBe(403);
    const response = await get('metrics:read');
    expect(response.statusCode).toBe(200);
    const { alerts, values } = response.json<{ data: { alerts: object[]; values: Record<string, number> } }>()
      .data;
    expect(alerts).toEqual([
      {
        name: 'backlog',
        state: 'inactive',
        since: expect.stringMatching(/^\d{4}-.*Z$/),
        condition: 'queue_length > 1',
        for_seconds: 0,
        action: 'slack,webhook:ops',
        message: 'Long',
        error: null,
        // Files are shown to those who may change them.
        origin: null,
      },
      {
        name: 'idle',
        state: 'pending',
        since: expect.stringMatching(/^\d{4}-.*Z$/),
        condition: 'worker_utilization < 0.1',
        for_seconds: 90,
        action: 'email',
        message: 'worker_utilization < 0.1',
        error: null,
        // Files are shown to those who may change them.
        origin: null,
      },
    ]);
    expect(values).toMatchObject({
      error_rate: 0,
      queue_length: 0,
      scans_failed_15m: 0,
      vulndb_age_days: null,
    });
    expect(values['free_space_mb']).toBeGreaterThan(0);
    expect(values['workers_alive']).toBeGreaterThan(0);
  });
});
