import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { PortolanError } from '../../domain/errors.ts';
import type { ResultRow } from '../../domain/result.ts';
import { isFinal } from '../../domain/scan.ts';
import { ScanProcess } from '../../worker/scan-process.ts';
import { recordIn } from '../../workspace/record/folder-record.ts';
import { openService, type Service } from '../fixtures/service.ts';
import { nextResumeMark } from './resume-mark.ts';

const open: Service[] = [];
afterEach(async () => {
  for (const service of open.splice(0)) await service.close();
});

async function start(flags: Record<string, unknown> = {}, options: Parameters<typeof openService>[1] = {}) {
  const service = await openService(flags, { working: true, ...options });
  open.push(service);
  return service;
}

async function hostsOf(service: Service, scanId: string): Promise<string[]> {
  const rows: ResultRow[] = [];
  for await (const row of recordIn(service.workspace.scan(scanId)).rows()) rows.push(row);
  return rows.flatMap((row) => (row.type === 'host' ? row.host : []));
}

describe('a scan', () => {
  it('runs in a process of its own and ends completed, with its job', async () => {
    const service = await start();
    const scanId = await service.submit('rows 3');
    const scan = await service.until(scanId, ({ status }) => isFinal(status));
    expect(scan).toMatchObject({ status: 'completed', results: { live_hosts: 3 }, error: null });
    expect(scan.started_at).not.toBeNull();
    expect(await hostsOf(service, scanId)).toEqual(['127.0.0.1', '127.0.0.2', '127.0.0.3']);
    await expect
      .poll(() => service.store.scanQueue.counts('2000'))
      .toEqual({ pending: 0, running: 0, failed: 0 });
    await expect.poll(async () => (await service.store.scans.totals()).size_bytes).toBeGreaterThan(0);
  });

  it('waits while as many run as server.workers allows', async () => {
    const service = await start({ 'server.workers': 1 });
    const first = await service.submit('hang');
    const second = await service.submit('rows 1');
    await service.until(first, ({ status }) => status === 'running');
    expect(service.workers.counts()).toEqual({ active: 1, idle: 0, total: 1 });
    expect((await service.store.scans.get(second))?.status).toBe('pending');
    await service.app.inject({ method: 'POST', url: `/api/v1/scans/${first}/cancel` });
    expect((await service.until(second, ({ status }) => isFinal(status))).status).toBe('completed');
  });
});

describe('a small scan', () => {
  const large = { targets: ['127.0.0.0/27'] };

  it('starts while large ones run and wait', async () => {
    const service = await start({ 'server.workers': 2 });
    const ids = [await service.submit('hang', large), await service.submit('hang', large)];
    for (const id of ids) await service.until(id, ({ status }) => status === 'running');
    const waiting = await service.submit('hang', { ...large, priority: 9 });
    const small = await service.submit('rows 1', { targets: ['127.0.0.0/28'] });
    expect((await service.until(small, ({ status }) => isFinal(status))).status).toBe('completed');
    expect((await service.store.scans.get(waiting))?.status).toBe('pending');
    await expect.poll(() => service.workers.counts()).toEqual({ active: 2, idle: 0, total: 2 });
  });

  it('waits while another one runs, or workers.max leaves no room', async () => {
    for (const flags of [{}, { 'workers.max': 2 }]) {
      const service = await start({ 'server.workers': 2, ...flags });
      const first = await service.submit('hang', 'workers.max' in flags ? large : {});
      const second = await service.submit('hang', large);
      for (const id of [first, second]) await service.until(id, ({ status }) => status === 'running');
      const small = await service.submit('rows 1');
      await service.app.inject({ method: 'POST', url: `/api/v1/scans/${second}/cancel` });
      const { started_at } = await service.until(small, ({ status }) => isFinal(status));
      const { completed_at } = await service.until(second, ({ status }) => isFinal(status));
      expect(Date.parse(started_at ?? '')).toBeGreaterThanOrEqual(Date.parse(completed_at ?? ''));
    }
  });
});

describe('cancel', () => {
  it('reaches a scan that a worker is just claiming', async () => {
    const service = await start();
    const { queue, app } = service;
    const requested = Promise.withResolvers<void>();
    const claim = queue.claim.bind(queue);
    const cancel = queue.cancel.bind(queue);
    const responses: Promise<{ statusCode: number }>[] = [];
    queue.claim = async (...input) => {
      const claimed = await claim(...input);
      if (claimed === null || responses.length > 0) return claimed;
      responses.push(app.inject({ method: 'POST', url: `/api/v1/scans/${claimed.scanId}/cancel` }));
      await requested.promise;
      return claimed;
    };
    queue.cancel = async (scanId) => {
      const was = await cancel(scanId);
      setImmediate(requested.resolve);
      return was;
    };
    const scanId = await service.submit('hang');
    await expect.poll(() => responses.length).toBe(1);
    expect((await responses[0])?.statusCode).toBe(200);
    expect(service.workers.counts().active).toBe(0);
    expect(await service.store.scans.get(scanId)).toMatchObject({
      status: 'failed',
      error: { code: 'canceled' },
      results: { live_hosts: 0 },
    });
  });

  it('may be requested by many at once, and while the scan is deleted', async () => {
    const service = await openService();
    open.push(service);
    const scanId = await service.submit('waits');
    const cancel = (id: string) => service.app.inject({ method: 'POST', url: `/api/v1/scans/${id}/cancel` });
    const responses = await Promise.all(Array.from({ length: 5 }, () => cancel(scanId)));
    expect(responses.map(({ statusCode }) => statusCode)).toEqual(Array(5).fill(200));
    expect(await recordIn(service.workspace.scan(scanId)).summary()).toMatchObject({ status: 'failed' });

    for (let round = 0; round < 5; round++) {
      const doomed = await service.submit('waits');
      const canceling = cancel(doomed);
      const deleted = await service.app.inject({ method: 'DELETE', url: `/api/v1/scans/${doomed}` });
      expect(deleted.statusCode).toBe(200);
      expect([200, 404]).toContain((await canceling).statusCode);
    }
  });

  it('ends a running scan and keeps what it found', async () => {
    const service = await start();
    const scanId = await service.submit('hang');
    await service.until(scanId, ({ results }) => results.live_hosts === 1);
    const response = await service.app.inject({ method: 'POST', url: `/api/v1/scans/${scanId}/cancel` });
    expect(response.statusCode).toBe(200);
    expect(response.json().data).toMatchObject({
      status: 'failed',
      error: { code: 'canceled' },
      results: { live_hosts: 1 },
    });
    expect(await hostsOf(service, scanId)).toEqual(['127.0.0.1']);
    const again = await service.app.inject({ method: 'POST', url: `/api/v1/scans/${scanId}/cancel` });
    expect(again.statusCode).toBe(200);
  });

  it('kills a process that does not listen, and finishes its record', async () => {
    const service = await start();
    const scanId = await service.submit('deaf');
    await service.until(scanId, ({ results }) => results.live_hosts === 1);
    const response = await service.app.inject({ method: 'POST', url: `/api/v1/scans/${scanId}/cancel` });
    expect(response.json().data).toMatchObject({
      status: 'failed',
      error: { code: 'canceled' },
      results: { live_hosts: 1 },
    });
    expect(await recordIn(service.workspace.scan(scanId)).summary()).toMatchObject({
      status: 'failed',
      partial: true,
      live_hosts: 1,
    });
  });

  it('ends a waiting scan at once', async () => {
    const service = await start({ 'server.workers': 1 });
    const first = await service.submit('hang');
    await service.until(first, ({ status }) => status === 'running');
    const waiting = await service.submit('rows 1');
    const response = await service.app.inject({ method: 'POST', url: `/api/v1/scans/${waiting}/cancel` });
    expect(response.json().data).toMatchObject({
      status: 'failed',
      started_at: null,
      error: { code: 'canceled' },
    });
  });

  it('is refused for a scan that is over', async () => {
    const service = await start();
    const scanId = await service.submit('rows 1');
    await service.until(scanId, ({ status }) => status === 'completed');
    const response = await service.app.inject({ method: 'POST', url: `/api/v1/scans/${scanId}/cancel` });
    expect([response.statusCode, response.json().error.code]).toEqual([409, 'conflict']);
  });
});

describe('delete', () => {
  it('stops a running scan and leaves nothing; a second one finds nothing', async () => {
    const service = await start();
    const scanId = await service.submit('hang');
    await service.until(scanId, ({ status }) => status === 'running');
    const url = `/api/v1/scans/${scanId}`;
    const [one, two] = await Promise.all([
      service.app.inject({ method: 'DELETE', url }),
      service.app.inject({ method: 'DELETE', url }),
    ]);
    expect([one.statusCode, two.statusCode].sort()).toEqual([200, 404]);
    expect(await service.workspace.scan(scanId).exists()).toBe(false);
    expect((await service.app.inject({ url })).statusCode).toBe(404);
    await expect.poll(() => service.workers.counts().active).toBe(0);
  });
});

describe('a process that dies', () => {
  it('is resumed until it made no progress max_resumes times in a row, then interrupted', async () => {
    const service = await start({ 'scanner.max_resumes': 1 });
    const scanId = await service.submit('crash');
    const scan = await service.until(scanId, ({ status }) => isFinal(status));
    expect(scan).toMatchObject({ status: 'failed', error: { code: 'interrupted' } });
    expect(scan.progress.resumes).toBe(1);
    await expect
      .poll(() => service.store.scanQueue.counts('2000'))
      .toEqual({ pending: 0, running: 0, failed: 1 });
  });

  it('is resumed as long as it finds something, and loses nothing', async () => {
    const service = await start({ 'scanner.max_resumes': 1 });
    const scanId = await service.submit('crash after row');
    await service.until(scanId, ({ progress }) => progress.resumes >= 2);
    expect(await hostsOf(service, scanId)).toEqual(expect.arrayContaining(['127.0.0.1', '127.0.0.2']));
    const response = await service.app.inject({ method: 'POST', url: `/api/v1/scans/${scanId}/cancel` });
    expect(response.json().data.error.code).toBe('canceled');
  });

  it('counts resumes without new progress, but not those after an orderly stop', () => {
    const first = nextResumeMark({ reached: 0, stalled: 0, orderly: false }, 0);
    expect(first).toEqual({ reached: 0, stalled: 1, orderly: false });
    expect(nextResumeMark(first, 0).stalled).toBe(2);
    expect(nextResumeMark({ ...first, stalled: 3 }, 5)).toEqual({ reached: 5, stalled: 1, orderly: false });
    expect(nextResumeMark({ reached: 0, stalled: 2, orderly: true }, 0).stalled).toBe(2);
  });
});

describe('a lease', () => {
  it('that lapsed while the machine slept is taken up by the process that still runs', async () => {
    const service = await start({ 'workers.heartbeat': '10s' });
    const scanId = await service.submit('hang');
    await service.until(scanId, ({ results }) => results.live_hosts === 1);
    await service.store.scanQueue.extend({ scanId, attempt: 1 }, 0);
    service.workers.wake();
    await expect
      .poll(() => service.store.scanQueue.extend({ scanId, attempt: 2 }, Date.now() + 30_000))
      .toBe(true);
    const response = await service.app.inject({ method: 'POST', url: `/api/v1/scans/${scanId}/cancel` });
    expect(response.json().data).toMatchObject({ error: { code: 'canceled' }, progress: { resumes: 0 } });
    expect(await hostsOf(service, scanId)).toEqual(['127.0.0.1']);
    expect(await service.store.scanQueue.counts('2000')).toEqual({ pending: 0, running: 0, failed: 0 });
  });

  it('that lapsed is not lost to a heartbeat that comes while it is taken up', async () => {
    const service = await start({ 'workers.heartbeat': '100ms' });
    const scanId = await service.submit('hang');
    await service.until(scanId, ({ results }) => results.live_hosts === 1);
    const { heartbeat, claim } = service.queue;
    const called = Promise.withResolvers<void>();
    const taken = Promise.withResolvers<void>();
    vi.spyOn(service.queue, 'heartbeat').mockImplementationOnce(async (...beat) => {
      called.resolve();
      await taken.promise;
      return await heartbeat.apply(service.queue, beat);
    });
    vi.spyOn(service.queue, 'claim').mockImplementationOnce(async (...requested) => {
      await called.promise;
      await service.store.scanQueue.extend({ scanId, attempt: 1 }, 0);
      const claimed = await claim.apply(service.queue, requested);
      taken.resolve();
      // Simulates a slow database.
      await sleep(200);
      return claimed;
    });
    service.workers.wake();
    await taken.promise;
    await sleep(500);
    expect(service.workers.counts().active).toBe(1);
    expect(await service.store.scanQueue.extend({ scanId, attempt: 2 }, Date.now() + 30_000)).toBe(true);
    const response = await service.app.inject({ method: 'POST', url: `/api/v1/scans/${scanId}/cancel` });
    expect(response.json().data).toMatchObject({ error: { code: 'canceled' }, progress: { resumes: 0 } });
  });
});

it('a process that cannot begin its scan ends, and its worker is free', async () => {
  const entryFile = fileURLToPath(new URL('../../main.ts', import.meta.url));
  const service = await start({ 'server.workers': 1 }, { entryFile });
  const { claim } = service.queue;
  const claimed: string[] = [];
  service.queue.claim = async (...input) => {
    const found = await claim.apply(service.queue, input);
    if (found === null) return null;
    // In place of its record.
    await mkdir(join(service.workspace.scan(found.scanId).path, 'results.jsonl'));
    claimed.push(found.scanId);
    return found;
  };
  const scanId = await service.submit('rows 1');
  await service.until(scanId, ({ status }) => status === 'running');
  await expect.poll(() => service.workers.counts().active, { timeout: 20_000 }).toBe(0);
  expect(claimed[0]).toBe(scanId);
});

describe('a scan process that stands still', () => {
  afterEach(() => void vi.useRealTimers());

  it('is killed, which log and health report, and its scan resumed', async () => {
    const entryFile = fileURLToPath(new URL('../../main.ts', import.meta.url));
    const service = await start({ 'server.workers': 1 }, { entryFile });
    const { log } = service.context;
    const [infos, errors] = [vi.spyOn(log, 'info'), vi.spyOn(log, 'error')];
    // Looks at the process of the scan are intervals that begin from here on.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const targets = { targets: ['127.83.0.0/24'], ports: '9', rate: 20, options: { discover: false } };
    const scanId = await service.submit('slow', targets);
    await service.until(scanId, ({ progress }) => progress.percent > 0);
    const pid = infos.mock.calls.flatMap(([fields, message]) =>
      message === 'scan started' ? [(fields as unknown as { pid: number }).pid] : [],
    )[0] as number;
    process.kill(pid, 'SIGSTOP');
    const lookAtHealth = async () => {
      vi.advanceTimersByTime(5000);
      const response = await service.app.inject({ url: '/api/v1/health' });
      return (response.json().data.checks as { name: string }[]).map(({ name }) => name);
    };
    await expect.poll(lookAtHealth).toContain('scan_processes');
    vi.advanceTimersByTime(60_000);
    await service.until(scanId, ({ progress }) => progress.resumes === 1 && progress.percent > 0, 20_000);
    expect(await lookAtHealth()).not.toContain('scan_processes');
    expect(errors).toHaveBeenCalledWith(
      expect.objectContaining({ scan_id: scanId, pid }),
      'scan process sends no heartbeat, killed',
    );
    await service.app.inject({ method: 'POST', url: `/api/v1/scans/${scanId}/cancel` });
  });
});

describe('a full disk', () => {
  const full = () => Promise.reject(new PortolanError('insufficient_storage', 'The disk is full.'));

  it('delays the end of a scan, which is stored when there is room again', async () => {
    const service = await start();
    const transaction = service.store.transaction.bind(service.store);
    let refused = 0;
    const scanId = await service.submit('hang');
    await service.until(scanId, ({ results }) => results.live_hosts === 1);
    service.store.transaction = (work) => (refused++ < 2 ? full() : transaction(work));
    const response = await service.app.inject({ method: 'POST', url: `/api/v1/scans/${scanId}/cancel` });
    expect(response.json().data).toMatchObject({ status: 'failed', error: { code: 'canceled' } });
    expect(refused).toBeGreaterThanOrEqual(3);
    expect(service.workers.counts().active).toBe(0);
  });

  it('ends a scan that has no room for its record, and the next one has its worker', async () => {
    const service = await start({ 'server.workers': 1 });
    const ids = [await service.submit('full'), await service.submit('rows 1')];
    const ends = await Promise.all(ids.map((id) => service.until(id, ({ status }) => isFinal(status))));
    expect(ends.map(({ status, error }) => [status, error?.code])).toEqual([
      ['failed', 'insufficient_storage'],
      ['completed', undefined],
    ]);
  });

  it('does not keep a scan from being deleted: its files go first', async () => {
    const service = await start();
    const scanId = await service.submit('rows 1');
    await service.until(scanId, ({ status }) => isFinal(status));
    const { scans } = service.store;
    const remove = scans.delete.bind(scans);
    const folder = service.workspace.scan(scanId);
    scans.delete = async (id) => ((await folder.exists()) ? full() : remove(id));
    const response = await service.app.inject({ method: 'DELETE', url: `/api/v1/scans/${scanId}` });
    expect(response.statusCode).toBe(200);
    expect(await scans.get(scanId)).toBeNull();
  });
});

describe('a restart', () => {
  it('resumes what an orderly stop left running', async () => {
    const before = await openService({}, { working: true });
    const scanId = await before.submit('hang');
    await before.until(scanId, ({ results }) => results.live_hosts === 1);
    const kill = vi.spyOn(ScanProcess.prototype, 'kill');
    await before.close({ keep: true });
    expect(kill).not.toHaveBeenCalled();
    kill.mockRestore();

    const after = await start({}, { dir: before.dir });
    expect((await after.store.scans.get(scanId))?.status).toBe('running');
    await after.until(scanId, ({ progress }) => progress.resumes === 1 && progress.phase === 'scanning');
    await after.app.inject({ method: 'POST', url: `/api/v1/scans/${scanId}/cancel` });
    expect(await hostsOf(after, scanId)).toEqual(['127.0.0.1', '127.0.0.2']);
  });

  it('fails scans of a command line that is gone', async () => {
    const before = await openService();
    const scanId = await before.submit('rows 1');
    const request = await before.store.scans.request(scanId);
    await before.store.scans.delete(scanId);
    // Larger than any process number of Linux (kernel.pid_max is at most 2^22).
    await before.store.scans.insert(request as NonNullable<typeof request>, 'cli:99999999');
    await before.store.scans.update(scanId, { status: 'running' });
    await before.close({ keep: true });
    const after = await start({}, { dir: before.dir });
    expect(await after.store.scans.get(scanId)).toMatchObject({
      status: 'failed',
      error: { code: 'interrupted' },
    });
  });
});
