import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isFinal, type Scan } from '../../domain/scan.ts';
import { openService, type Service } from '../fixtures/service.ts';

const entryFile = fileURLToPath(new URL('../fixtures/recording-child.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'portolan-reuse-'));
const file = join(folder, 'calls');
let service: Service;

const start = () =>
  openService({ 'server.workers': 1, 'scanner.max_resumes': 1 }, { working: true, entryFile });

beforeAll(async () => {
  process.env['PORTOLAN_RECORDED_CALLS'] = file;
  service = await start();
});
// The next test begins with the process that this one leaves.
beforeEach(() => writeFileSync(file, ''));
afterAll(async () => {
  await service.close();
  delete process.env['PORTOLAN_RECORDED_CALLS'];
  rmSync(folder, { recursive: true });
});

interface Call {
  call: string;
  pid: number;
  texts?: string[];
}

const calls = (): Call[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Call);
const counts = () => Object.groupBy(calls(), ({ call }) => call);
const times = (call: string) => counts()[call]?.length ?? 0;
const pids = () => calls().flatMap(({ call, pid }) => (call === 'execute' ? pid : []));

const ended = (scanId: string): Promise<Scan> => service.until(scanId, ({ status }) => isFinal(status));
const scan = async (name: string, more: object = {}): Promise<Scan> =>
  await ended(await service.submit(name, more));

async function gone(pid: number | undefined): Promise<void> {
  await expect.poll(() => isAlive(pid)).toBe(false);
}

function isAlive(pid: number | undefined): boolean {
  try {
    return process.kill(pid ?? 0, 0);
  } catch {
    return false;
  }
}

describe('a scan process', () => {
  it('runs three scans with the modules initialized once, and cleans them up when the server stops', async () => {
    for (let i = 0; i < 3; i++) expect((await scan('plain')).status).toBe('completed');
    expect(new Set(pids()).size).toBe(1);
    const running = ['initialize', 'configure', 'execute', 'cleanup'].map(times);
    await service.close();
    expect([running, times('cleanup')]).toEqual([[1, 3, 3, 0], 1]);
    expect(isAlive(pids()[0])).toBe(false);
    service = await start();
  });

  it('keeps nothing of a scan that the next one could reach', async () => {
    const backwards = (text: string) => [...text].reverse().join('');
    const target = '127.87.65.43';
    const banner = 'OpenSSH_9.6p1-of-the-first';
    const listener = createServer((socket) => void socket.end(`SSH-2.0-${banner}\r\n`));
    listener.listen(0, target);
    await once(listener, 'listening');
    const { port } = listener.address() as AddressInfo;
    const first = await scan('plain first-name', {
      profile: 'quick',
      targets: [target, '127.87.65.44-45'],
      exclude: ['127.87.65.45'],
      ports: String(port),
    });
    listener.close();
    expect(first.results.open_ports).toBe(1);
    const marks = [first.scan_id, 'first-name', target, '127.87.65.44', '127.87.65.45', banner];
    const own = '127.87.66.47';
    const searched = [...marks, own].map(backwards);
    await scan(`find ${searched.join(' ')}`, { targets: [own] });
    expect(new Set(pids()).size).toBe(1);
    expect(calls().find(({ call }) => call === 'found')?.texts).toEqual([backwards(own)]);
  });

  it('dies in its second scan, which another process resumes', async () => {
    await scan('plain');
    const scanId = await service.submit('crash');
    const failed = await ended(scanId);
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'interrupted' } });
    expect((await scan('plain')).status).toBe('completed');
    const [first, second, third] = pids();
    expect(first).toBe(second);
    expect(third).not.toBe(second);
  });

  it('runs the next scan after one that was canceled', async () => {
    const scanId = await service.submit('hang');
    await service.until(scanId, ({ status }) => status === 'running');
    await expect.poll(() => times('execute')).toBe(1);
    await service.app.inject({ method: 'POST', url: `/api/v1/scans/${scanId}/cancel` });
    expect(await ended(scanId)).toMatchObject({ status: 'failed', error: { code: 'canceled' } });
    await scan('plain');
    expect(new Set(pids()).size).toBe(1);
  });

  it('runs no other scan as long as its own is paused', async () => {
    const scanId = await service.submit('hang');
    await expect.poll(() => times('execute')).toBe(1);
    await service.app.inject({ method: 'POST', url: `/api/v1/scans/${scanId}/pause` });
    await scan('plain');
    const [paused, other] = pids();
    expect(other).not.toBe(paused);
    expect(isAlive(paused)).toBe(true);
    await service.app.inject({ method: 'POST', url: `/api/v1/scans/${scanId}/cancel` });
    await ended(scanId);
  });
});

describe('a scan process is replaced', () => {
  it.each(['throw late', 'keep a timer', 'keep a socket', 'grow'])(
    'after a scan that does: %s',
    async (name) => {
      await scan(name);
      await scan('plain');
      const [first, second] = pids();
      expect(second).not.toBe(first);
      await gone(first);
    },
  );

  it('after a scan whose module runs on after its cancel', async () => {
    const scanId = await service.submit('deaf');
    await expect.poll(() => times('execute')).toBe(1);
    await service.app.inject({ method: 'POST', url: `/api/v1/scans/${scanId}/cancel` });
    expect(await ended(scanId)).toMatchObject({ error: { code: 'canceled' } });
    await scan('plain');
    const [first, second] = pids();
    expect(second).not.toBe(first);
    await gone(first);
  });

  it('when it fails while it waits', async () => {
    await scan('throw idle');
    const [first] = pids();
    await gone(first);
    expect((await scan('plain')).status).toBe('completed');
  });
});
