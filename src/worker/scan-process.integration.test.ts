import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ScanProcess, type ScanProcessInput } from './scan-process.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-process-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const start = {
  type: 'start',
  request: { scan_id: '20261006-143022-a1b2c3', options: {} },
  config: { engine: { global_timeout: 0 } },
  requestId: 'req_1',
  part: { shard: 2, of: 3, hostnames: {} },
};

it('tells the process which fields its log lines have', async () => {
  const entryFile = join(dir, 'fields.mjs');
  writeFileSync(entryFile, 'process.stderr.write(process.env.SERVICE_LOG_FIELDS);');
  const lines: string[] = [];
  const input = { entryFile, env: process.env, graceMs: 1000, start };
  const { gone } = new ScanProcess({
    ...(input as unknown as ScanProcessInput),
    onNews: () => undefined,
    onFault: () => undefined,
    onLogLine: (line) => lines.push(line),
  });
  await gone;
  await expect.poll(() => lines.length).toBe(1);
  const fields = { scan_id: '20261006-143022-a1b2c3', request_id: 'req_1', shard: 2 };
  expect(JSON.parse(lines[0] ?? '')).toEqual(fields);
});

it('passes on whole lines of what the process writes to its log', async () => {
  const entryFile = join(dir, 'talk.mjs');
  const text = ['one\\ntw', 'o\\n', 'ünï', `${'x'.repeat(70_000)}\\nlast`];
  writeFileSync(
    entryFile,
    `const write = (text) => new Promise((resolve) => process.stderr.write(text, resolve));
     for (const part of [${text.map((part) => `'${part}'`).join(', ')}]) {
       await write(part);
       await new Promise((resolve) => setTimeout(resolve, 20));
     }
     process.exit(0);`,
  );
  const lines: string[] = [];
  const input = { entryFile, env: process.env, graceMs: 1000, start };
  const talker = new ScanProcess({
    ...(input as unknown as ScanProcessInput),
    onNews: () => undefined,
    onFault: () => undefined,
    onLogLine: (line) => lines.push(line),
  });
  await talker.gone;
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(lines.map((line) => line.length)).toEqual([3, 3, 65_536, 3 + 70_000 - 65_536, 4]);
  expect([lines[0], lines[1], lines[2]?.slice(0, 4), lines.at(-1)]).toEqual(['one', 'two', 'ünïx', 'last']);
});

/** A process that reports each message it receives as a fault, and acknowledges every command but `silent`. */
function listener(silent: string, more: object = {}) {
  const entryFile = join(dir, 'listen.mjs');
  writeFileSync(
    entryFile,
    `process.on('message', (message) => {
       const { run } = message;
       process.send({ type: 'fault', message: JSON.stringify(message), run });
       if (message.type !== 'start' && message.type !== '${silent}') process.send({ type: 'ack', run });
     });
     process.send({ type: 'ready' });`,
  );
  const messages: { type: string; commands?: object[] }[] = [];
  const input = { entryFile, env: process.env, graceMs: 600_000, start: { ...start, ...more } };
  const hangs: number[] = [];
  const scan = new ScanProcess({
    ...(input as unknown as ScanProcessInput),
    onNews: () => undefined,
    onFault: (message) => messages.push(JSON.parse(message)),
    onHang: (seconds) => hangs.push(seconds),
    onLogLine: () => undefined,
  });
  return { scan, messages, hangs };
}

it('commands from before the start take effect with it, in order; later ones are messages of their own', async () => {
  const { scan, messages } = listener('none');
  const rules = { allow: ['127.0.0.1'], deny: [], blocklist: [] };
  await scan.setRate(10);
  await scan.pause();
  scan.renewLease(5);
  scan.narrow(rules);
  await expect.poll(() => messages.length).toBe(1);
  expect(messages[0]).toMatchObject({
    type: 'start',
    commands: [
      { type: 'rate', rate: 10 },
      { type: 'pause' },
      { type: 'lease', until: 5 },
      { type: 'scope', rules },
    ],
  });
  scan.resume();
  await scan.setRate(20);
  await expect.poll(() => messages.length).toBe(3);
  expect(messages.slice(1)).toEqual([
    { type: 'resume', run: 1 },
    { type: 'rate', rate: 20, run: 1 },
  ]);
  scan.kill();
  await scan.gone;
});

it('a process that does not acknowledge a cancel is killed long before its grace period ends', async () => {
  const { scan, messages } = listener('cancel');
  await expect.poll(() => messages.length).toBe(1);
  scan.cancel();
  await scan.gone;
  expect(messages.map(({ type }) => type)).toEqual(['start', 'cancel']);
  expect(scan.outcome).toBeNull();
});

describe('a process that does not end', { timeout: 20_000 }, () => {
  let child: ScanProcess | null = null;
  afterEach(() => {
    vi.useRealTimers();
    child?.kill();
  });

  it('is killed when it stands still', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { scan, messages, hangs } = listener('none');
    child = scan;
    await expect.poll(() => messages.length).toBe(1);
    process.kill(scan.pid as number, 'SIGSTOP');
    vi.advanceTimersByTime(70_000);
    await scan.gone;
    expect([hangs.length, scan.outcome, scan.failure, scan.hangs]).toEqual([1, null, null, false]);
  });

  const limited = { request: { ...start.request, options: { max_duration: '10m' } } };
  const withMargin = 900_000;

  it.each([
    ['max_duration', limited],
    ['engine.global_timeout', { config: { engine: { global_timeout: 600_000 } } }],
  ])('is killed some time after %s', async (_what, more) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const { scan, messages } = listener('none', more);
    child = scan;
    await expect.poll(() => messages.length).toBe(1);
    vi.advanceTimersByTime(600_000);
    expect(scan.failure).toBeNull();
    vi.advanceTimersByTime(withMargin - 600_000);
    await scan.gone;
    expect(scan.failure).toEqual({
      code: 'timeout',
      message: 'the scan ran longer than its limit of 600 s',
    });
  });

  it('may be paused for longer than its limit', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const { scan, messages } = listener('none', limited);
    child = scan;
    await expect.poll(() => messages.length).toBe(1);
    await scan.pause();
    vi.advanceTimersByTime(10 * withMargin);
    expect(scan.failure).toBeNull();
    scan.resume();
    vi.advanceTimersByTime(withMargin);
    expect(scan.failure?.code).toBe('timeout');
    await scan.gone;
  });
});
