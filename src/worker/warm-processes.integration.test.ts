import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ServingProcess } from './serving-process.ts';
import { maxMemory, maxScans, WarmProcesses } from './warm-processes.ts';

let dir: string;
let level: string;
let reasons: string[];
let processes: WarmProcesses;

/** A process that ends each scan at once, in the state that the scan asks for, or never with `mute`. */
const program = `
  process.on('disconnect', () => process.exit(0));
  process.on('message', ({ type, run, state }) => {
    if (type === 'end') process.exit(0);
    if (state !== 'mute') process.send({ type: 'idle', run, state });
  });
  process.send({ type: 'ready' });
`;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'portolan-warm-'));
  const entryFile = join(dir, 'program.mjs');
  writeFileSync(entryFile, program);
  level = 'info';
  reasons = [];
  processes = open();
});
const open = (keepsSpare = false) =>
  new WarmProcesses({
    settings: () => ({
      entryFile: join(dir, 'program.mjs'),
      env: { ...process.env, LEVEL: level },
      onLogLine: () => undefined,
    }),
    keepsSpare,
    onReplace: (reason) => reasons.push(reason),
  });
afterEach(async () => {
  await processes.close();
  rmSync(dir, { recursive: true });
});

const clean = { residue: null, memory: 1e8 };

/** Runs a scan, which leaves the process in a state. */
async function scan(tenant: string | null = null, state: object | string = clean): Promise<ServingProcess> {
  const taken = await processes.take(tenant);
  const ready = Promise.withResolvers<void>();
  const listener = { onReady: () => ready.resolve(), onMessage: () => undefined, onFault: () => undefined };
  const run = taken.begin(listener, true);
  await ready.promise;
  taken.send({ type: 'start', run, state } as never);
  processes.giveBack(taken);
  return taken;
}

it('keeps one process for all scans, and starts it in advance', async () => {
  processes.prepare();
  processes.prepare();
  const [prepared] = processes.idlePids;
  const used = [await scan(), await scan(), await scan()];
  expect(new Set(used.map(({ pid }) => pid))).toEqual(new Set([prepared]));
  expect([processes.size, reasons]).toEqual([1, []]);
});

it('gives scans at the same time processes of their own', async () => {
  const [first, second] = await Promise.all([processes.take(null), processes.take(null)]);
  expect(first?.pid).not.toBe(second?.pid);
  for (const taken of [first, second]) if (taken) processes.giveBack(taken);
  expect(processes.idlePids.length).toBe(2);
});

it.each([
  ['1 of TCPServerWrap open', { residue: '1 of TCPServerWrap open', memory: 1 }],
  ['301 MB resident', { residue: null, memory: maxMemory + 1024 * 1024 }],
  ['it did not report the end of its scan', 'mute'],
])('replaces a process: %s', async (reason, state) => {
  const first = await scan(null, state);
  const second = await scan();
  expect(second.pid).not.toBe(first.pid);
  expect(reasons).toEqual([reason]);
  await first.gone;
});

it('replaces a process after its last scan, and has the next one ready', async () => {
  const first = await scan();
  while (first.scans < maxScans) expect(await scan()).toBe(first);
  await first.gone;
  expect(reasons).toEqual([`${maxScans} scans`]);
  expect(processes.idlePids.length).toBe(1);
  expect(await scan()).not.toBe(first);
});

it('keeps a spare one beside those that run large scans, and none but that', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const own = open(true);
    const taken = await Promise.all([own.take(null, false), own.take(null, false)]);
    expect(own.idlePids).toEqual([]);
    vi.advanceTimersByTime(1000);
    const [spare, ...others] = own.idlePids;
    expect([typeof spare, others]).toEqual(['number', []]);
    // A large scan leaves it to a small one.
    const large = await own.take(null, false);
    const third = await own.take(null);
    expect([large.pid === spare, third.pid === spare]).toEqual([false, true]);
    for (const process of [...taken, large, third]) own.giveBack(process);
    vi.advanceTimersByTime(5000);
    vi.useRealTimers();
    await expect.poll(() => own.size, { timeout: 20_000 }).toBe(1);
    await own.close();
  } finally {
    vi.useRealTimers();
  }
});

it('keeps none beside small scans', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const own = open(true);
    const small = await own.take(null);
    // Each process has one for its start.
    expect(vi.getTimerCount()).toBe(1);
    const large = await own.take(null, false);
    expect(vi.getTimerCount()).toBe(3);
    for (const process of [small, large]) own.giveBack(process);
    vi.useRealTimers();
    await own.close();
  } finally {
    vi.useRealTimers();
  }
});

it('gives small scans more of the processor than large ones', async () => {
  const process = await processes.take(null);
  const listener = { onReady: () => undefined, onMessage: () => undefined, onFault: () => undefined };
  const niceOf = (isSmall: boolean) => {
    process.begin(listener, isSmall);
    return getPriority(process.pid);
  };
  expect([niceOf(true), niceOf(false)]).toEqual([5, 10]);
  processes.giveBack(process);
});

it('runs no scan of another tenant in a process', async () => {
  const [first, again, other] = [await scan('red'), await scan('red'), await scan('blue')];
  expect(again).toBe(first);
  expect(other).not.toBe(first);
  await expect.poll(() => processes.idlePids.length).toBe(2);
  const last = await scan(null);
  expect([first, other]).not.toContain(last);
});

it('runs no scan in a process with other settings of the log', async () => {
  const first = await scan();
  await expect.poll(() => processes.idlePids).toEqual([first.pid]);
  level = 'debug';
  expect(await scan()).not.toBe(first);
  await first.gone;
});

it('starts another process when one dies with its scan', async () => {
  const taken = await processes.take(null);
  taken.kill();
  await taken.gone;
  processes.giveBack(taken);
  expect(processes.idlePids).not.toEqual([taken.pid]);
  expect(processes.size).toBe(1);
});

it('ends every process when it is closed, also one that was given back later', async () => {
  processes.prepare();
  const busy = await processes.take(null);
  const idle = await processes.take(null);
  processes.giveBack(idle);
  const closed = processes.close();
  processes.giveBack(busy);
  await closed;
  expect(processes.size).toBe(0);
});
