import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { isFinal, type Scan } from '../../domain/scan.ts';
import { openService, type Service } from '../fixtures/service.ts';

const open: Service[] = [];
afterEach(async () => {
  for (const service of open.splice(0)) await service.close();
});

async function start(flags: Record<string, unknown> = {}, options: Parameters<typeof openService>[1] = {}) {
  const service = await openService(flags, { working: true, ...options });
  open.push(service);
  return service;
}

async function control(service: Service, scanId: string, verb: string, method = 'POST') {
  const url = `/api/v1/scans/${scanId}${verb && `/${verb}`}`;
  const response = await service.app.inject({ method: method as 'POST', url });
  const body = response.json<{ data: Scan; error: { code: string } }>();
  return { status: response.statusCode, data: body.data, code: body.error?.code };
}

const detail = async (service: Service, scanId: string) => (await control(service, scanId, '', 'GET')).data;

describe('pause', () => {
  it('of a waiting scan holds it, and it comes back to its old place', async () => {
    const service = await start({ 'server.workers': 1 });
    const first = await service.submit('hang');
    await service.until(first, ({ status }) => status === 'running');
    const held = await service.submit('rows 1');
    const later = await service.submit('hang');
    const paused = await control(service, held, 'pause');
    expect([paused.status, paused.data.status, paused.data.progress.paused]).toEqual([200, 'pending', true]);
    expect((await control(service, held, 'pause')).data.progress.paused).toBe(true);
    await control(service, first, 'cancel');
    await service.until(later, ({ status }) => status === 'running');
    expect((await detail(service, held)).status).toBe('pending');

    const last = await service.submit('rows 1');
    expect((await control(service, held, 'resume')).data.progress.paused).toBe(false);
    await control(service, later, 'cancel');
    const heldEnd = await service.until(held, ({ status }) => isFinal(status));
    const lastEnd = await service.until(last, ({ status }) => isFinal(status));
    expect(String(heldEnd.started_at) < String(lastEnd.started_at)).toBe(true);
  });

  it('of a running scan gives its place to another one, within limits', async () => {
    const service = await start({ 'server.workers': 1 });
    const first = await service.submit('hang');
    await service.until(first, ({ results }) => results.live_hosts === 1);
    const paused = await control(service, first, 'pause');
    expect(paused.data).toMatchObject({ status: 'running', progress: { paused: true, rate: 0 } });
    const second = await service.submit('hang');
    await service.until(second, ({ results }) => results.live_hosts === 1);
    expect(service.workers.counts()).toMatchObject({ active: 1, total: 1 });
    // A second paused scan keeps its slot: one worker never has more than two processes.
    await control(service, second, 'pause');
    const third = await service.submit('rows 1');
    await sleep(300);
    expect((await detail(service, third)).status).toBe('pending');
    await expect.poll(async () => (await service.store.scans.get(first))?.progress.paused).toBe(true);

    const resumed = await control(service, first, 'resume');
    expect(resumed.data).toMatchObject({ status: 'running', progress: { paused: false } });
    await control(service, first, 'cancel');
    await control(service, second, 'cancel');
    await service.until(third, ({ status }) => status === 'completed');
  });

  it('can be followed by cancel and by delete, of a scan that runs and of one that is held', async () => {
    const service = await start({ 'server.workers': 1 });
    const running = await service.submit('hang');
    await service.until(running, ({ results }) => results.live_hosts === 1);
    await control(service, running, 'pause');
    const canceled = await control(service, running, 'cancel');
    expect(canceled.data).toMatchObject({ error: { code: 'canceled' }, progress: { paused: false } });
    const busy = await service.submit('hang');
    const [one, two] = [await service.submit('rows 1'), await service.submit('rows 1')];
    for (const scanId of [one, two, busy]) await control(service, scanId, 'pause');
    expect((await control(service, one, 'cancel')).data.status).toBe('failed');
    expect((await control(service, two, '', 'DELETE')).status).toBe(200);
    expect((await control(service, busy, '', 'DELETE')).status).toBe(200);
    expect((await control(service, busy, 'pause')).status).toBe(404);
    await expect.poll(() => service.workers.counts().active).toBe(0);
  });

  it('is refused for a scan that is over', async () => {
    const service = await start();
    const scanId = await service.submit('rows 1');
    await service.until(scanId, ({ status }) => isFinal(status));
    for (const verb of ['pause', 'resume']) {
      const response = await control(service, scanId, verb);
      expect([response.status, response.code]).toEqual([409, 'conflict']);
    }
  });

  it('lasts over an orderly stop, and over the death of the scan process', async () => {
    const before = await openService({}, { working: true });
    const scanId = await before.submit('hang');
    await before.until(scanId, ({ results }) => results.live_hosts === 1);
    await control(before, scanId, 'pause');
    await before.close({ keep: true });

    const after = await start({}, { dir: before.dir });
    await sleep(500);
    expect(await detail(after, scanId)).toMatchObject({ status: 'running', progress: { paused: true } });
    expect(after.workers.counts().active).toBe(0);
    await control(after, scanId, 'resume');
    await after.until(scanId, ({ progress }) => progress.resumes === 1 && progress.phase === 'scanning');

    const crashing = await after.submit('crash after row');
    await after.until(crashing, ({ status }) => status === 'running');
    await control(after, crashing, 'pause');
    const { resumes } = (await detail(after, crashing)).progress;
    await sleep(1500);
    expect(await detail(after, crashing)).toMatchObject({
      status: 'running',
      progress: { paused: true, resumes },
    });
    await control(after, crashing, 'resume');
    await after.until(crashing, ({ progress }) => progress.resumes > resumes);
  });

  it('shows in the events', async () => {
    const service = await start();
    const base = await service.listen();
    const scanId = await service.submit('hang');
    await service.until(scanId, ({ results }) => results.live_hosts === 1);
    let text = '';
    const { body } = await fetch(`${base}/api/v1/scans/${scanId}/events`);
    const read = (async () => {
      for await (const chunk of body ?? []) text += Buffer.from(chunk).toString();
    })();
    const shown = (paused: boolean) =>
      expect.poll(() => text.slice(text.lastIndexOf('event: status'))).toContain(`"paused":${paused}`);
    await shown(false);
    await control(service, scanId, 'pause');
    await shown(true);
    await control(service, scanId, 'resume');
    await shown(false);
    await control(service, scanId, 'cancel');
    await read;
    const states = [...text.matchAll(/event: status\ndata: (.*)/g)].map(([, data]) => {
      const { status, paused } = JSON.parse(data ?? '') as { status: string; paused: boolean };
      return [status, paused];
    });
    expect(states).toEqual([
      ['running', false],
      ['running', true],
      ['running', false],
      ['failed', false],
    ]);
  });
});
