import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { processorWaitMs } from './host-deadline.ts';
import { HostProcess, type SandboxOptions } from './host-process.ts';
import { Sandbox } from './sandbox.ts';
import { selfTestProgram, testSandbox } from './self-test.ts';

const callMs = 15_000;
const options: SandboxOptions = {
  program: selfTestProgram,
  memory: 128 * 1024 ** 2,
  output: 1024 ** 2,
  threads: 64,
};
const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((sandbox) => sandbox.close()));
});

async function started(more: Partial<SandboxOptions> = {}): Promise<HostProcess> {
  const host = await HostProcess.start({ ...options, ...more });
  open.push(host);
  return host;
}

async function tried(host: HostProcess, attempt: string, argument?: string | number): Promise<unknown> {
  const { message } = await host.call({ attempt, argument }, callMs);
  return (message as { value: unknown }).value;
}

/** A process that has ended and waits for its parent counts as gone. */
function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

async function untilGone(pid: number): Promise<void> {
  for (let round = 0; round < 300 && isRunning(pid); round += 1) await sleep(50);
  expect(isRunning(pid)).toBe(false);
}

describe('a plugin host', () => {
  // Several tests only ask it.
  let host: HostProcess;
  beforeAll(async () => {
    host = await HostProcess.start({ ...options, readable: ['/etc/hostname'] });
  });
  afterAll(() => host.close());

  it('answers with the same message and bytes', async () => {
    const bytes = Buffer.alloc(500_000, 'abc');
    const frame = await host.call({ echo: { text: 'ä' } }, callMs, bytes);
    expect(frame.message).toEqual({ id: 1, value: { text: 'ä' } });
    expect(frame.bytes.equals(bytes)).toBe(true);
  });

  it.each(['socket', 'connect', 'io_uring', 'fork', 'execve'])('may not %s', async (name) => {
    expect(await tried(host, name)).toBe(1);
  });

  it('may signal no other process', async () => {
    expect(await tried(host, 'kill', process.pid)).toBe(1);
    expect(await tried(host, 'kill', 0)).toBe(1);
    expect(await tried(host, 'kill', host.pid)).toBe(0);
  });

  it('reads what it is given and writes nothing', async () => {
    const target = join(tmpdir(), `portolan-sandbox-test-${process.pid}`);
    expect(await tried(host, 'write', target)).toBe('EACCES');
    expect(existsSync(target)).toBe(false);
    expect(await tried(host, 'write', '/dev/null')).toBe('EACCES');
    expect(await tried(host, 'read', '/etc/hostname')).toBe('allowed');
    expect(await tried(host, 'read', '/etc/passwd')).toBe('EACCES');
    expect(await tried(host, 'read', `/proc/${process.pid}/environ`)).toBe('EACCES');
  });

  it('truncates no file that it may read, also where Landlock has no such rule', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'portolan-sandbox-'));
    const file = join(folder, 'data');
    writeFileSync(file, 'kept');
    const host = await started({ readable: [folder], landlockAbi: 2 });
    expect(await tried(host, 'read', file)).toBe('allowed');
    expect(await tried(host, 'truncate', file)).toBe('EPERM');
    expect(await tried(host, 'write', file)).toBe('EACCES');
    expect(readFileSync(file, 'utf8')).toBe('kept');
    rmSync(folder, { recursive: true });
  });

  it('has no rights, an empty environment and its limits', async () => {
    const { pid } = host;
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    expect(status).toMatch(/^CapPrm:\s+0+$/m);
    expect(status).toMatch(/^CapEff:\s+0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(status).toMatch(/^Seccomp:\s+2$/m);
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).toBe('OPENSSL_CONF=/dev/null\0MALLOC_ARENA_MAX=1\0');
    const limits = readFileSync(`/proc/${pid}/limits`, 'utf8');
    expect(limits).toMatch(/^Max file size\s+0\s+0\s/m);
    expect(limits).toMatch(/^Max core file size\s+0\s+0\s/m);
    expect(limits).toMatch(/^Max open files\s+64\s+64\s/m);
  });

  it('gets no more memory than its limit', async () => {
    const got = await tried(await started(), 'memory', 4 * 1024 ** 3);
    expect(got).toBeGreaterThan(0);
    expect(got).toBeLessThanOrEqual(options.memory);
  });

  it('names the memory limit when V8 gets no more', async () => {
    const host = await started();
    await expect(tried(host, 'heap')).rejects.toMatchObject({ reason: 'memory' });
    await untilGone(host.pid);
  });

  it.each([
    ['crash', 0, 'signal', /SIGSEGV/],
    ['exit', 3, 'exit', /code 3/],
  ])('that ends by %s names its cause', async (attempt, argument, reason, message) => {
    const host = await started();
    await expect(tried(host, attempt, argument)).rejects.toMatchObject({
      reason,
      message: expect.stringMatching(message),
    });
    expect(isRunning(host.pid)).toBe(false);
  });

  it('is ended at the deadline of a call, and with it all other calls', async () => {
    const host = await started();
    const loop = host.call({ attempt: 'loop' }, 300);
    const other = host.call({ echo: 1 }, callMs);
    await expect(loop).rejects.toMatchObject({ reason: 'deadline' });
    await expect(other).rejects.toMatchObject({ reason: 'deadline' });
    expect(isRunning(host.pid)).toBe(false);
  });

  it('has a count of the time that it waited for a processor', async () => {
    const hosts = await Promise.all([...cpus(), 'one more'].map(() => started()));
    const before = hosts.map(({ pid }) => processorWaitMs(pid));
    for (const host of hosts) host.call({ attempt: 'loop' }, callMs).catch(() => undefined);
    await expect
      .poll(() => hosts.some(({ pid }, i) => processorWaitMs(pid) > (before[i] ?? 0) + 20))
      .toBe(true);
    expect(processorWaitMs(0)).toBe(0);
  });

  it('is ended by the head of a frame of 1 GiB', async () => {
    const host = await started();
    const flood = host.call({ flood: true }, callMs);
    await expect(flood).rejects.toMatchObject({ reason: 'output', message: /frame of 1073741824 bytes/ });
    expect(isRunning(host.pid)).toBe(false);
  });

  it('starts as soon as the machine has room for it', async () => {
    const script = `
      import { closeSync, openSync } from 'node:fs';
      const { HostProcess } = await import(${JSON.stringify(join(import.meta.dirname, 'host-process.ts'))});
      console.log('begins');
      const taken = [];
      try { for (;;) taken.push(openSync('/dev/null')); } catch {}
      const starting = HostProcess.start(${JSON.stringify(options)});
      starting.catch(() => {});
      // After the first attempt.
      setImmediate(() => taken.forEach((fd) => closeSync(fd)));
      const host = await starting.catch((error) => console.log(error.message));
      if (host) console.log((await host.call({ echo: 'started' }, ${callMs})).message.value);
      await host?.close();
    `;
    const args = ['-c', 'ulimit -n 64; exec "$0" "$@"', process.execPath, '--no-warnings'];
    const child = spawn('sh', [...args, '--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    expect(await text(child.stdout)).toBe('begins\nstarted\n');
  });

  it('ends with its parent, even in an endless loop', async () => {
    const script = `
      const { HostProcess } = await import(${JSON.stringify(join(import.meta.dirname, 'host-process.ts'))});
      const host = await HostProcess.start(${JSON.stringify(options)});
      host.call({ attempt: 'loop' }, 600_000).catch(() => {});
      console.log(host.pid);
    `;
    const parent = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(line.toString());
    expect(isRunning(pid)).toBe(true);
    parent.kill('SIGKILL');
    await once(parent, 'exit');
    await untilGone(pid);
  });
});

describe('the sandbox', () => {
  it('starts the host again once', async () => {
    const sandbox = await Sandbox.start(options);
    open.push(sandbox);
    const first = await sandbox.pid();
    await expect(sandbox.call({ attempt: 'crash' }, callMs)).rejects.toMatchObject({ reason: 'signal' });
    expect((await sandbox.call({ echo: 7 }, callMs)).message).toMatchObject({ value: 7 });
    expect(await sandbox.pid()).not.toBe(first);
    await expect(sandbox.call({ attempt: 'exit', argument: 9 }, callMs)).rejects.toThrow(/code 9/);
    await expect(sandbox.call({ echo: 7 }, callMs)).rejects.toThrow(/code 9/);
  });

  it('leaves no process when it is closed', async () => {
    const sandbox = await Sandbox.start(options);
    const pid = await sandbox.pid();
    await sandbox.close();
    expect(isRunning(pid)).toBe(false);
    await expect(sandbox.call({ echo: 7 }, callMs)).rejects.toMatchObject({ reason: 'closed' });
  });

  it('holds with Landlock ABI 2', async () => {
    expect(await testSandbox({ landlockAbi: 2 })).toMatchObject({ failure: null });
  });

  it.each([0, 1])('names Landlock where the kernel has ABI %i', async (landlockAbi) => {
    const result = await testSandbox({ landlockAbi });
    expect(result).toMatchObject({ missing: true, failure: expect.stringContaining('Landlock: ABI 2') });
  });
});
