import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { ServingProcess, type ServingProcessInput } from './serving-process.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'portolan-serving-'));
  writeFileSync(join(dir, 'ready.mjs'), "process.on('message', () => {}); process.send({ type: 'ready' });");
});
afterAll(() => rmSync(dir, { recursive: true }));
afterEach(() => {
  vi.useRealTimers();
});

/** Takes all descriptors that it may have, begins a scan, and does as told at the first fault. */
const script = (onFault: string) => `
  import { closeSync, openSync } from 'node:fs';
  const { ServingProcess } = await import(${JSON.stringify(join(import.meta.dirname, 'serving-process.ts'))});
  const taken = [];
  // The stream of the output needs a descriptor, too.
  console.log('begins');
  try { for (;;) taken.push(openSync('/dev/null')); } catch {}
  const scans = new ServingProcess({ entryFile: ${JSON.stringify(join(dir, 'ready.mjs'))}, env: {}, onLogLine: null });
  const free = () => taken.splice(0).forEach((fd) => closeSync(fd));
  scans.begin({
    onReady: () => { console.log('ready ' + (scans.pid > 0)); scans.kill(); },
    onMessage() {},
    onFault(message) { const { alive } = scans; ${onFault} console.log(message + ' ' + alive); },
  }, true);
  await scans.gone;
  console.log('gone ' + scans.alive);
`;

async function linesOf(onFault: string): Promise<string[]> {
  const file = join(dir, 'short.mjs');
  writeFileSync(file, script(onFault));
  const child = spawn('sh', ['-c', 'ulimit -n 48; exec "$0" --no-warnings "$1"', process.execPath, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) lines.push(line);
  return lines.slice(1).map((line) => line.replace(process.execPath, 'node'));
}

describe('a process that runs scans', () => {
  it('starts as soon as the machine has room for it', async () => {
    expect(await linesOf('free();')).toEqual([
      'spawn node EMFILE, retrying in 250 ms true',
      'ready true',
      'gone false',
    ]);
  });

  it('is not started any more once it is stopped', async () => {
    expect(await linesOf('queueMicrotask(() => { free(); scans.stop(); });')).toEqual([
      'spawn node EMFILE, retrying in 250 ms true',
      'gone false',
    ]);
  });

  it('starts again if it does not get ready, and its first process ends', async () => {
    const entryFile = join(dir, 'hang.mjs');
    const first = join(dir, 'first');
    writeFileSync(
      entryFile,
      `import { existsSync, writeFileSync } from 'node:fs';
       if (existsSync('${first}')) process.send({ type: 'ready' });
       else writeFileSync('${first}', '');
       setInterval(() => {}, 1e6);`,
    );
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const events: string[] = [];
    const scans = new ServingProcess({ entryFile, env: {}, onLogLine: null });
    const { pid = 0 } = scans;
    scans.begin(
      {
        onReady: () => void events.push('ready'),
        onMessage() {},
        onFault: (message) => void events.push(message),
      },
      true,
    );
    await expect.poll(() => existsSync(first), { timeout: 20_000 }).toBe(true);
    // On a busy machine up to ten times the deadline.
    for (let second = 0; second < 200 && events.length === 0; second += 1)
      await vi.advanceTimersByTimeAsync(1000);
    await vi.advanceTimersByTimeAsync(250);
    await expect.poll(() => events.at(-1), { timeout: 20_000 }).toBe('ready');
    expect(events[0]).toBe('the process did not start within 20000 ms, retrying in 250 ms');
    await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
    scans.kill();
    await scans.gone;
  });

  it('that can never start is gone, with the reason', async () => {
    const faults: string[] = [];
    const input: ServingProcessInput = { entryFile: 'x', env: { BIG: 'x'.repeat(2 ** 22) }, onLogLine: null };
    const scans = new ServingProcess(input);
    const listener = {
      onReady() {},
      onMessage() {},
      onFault: (message: string) => void faults.push(message),
    };
    scans.begin(listener, true);
    await scans.gone;
    expect(faults).toEqual(['spawn E2BIG']);
    expect(scans.alive).toBe(false);
  });
});
