import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Job } from '../../domain/job.ts';
import { openService, type Service } from '../fixtures/service.ts';
import { JobClock } from './job-scheduler.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

async function start(flags: Record<string, unknown> = {}, working = true): Promise<Service> {
  const service = await openService(flags, { working });
  open.push(service);
  return service;
}

async function startClock(service: Service): Promise<void> {
  const clock = new JobClock(service.context);
  open.push(clock);
  await clock.start();
}

async function submitNow(service: Service, name: string): Promise<Job> {
  const payload = { type: 'scan', params: { targets: ['127.0.0.1'], name } };
  const response = await service.app.inject({ method: 'POST', url: '/api/v1/jobs', payload });
  return response.json<{ data: Job }>().data;
}

/** A nightly job that was due an hour ago. */
async function overdue(service: Service, name: string): Promise<Job> {
  const payload = { type: 'scan', params: { targets: ['127.0.0.1'], name }, schedule: '0 2 * * *' };
  const response = await service.app.inject({ method: 'POST', url: '/api/v1/jobs', payload });
  const job = response.json<{ data: Job }>().data;
  const past = new Date(Date.now() - 3_600_000).toISOString();
  await service.store.jobSchedules.skip(job.job_id, job.next_run_at ?? '', past);
  return job;
}

async function until(service: Service, id: string, done: (job: Job) => boolean): Promise<Job> {
  for (const end = performance.now() + 30_000; ; ) {
    const response = await service.app.inject({ url: `/api/v1/jobs/${id}` });
    const job = response.json<{ data: Job }>().data;
    if (done(job)) return job;
    if (performance.now() > end) throw new Error(`the job is ${JSON.stringify(job)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe('the clock of jobs', () => {
  it('runs a job whose time came while no server was there, once, and waits for the next time', async () => {
    const service = await start();
    const { job_id, next_run_at } = await overdue(service, 'rows 2');
    await startClock(service);
    const ended = await until(service, job_id, ({ last_status }) => last_status !== null);
    expect(ended).toMatchObject({ status: 'pending', last_status: 'completed', run_count: 1, next_run_at });
    expect((await service.store.scans.totals()).scan_count).toBe(1);
  });

  it('goes by the clock of the database where servers share one', async () => {
    const service = await start();
    const { job_id } = await overdue(service, 'rows 1');
    let said = Date.now() - 2 * 3_600_000;
    service.context.shards = { line: { now: async () => said } } as unknown as Service['context']['shards'];
    await startClock(service);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect((await service.store.scans.totals()).scan_count).toBe(0);
    said = Date.now();
    await until(service, job_id, ({ run_count }) => run_count === 1);
  });

  it('leaves out no occurrence when the clock is set back by less than a minute', async () => {
    const service = await start();
    const payload = { type: 'scan', params: { targets: ['127.0.0.1'] }, schedule: '* * * * *' };
    const response = await service.app.inject({ method: 'POST', url: '/api/v1/jobs', payload });
    const { job_id } = response.json<{ data: Job }>().data;
    const minute = Math.ceil(Date.now() / 60_000) * 60_000 + 86_400_000;
    const next = async () => (await until(service, job_id, () => true)).next_run_at;
    const moveTo = async (at: number) =>
      service.store.jobSchedules.skip(job_id, (await next()) ?? '', new Date(at).toISOString());
    let said = minute - 30_000;
    const now = vi.fn(async () => said);
    service.context.shards = { line: { now } } as unknown as Service['context']['shards'];
    await moveTo(minute);
    await startClock(service);
    // A clock that is ahead passes the occurrence while the previous run is active.
    said = minute + 10_000;
    await moveTo(minute + 60_000);
    now.mockClear();
    await vi.waitFor(() => expect(now.mock.calls.length).toBeGreaterThan(2), 10_000);
    expect(await next()).toBe(new Date(minute + 60_000).toISOString());
    said = minute - 30_000;
    await vi.waitFor(async () => expect(await next()).toBe(new Date(minute).toISOString()), 10_000);
  });

  it('waits for room in the queue, logs that once, and then runs', async () => {
    const service = await start({ 'queue.max_jobs': 1, 'logging.output': 'file' }, false);
    const waiting = await service.submit('rows 1');
    const { job_id } = await overdue(service, 'rows 1');
    await startClock(service);
    await new Promise((resolve) => setTimeout(resolve, 2500));
    expect((await until(service, job_id, () => true)).run_count).toBe(0);
    await service.app.inject({ method: 'POST', url: `/api/v1/scans/${waiting}/cancel` });
    await until(service, job_id, ({ run_count }) => run_count === 1);
    const log = await readFile(join(service.workspace.dir, 'logs', 'portolan.log'), 'utf8');
    expect(log.match(/job run delayed/g)).toHaveLength(1);
  });

  it('stores the outcome of a canceled job if the previous server died while it stopped the scan', async () => {
    const first = await openService({}, { working: false });
    const { job_id, scan_id } = await submitNow(first, 'rows 1');
    await first.store.transaction(async (inside) => {
      await inside.clientJobs.cancel(job_id, new Date().toISOString());
      await inside.scanQueue.cancel(scan_id ?? '', Date.now());
    });
    await first.close({ keep: true });
    const second = await openService({}, { dir: first.dir, working: true });
    open.push(second);
    await startClock(second);
    const ended = await until(second, job_id, ({ last_status }) => last_status !== null);
    expect(ended).toMatchObject({
      status: 'canceled',
      last_status: 'failed',
      runs: [{ scan_id, status: 'failed', completed_at: expect.any(String) }],
    });
  });

  it('begins nothing while the server shuts down', async () => {
    const service = await start();
    const { job_id } = await overdue(service, 'rows 1');
    service.context.phase = 'draining';
    await startClock(service);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect((await until(service, job_id, () => true)).run_count).toBe(0);
  });
});
