import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, type TestContext, vi } from 'vitest';
import { type Behavior, HttpReceiver } from '../../../test/receivers.ts';
import { isFinal, type Scan } from '../../domain/scan.ts';
import { OwnNotifications } from '../../queue/notification-queue.ts';
import { recordIn } from '../../workspace/record/folder-record.ts';
import { openService, type Service } from '../fixtures/service.ts';
import { Notifier } from './notifier.ts';

type Finish = TestContext['onTestFinished'];

/** Resources of a test; closed after it in reverse order. */
function opened(onTestFinished: Finish) {
  const open: { close(): Promise<unknown> }[] = [];
  onTestFinished(async () => {
    for (const one of open.splice(0).reverse()) await one.close();
  });
  return {
    open,
    async http(behaviour?: Behavior) {
      const receiver = new HttpReceiver(behaviour);
      const url = await receiver.listen();
      open.push(receiver);
      return { receiver, url };
    },
    async start(flags: Record<string, unknown>, options: Parameters<typeof openService>[1] = {}) {
      const service = await openService(flags, { working: true, notifying: quick, ...options });
      open.push(service);
      return service;
    },
  };
}

const quick = { timeoutMs: 5000, delaysMs: [100, 400] };

const settled = ({ status, notifications }: Scan) =>
  isFinal(status) && notifications.every((one) => one.status !== 'pending');

async function checks(service: Service): Promise<{ name: string; status: string; message: string }[]> {
  const answer = await service.app.inject({ url: '/api/v1/health' });
  return answer.json().checks.filter(({ name }: { name: string }) => name === 'notifications');
}

const hookTo = (url: string, name = 'siem') => JSON.stringify([{ name, url, secret: 'hunter2' }]);

describe('notifications of a scan', { concurrent: true }, () => {
  it('are delivered after its end, once, and stand in its detail', async ({ onTestFinished }) => {
    const { http, start } = opened(onTestFinished);
    const { receiver, url } = await http();
    const ended: string[] = [];
    const notifying = { ...quick, onEnd: (...facts: string[]) => void ended.push(facts.join(' ')) };
    const service = await start({ 'notifications.slack.webhook_url': url }, { notifying });
    const notifications = ['slack://security', 'slack://security', 'email://a@b.example'];
    const hanging = await service.submit('hang', { notifications });
    const waits = await service.until(hanging, ({ results }) => results.live_hosts === 1);
    expect(waits.notifications).toEqual([
      { channel: 'slack://security', status: 'pending', attempts: 0, error: null },
      { channel: 'email://a@b.example', status: 'pending', attempts: 0, error: null },
    ]);
    expect(receiver.received).toEqual([]);
    await service.app.inject({ method: 'POST', url: `/api/v1/scans/${hanging}/cancel` });
    const scan = await service.until(hanging, settled);
    const outcome = [
      { channel: 'slack://security', status: 'delivered', attempts: 1, error: null },
      {
        channel: 'email://a@b.example',
        status: 'skipped',
        attempts: 0,
        error: 'notifications.email.smtp_server is not set',
      },
    ];
    expect(scan.notifications).toEqual(outcome);
    expect(receiver.received.map(({ body }) => (JSON.parse(body) as { text: string }).text)).toEqual([
      expect.stringContaining(`Scan ${hanging} canceled: 1 live host,`),
    ]);
    await vi.waitFor(() => expect(ended.toSorted()).toEqual(['email skipped', 'slack delivered']), 30_000);
    expect(await service.store.outbox.ofScan(hanging)).toEqual([]);
    expect(await checks(service)).toEqual([]);
  });

  it('of a scan that never ran, and that names no channel, go to the default ones', async ({
    onTestFinished,
  }) => {
    const { http, start } = opened(onTestFinished);
    const { receiver, url } = await http();
    const service = await start({
      'server.workers': 1,
      'notifications.default_channels': 'webhook://siem',
      'notifications.webhooks': hookTo(url),
    });
    await service.submit('hang', { notifications: ['webhook://other'] });
    const waits = await service.submit('rows 1');
    await service.app.inject({ method: 'POST', url: `/api/v1/scans/${waits}/cancel` });
    const { notifications } = await service.until(waits, settled);
    expect(notifications).toEqual([
      { channel: 'webhook://siem', status: 'delivered', attempts: 1, error: null },
    ]);
    const file = join(service.workspace.scan(waits).path, 'status.json');
    const written = async () =>
      expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ state: 'failed', notifications });
    await vi.waitFor(written, 30_000);
    expect(JSON.parse(receiver.received[0]?.body ?? '{}')).toMatchObject({
      scan_id: waits,
      status: 'failed',
    });
  });

  it('are tried three times with growing pauses; the scan is not touched, the failure is visible', async ({
    onTestFinished,
  }) => {
    const { http, start } = opened(onTestFinished);
    const { receiver, url } = await http(() => ({ status: 500 }));
    const service = await start(
      {
        'notifications.webhooks': hookTo(`${url}/hook-of-secret`),
        'logging.file.enabled': true,
        'logging.level': 'trace',
      },
      {},
    );
    const scanId = await service.submit('rows 3', { notifications: ['webhook://siem'] });
    const ended = await service.until(scanId, ({ status }) => isFinal(status));
    expect([ended.status, ended.error, ended.results.live_hosts]).toEqual(['completed', null, 3]);
    const between = await service.until(scanId, ({ notifications }) => notifications[0]?.attempts === 1);
    expect(between.notifications[0]).toMatchObject({ status: 'pending', error: 'HTTP 500' });
    const { notifications, status } = await service.until(scanId, settled);
    expect(notifications).toEqual([
      { channel: 'webhook://siem', status: 'failed', attempts: 3, error: 'HTTP 500' },
    ]);
    expect(status).toBe('completed');
    await sleep(600);
    expect(receiver.received).toHaveLength(3);
    expect(new Set(receiver.received.map(({ headers }) => headers['x-service-delivery'])).size).toBe(1);
    expect(await checks(service)).toEqual([
      {
        name: 'notifications',
        status: 'degraded',
        message: 'delivery of the last message failed: webhook',
      },
    ]);
    const detail = await service.app.inject({ url: `/api/v1/scans/${scanId}` });
    const log = await readFile(join(service.workspace.dir, 'logs', 'portolan.log'), 'utf8');
    expect(log).toContain('notification dropped');
    for (const text of [log, detail.body]) expect(text).not.toMatch(/hunter2|hook-of-secret/);
  });

  it('wait between the tries as long as the delays say', async ({ onTestFinished }) => {
    const { http, start } = opened(onTestFinished);
    const { receiver, url } = await http(() => ({ status: 500 }));
    const delaysMs = [3_600_000, 7_200_000];
    const service = await start(
      { 'notifications.webhooks': hookTo(url) },
      { notifying: { timeoutMs: 60_000, delaysMs } },
    );
    const { outbox, executor } = service.store;
    const due = async (now: number) => (await outbox.due(executor, now, 10)).map(({ attempts }) => attempts);
    let before = Date.now();
    const scanId = await service.submit('rows 1', { notifications: ['webhook://siem'] });
    for (const [index, delayMs] of delaysMs.entries()) {
      const attempts = index + 1;
      await service.until(scanId, ({ notifications }) => notifications[0]?.attempts === attempts);
      expect([receiver.received.length, await due(before + delayMs - 1)]).toEqual([attempts, []]);
      expect(await due(Date.now() + delayMs)).toEqual([attempts]);
      before = Date.now();
      const [owed] = await outbox.ofScan(scanId);
      await outbox.postpone(owed?.id ?? '', attempts, before);
      service.context.notifier.wake();
    }
    expect((await service.until(scanId, settled)).notifications[0]).toMatchObject({
      status: 'failed',
      attempts: 3,
    });
  });

  it('of a dead receiver neither delay scans nor the messages to another one', async ({ onTestFinished }) => {
    const { http, start } = opened(onTestFinished);
    const dead = await http(() => 'hang');
    const alive = await http();
    const flags = {
      'notifications.webhooks': JSON.stringify([
        { name: 'dead', url: dead.url },
        { name: 'alive', url: alive.url },
      ]),
    };
    const service = await start(flags, { notifying: { timeoutMs: 1000, delaysMs: [100, 400] } });
    const scans: string[] = [];
    for (let i = 0; i < 6; i++)
      scans.push(await service.submit('rows 1', { notifications: ['webhook://dead', 'webhook://alive'] }));
    for (const scanId of scans)
      await service.until(scanId, (scan) => scan.notifications[1]?.status === 'delivered');
    const told = alive.receiver.received.map(({ body }) => (JSON.parse(body) as Scan).scan_id);
    expect(new Set(told)).toEqual(new Set(scans));
    const { notifications } = await service.until(scans[0] as string, settled, 30_000);
    expect(notifications[0]).toMatchObject({ status: 'failed', attempts: 3, error: 'timed out' });
  });

  it.for([
    [60_000, 'two at a time', 2],
    [1500, 'not longer than a try', 6],
  ] as const)('of a receiver that hangs are tried for %i ms: %s', async (row, { onTestFinished }) => {
    const [timeoutMs, , tries] = row;
    const { http, start } = opened(onTestFinished);
    const { receiver, url } = await http(() => 'hang');
    const flags = { 'notifications.webhooks': hookTo(url) };
    const service = await start(flags, { working: false, notifying: { timeoutMs, delaysMs: [3_600_000] } });
    for (let i = 0; i < 6; i++) {
      const scanId = await service.submit('rows 1', { notifications: ['webhook://siem'] });
      await service.store.scans.update(scanId, { status: 'failed' });
    }
    await service.context.notifier.start();
    await vi.waitFor(() => expect(receiver.received).toHaveLength(tries), 30_000);
    await sleep(500);
    expect(receiver.received).toHaveLength(tries);
  });

  it.for([
    [1, 150],
    [6, 3],
  ] as const)(
    'of %i receivers that hang, %i each, delay no message to another one',
    async (row, { onTestFinished }) => {
      const [receivers, each] = row;
      const { http, start } = opened(onTestFinished);
      const dead = await http(() => 'hang');
      const alive = await http();
      const names = Array.from({ length: receivers }, (_, n) => `dead-${n}`);
      const webhooks = [{ name: 'alive', url: alive.url }, ...names.map((name) => ({ name, url: dead.url }))];
      const flags = { 'notifications.webhooks': JSON.stringify(webhooks) };
      // No attempt ends while the test runs.
      const service = await start(flags, { working: false, notifying: { timeoutMs: 120_000, delaysMs: [] } });
      const { outbox, executor: owner } = service.store;
      const payload = {
        event: 'alert',
        name: 'a',
        state: 'firing',
        condition: 'c',
        values: {},
        message: 'm',
      };
      const notice = { event: 'alert', payload: { ...payload, fired_at: 'now' }, owner, tenant: null };
      const channels = names.map((name) => `webhook://${name}`);
      for (let i = 0; i < each; i++) await outbox.addNotice({ ...notice, channels }, i);
      await outbox.addNotice({ ...notice, channels: ['webhook://alive'] }, each);
      await service.context.notifier.start();
      await vi.waitFor(() => expect(alive.receiver.received).toHaveLength(1), 10_000);
      await vi.waitFor(() => expect(dead.receiver.received.length).toBeGreaterThanOrEqual(receivers), 10_000);
      // At most two per receiver.
      expect(dead.receiver.received.length).toBeLessThanOrEqual(receivers * 2);
    },
  );

  it('recover: the health answer is good again after a delivery, and after a change of the settings', async ({
    onTestFinished,
  }) => {
    const { http, start } = opened(onTestFinished);
    let works = false;
    const { url } = await http(() => ({ status: works ? 200 : 503 }));
    const notifying = { timeoutMs: 5000, delaysMs: [] };
    const service = await start({ 'notifications.webhooks': hookTo(url) }, { notifying });
    const send = async () =>
      await service.until(await service.submit('rows 1', { notifications: ['webhook://siem'] }), settled);
    await send();
    expect(await checks(service)).toHaveLength(1);
    works = true;
    await send();
    expect(await checks(service)).toEqual([]);
    works = false;
    await send();
    service.context.notifier.forgetFailures();
    expect(await checks(service)).toEqual([]);
  });

  it('that are owed at a stop wait for the next start, and a dead command line leaves its own to the server', async ({
    onTestFinished,
  }) => {
    const { http, start } = opened(onTestFinished);
    const { receiver, url } = await http(() => 'hang');
    const flags = { 'notifications.webhooks': hookTo(url) };
    const service = await openService(flags, { working: true, notifying: { timeoutMs: 120_000 } });
    const scanId = await service.submit('rows 1', { notifications: ['webhook://siem'] });
    await service.until(scanId, ({ status }) => status === 'completed');
    while (receiver.received.length === 0) await sleep(20);
    await service.store.outbox.handOver('server', 'cli:4194303');
    // The attempt would wait for a response longer than a test may take.
    await service.close({ keep: true });

    const good = await http();
    const next = await start({ 'notifications.webhooks': hookTo(good.url) }, { dir: service.dir });
    const { notifications } = await next.until(scanId, settled);
    expect(notifications).toEqual([
      { channel: 'webhook://siem', status: 'delivered', attempts: 1, error: null },
    ]);
    const ids = [...receiver.received, ...good.receiver.received].map(
      ({ headers }) => headers['x-service-delivery'],
    );
    expect([ids.length, new Set(ids).size]).toEqual([2, 1]);
  });

  it('without a scan are delivered as well; a dropped one is in the log, the metrics and health', async ({
    onTestFinished,
  }) => {
    const { http, start } = opened(onTestFinished);
    let works = true;
    const { receiver, url } = await http(() => ({ status: works ? 200 : 503 }));
    const ended: string[] = [];
    const notifying = {
      timeoutMs: 5000,
      delaysMs: [100],
      onEnd: (...facts: string[]) => void ended.push(facts.join(' ')),
    };
    const flags = { 'notifications.webhooks': hookTo(url), 'logging.file.enabled': true };
    const service = await start(flags, { notifying });
    const alert = {
      event: 'alert',
      name: 'low-disk',
      state: 'firing',
      condition: 'free_space_mb < 10000',
      values: { free_space_mb: 17 },
      message: 'Disk is filling',
      fired_at: '2026-10-06T14:30:22.000Z',
    } as const;
    const { outbox, executor: owner } = service.store;
    const send = async (event: string, payload: object, channels = ['webhook://siem']) => {
      await outbox.addNotice({ event, payload, channels, owner, tenant: null }, Date.now());
      service.context.notifier.wake();
      const sent = async () => expect(await outbox.owners()).toEqual([]);
      await vi.waitFor(sent, 30_000);
    };
    await send('alert', alert, ['webhook://siem', 'email://a@b.example']);
    expect(receiver.received.map(({ body }) => JSON.parse(body) as object)).toEqual([alert]);
    await vi.waitFor(() => expect(ended.toSorted()).toEqual(['email skipped', 'webhook delivered']), 30_000);
    expect(await checks(service)).toEqual([]);

    // Notices of another version or a damaged file are not sent, and are deleted.
    await send('moon.full', {});
    await send('alert', { ...alert, state: 'maybe' });
    expect(receiver.received).toHaveLength(1);

    works = false;
    await send('alert', alert);
    await vi.waitFor(() => expect(ended.at(-1)).toBe('webhook failed'), 30_000);
    expect(receiver.received).toHaveLength(3);
    expect(await checks(service)).toMatchObject([{ name: 'notifications', status: 'degraded' }]);
    const log = await readFile(join(service.workspace.dir, 'logs', 'portolan.log'), 'utf8');
    const dropped = log.split('\n').find((line) => line.includes('notification dropped'));
    expect(dropped).toMatch(/alert.*webhook:\/\/siem.*HTTP 503/);
    for (const text of ['does not know the event', 'is damaged']) expect(log).toContain(text);
  });

  it('of runs of a job say what changed: the first one everything, one that finds nothing new is silent', async ({
    onTestFinished,
  }) => {
    const { http, start } = opened(onTestFinished);
    const { receiver, url } = await http();
    const flags = {
      'server.workers': 1,
      'notifications.webhooks': hookTo(url),
      'notifications.rules': JSON.stringify([{ channels: ['webhook://siem'], only_changes: true }]),
    };
    const service = await start(flags, { working: false });
    const { clientJobs, jobRuns } = service.store;
    const at = (minute: number) => `2026-10-06T14:0${minute}:00.000Z`;
    const job = {
      job_id: 'job-00000001',
      created_at: at(0),
      type: 'scan' as const,
      pool: 'default',
      priority: 5,
      name: null,
    };
    const turns = { schedule: '0 3 * * *', zone: 'UTC', next_run_at: at(9), created_by: null };
    await clientJobs.insert({ ...job, ...turns, params: { targets: ['127.0.0.1'] } });
    const runs: string[] = [];
    for (let minute = 1; minute <= 2; minute++) {
      // The rule adds its channel: the submission has none.
      const scanId = await service.submit('rows 1');
      await jobRuns.startRun(job.job_id, { fireAt: at(minute), scanId, now: at(minute), next: at(9) });
      runs.push(scanId);
    }
    const [first = '', second = ''] = runs;
    await service.workers.start();
    await service.context.notifier.start();
    const channel = 'webhook://siem';
    expect((await service.until(first, settled)).notifications).toEqual([
      { channel, status: 'delivered', attempts: 1, error: null },
    ]);
    expect((await service.until(second, settled)).notifications).toEqual([
      { channel, status: 'skipped', attempts: 0, error: `nothing new since ${first}` },
    ]);
    expect(receiver.received.map(({ body }) => JSON.parse(body) as object)).toEqual([
      expect.objectContaining({
        event: 'scan.changed',
        scan_id: first,
        changes: expect.objectContaining({ against: null, new_count: 0 }),
      }),
    ]);
  });

  it('go with a deleted scan', async ({ onTestFinished }) => {
    const { http, start } = opened(onTestFinished);
    const { receiver, url } = await http(() => ({ status: 500 }));
    const service = await start(
      { 'notifications.webhooks': hookTo(url) },
      { notifying: { timeoutMs: 5000, delaysMs: [300, 300] } },
    );
    const scanId = await service.submit('rows 1', { notifications: ['webhook://siem'] });
    await service.until(scanId, ({ notifications }) => notifications[0]?.attempts === 1);
    await service.app.inject({ method: 'DELETE', url: `/api/v1/scans/${scanId}` });
    await sleep(700);
    expect(receiver.received).toHaveLength(1);
    expect(await service.store.outbox.owners()).toEqual([]);
  });

  it('are not sent twice because the outcome cannot be stored at once', async ({ onTestFinished }) => {
    const { open, http } = opened(onTestFinished);
    const { receiver, url } = await http();
    const service = await openService({ 'notifications.webhooks': hookTo(url) }, { working: false });
    open.push(service);
    let failures = 2;
    const store = new Proxy(service.store, {
      get(target, name) {
        if (name === 'transaction' && failures-- > 0) return () => Promise.reject(new Error('disk full'));
        const value = Reflect.get(target, name) as unknown;
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const { workspace } = service;
    const { config, log, installed } = service.context;
    const holdRecord = async ({ scan_id }: Scan) => ({
      record: recordIn(workspace.scan(scan_id)),
      release: () => undefined,
    });
    const catalogueOf = (tenant: string | null) => installed.of(tenant);
    const queue = new OwnNotifications(store);
    const notifier = new Notifier({
      store,
      queue,
      workspace,
      config,
      log,
      catalogueOf,
      holdRecord,
      ...quick,
    });
    open.push(notifier);
    const scanId = await service.submit('rows 1', { notifications: ['webhook://siem'] });
    await service.store.scans.update(scanId, { status: 'failed' });
    await notifier.start();
    const { notifications } = await service.until(scanId, settled);
    expect(notifications[0]).toMatchObject({ status: 'delivered', attempts: 1 });
    expect(receiver.received).toHaveLength(1);
    expect(failures).toBeLessThan(0);
  });
});
