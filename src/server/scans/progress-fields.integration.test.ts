import { rm } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { Scan } from '../../domain/scan.ts';
import { openService, type Service } from '../fixtures/service.ts';

const open: Service[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const service of open.splice(0)) await service.close({ keep: true });
  for (const dir of folders.splice(0)) await rm(dir, { recursive: true, force: true });
});

async function start(flags: Record<string, unknown> = {}, dir?: string): Promise<Service> {
  const service = await openService(flags, { working: true, ...(dir !== undefined && { dir }) });
  open.push(service);
  folders.push(service.dir);
  return service;
}

async function restart(service: Service, flags: Record<string, unknown> = {}): Promise<Service> {
  open.splice(open.indexOf(service), 1);
  await service.close({ keep: true });
  return await start(flags, service.dir);
}

async function detail(service: Service, scanId: string, headers = {}): Promise<Scan> {
  return (await service.app.inject({ url: `/api/v1/scans/${scanId}`, headers })).json().data;
}

describe('the progress of a scan', () => {
  it('names who paused it and since when, also after a restart, until it is resumed', async () => {
    const flags = { 'server.api.auth': true };
    const first = await start(flags);
    const token = await first.token('scan:read', 'scan:write');
    const headers = { authorization: `Bearer ${token}` };
    const payload = { targets: ['127.0.0.1'], name: 'hang' };
    const submitted = await first.app.inject({ method: 'POST', url: '/api/v1/scans', payload, headers });
    const scanId = submitted.json().data.scan_id as string;
    await first.until(scanId, ({ results }) => results.live_hosts === 1);
    const control = (service: Service, verb: string) =>
      service.app.inject({ method: 'POST', url: `/api/v1/scans/${scanId}/${verb}`, headers });
    const paused: Scan = (await control(first, 'pause')).json().data;
    expect(paused.progress).toMatchObject({
      paused: true,
      paused_by: token.split('_')[1],
      paused_at: expect.stringMatching(/^\d{4}-.*Z$/),
      eta_seconds: null,
      eta_basis: null,
    });
    const { paused_at, paused_by } = paused.progress;
    await control(first, 'pause');
    expect((await detail(first, scanId, headers)).progress).toMatchObject({ paused_at, paused_by });
    const second = await restart(first, flags);
    expect((await detail(second, scanId, headers)).progress).toMatchObject({
      paused: true,
      paused_at,
      paused_by,
    });
    const resumed: Scan = (await control(second, 'resume')).json().data;
    expect(resumed.progress).toMatchObject({ paused: false, paused_by: null, paused_at: null });
  });

  it('says that no process runs it, from the end of one server until the next has started it', async () => {
    const first = await start();
    const scanId = await first.submit('hang');
    await first.until(scanId, ({ results }) => results.live_hosts === 1);
    expect((await detail(first, scanId)).progress.interrupted).toBe(false);
    open.splice(0);
    await first.close({ keep: true });
    const idle = await openService({}, { dir: first.dir });
    open.push(idle);
    expect((await detail(idle, scanId)).progress).toMatchObject({
      interrupted: true,
      rate: 0,
      rate_limit: 0,
    });
    const second = await restart(idle);
    await second.until(scanId, ({ progress }) => progress.resumes === 1 && !progress.interrupted);
  });

  it('has the history of its rate in the detail, not in lists, also after the end', async () => {
    const service = await start();
    const scanId = await service.submit('rows 2');
    await service.until(scanId, ({ status }) => status === 'completed');
    expect((await detail(service, scanId)).progress.rate_history).toMatchObject({
      interval_seconds: 1,
      values: [2],
    });
    const { scans } = (await service.app.inject('/api/v1/scans')).json().data;
    expect(scans[0]).toMatchObject({ scan_id: scanId, progress: { percent: 50 } });
    expect(scans[0].progress).not.toHaveProperty('rate_history');
  });

  it('of a scan of an earlier version has every field', async () => {
    const service = await start();
    const scanId = await service.submit('rows 1');
    await service.until(scanId, ({ status }) => status === 'completed');
    const old = { percent: 100, phase: 'done', hosts_done: 1, hosts_total: 1, paused: false, rate: 0 };
    const stage = { instance_id: 'a', module_type: 'a', status: 'completed', items_in: 1, items_out: 1 };
    await service.store.scans.update(scanId, { progress: old as never, stages: [stage as never] });
    const { progress, stages } = await detail(service, scanId);
    expect(progress).toMatchObject({ ...old, tried: 0, not_tried: 0, unit: 'hosts', finishing: null });
    expect(stages[0]).toMatchObject({ depends_on: [], items_in_per_second: 0, items_out_per_second: 0 });
  });
});
