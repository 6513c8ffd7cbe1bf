import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { Job } from '../../domain/job.ts';
import { isFinal, type Scan } from '../../domain/scan.ts';
import { openService, type Service } from '../fixtures/service.ts';
import type { Health } from '../health.ts';

const open: Service[] = [];
afterEach(async () => {
  for (const service of open.splice(0)) await service.close();
});

async function start(options: Parameters<typeof openService>[1] = {}) {
  const service = await openService({ 'server.workers': 2 }, { working: true, ...options });
  open.push(service);
  return service;
}

const freeze = { reason: 'a freeze is active: holidays', until: Date.parse('2199-01-01T00:00:00Z') };

async function request<T>(service: Service, url: string, method: 'GET' | 'POST' = 'GET') {
  const response = await service.app.inject({ method, url: `/api/v1/${url}` });
  const body = response.json<{ data: T; error: { code: string; message: string; details: object } }>();
  return { status: response.statusCode, ...body };
}

const detail = async (service: Service, scanId: string) =>
  (await request<Scan>(service, `scans/${scanId}`)).data;
const codes = ({ warnings }: Pick<Scan, 'warnings'>) => warnings.map(({ code }) => code);

describe('while no scan may send', () => {
  it('a running one pauses and a queued one waits; both report why and continue by themselves', async () => {
    const service = await start();
    const running = await service.submit('hang');
    await service.until(running, ({ results }) => results.live_hosts === 1);
    service.workers.setClosure(freeze);
    const waiting = await service.submit('rows 1');
    await expect.poll(async () => codes(await detail(service, waiting))).toEqual(['outside_window']);
    for (const scanId of [running, waiting]) {
      expect(await detail(service, scanId)).toMatchObject({
        status: scanId === running ? 'running' : 'pending',
        progress: { paused: true, rate: 0, eta_seconds: null, phase: 'outside_window' },
        warnings: [
          {
            code: 'outside_window',
            message:
              'The scan is waiting: a freeze is active: holidays; scans resume at 2199-01-01T00:00:00.000Z.',
          },
        ],
      });
    }
    const health = await service.app.inject('/api/v1/health');
    const { windows } = health.json<{ data: Health }>().data;
    expect(windows).toEqual({ open: false, reason: freeze.reason, until: '2199-01-01T00:00:00.000Z' });

    service.workers.setClosure(null);
    await service.until(waiting, ({ status }) => status === 'completed');
    const after = await detail(service, running);
    expect([after.progress.paused, codes(after)]).toEqual([false, []]);
    expect((await detail(service, waiting)).warnings).toEqual([]);
  });

  it('clients can cancel a scan but not resume it; one paused by a client stays paused afterwards', async () => {
    const service = await start();
    const [paused, resumed, doomed] = [
      await service.submit('hang'),
      await service.submit('hang'),
      await service.submit('rows 1'),
    ];
    await service.until(resumed, ({ results }) => results.live_hosts === 1);
    service.workers.setClosure(freeze);
    expect((await request(service, `scans/${paused}/pause`, 'POST')).status).toBe(200);
    const refused = await request(service, `scans/${paused}/resume`, 'POST');
    expect([refused.status, refused.error.code]).toEqual([409, 'conflict']);
    expect(refused.error.message).toContain('a freeze is active: holidays; scans resume at 2199');
    expect(refused.error.details).toMatchObject({ reason: freeze.reason, until: '2199-01-01T00:00:00.000Z' });
    expect((await request<Scan>(service, `scans/${doomed}/cancel`, 'POST')).data.status).toBe('failed');
    const over = await request(service, `scans/${doomed}/resume`, 'POST');
    expect(over.error.message).toContain('already ended');

    service.workers.setClosure(null);
    await expect.poll(async () => (await detail(service, resumed)).progress.paused).toBe(false);
    await sleep(200);
    expect((await detail(service, paused)).progress.paused).toBe(true);
    expect((await request<Scan>(service, `scans/${paused}/resume`, 'POST')).data.progress.paused).toBe(false);
  });

  it('a server that starts begins nothing, and goes on afterwards', async () => {
    const before = await openService({}, { working: true });
    const scanId = await before.submit('hang');
    await before.until(scanId, ({ results }) => results.live_hosts === 1);
    before.workers.setClosure(freeze);
    await expect.poll(async () => (await before.store.scanPauses.startBlackout(Date.now())).length).toBe(1);
    const heldBy = Date.now();
    await before.close({ keep: true });

    const after = await openService({}, { dir: before.dir });
    open.push(after);
    after.workers.setClosure(freeze);
    await after.workers.start();
    await expect.poll(async () => codes(await detail(after, scanId))).toEqual(['outside_window']);
    await sleep(300);
    expect(after.workers.counts().active).toBe(0);
    const resumedFrom = Date.now();
    after.workers.setClosure(null);
    await after.until(scanId, ({ progress }) => progress.resumes === 1 && progress.phase === 'scanning');
    const { pausedMs } = await after.store.scanPauses.pauseOf(scanId, Date.now());
    expect(pausedMs).toBeGreaterThanOrEqual(resumedFrom - heldBy);
  });

  it('a job reports that its run waits', async () => {
    const service = await start();
    service.workers.setClosure(freeze);
    const response = await service.app.inject({
      method: 'POST',
      url: '/api/v1/jobs',
      payload: { type: 'scan', params: { targets: ['127.0.0.1'], name: 'rows 1' } },
    });
    const { job_id } = response.json<{ data: Job }>().data;
    expect((await request<Job>(service, `jobs/${job_id}`)).data).toMatchObject({
      status: 'pending',
      warnings: [{ code: 'outside_window' }],
    });
    service.workers.setClosure(null);
    await expect
      .poll(async () => (await request<Job>(service, `jobs/${job_id}`)).data)
      .toMatchObject({ status: 'completed' });
    expect((await request<Job>(service, `jobs/${job_id}`)).data).not.toHaveProperty('warnings');
  });

  it('the events of a scan report it once and lose no later warning', async () => {
    const service = await start();
    const base = await service.listen();
    const scanId = await service.submit('hang');
    await service.until(scanId, ({ results }) => results.live_hosts === 1);
    let text = '';
    const { body } = await fetch(`${base}/api/v1/scans/${scanId}/events`);
    const read = (async () => {
      for await (const chunk of body ?? []) text += Buffer.from(chunk).toString();
    })();
    const received = (part: string) => expect.poll(() => text).toContain(part);
    await received('"paused":false,"started_at"');
    service.workers.setClosure(freeze);
    await received('"code":"outside_window"');
    text = text.replaceAll('"paused":false,"started_at"', '');
    service.workers.setClosure(null);
    await received('"paused":false,"started_at"');
    await request(service, `scans/${scanId}/cancel`, 'POST');
    await read;
    expect(text.match(/"code":"outside_window"/g)).toHaveLength(1);
    expect(text.match(/"paused":true,"started_at"/g)).toHaveLength(1);
    const scan = await service.until(scanId, ({ status }) => isFinal(status));
    for (const { message } of scan.warnings) expect(text).toContain(JSON.stringify(message));
  });
});
