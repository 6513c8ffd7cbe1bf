import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { SandboxFailure, type SandboxOptions } from './host-process.ts';
import { Sandbox } from './sandbox.ts';

export interface SandboxTest {
  /** Null: everything that a plugin must not do is denied. */
  failure: string | null;
  /** The sandbox cannot be built at all: a part of the kernel or of Node.js is missing. */
  missing: boolean;
  attempts: number;
}

/** Script that tries what the sandbox must deny. */
export const selfTestProgram = join(import.meta.dirname, `self-test-host${extname(import.meta.filename)}`);
const memory = 128 * 1024 ** 2;
const threads = 64;
const wanted = 4 * 1024 ** 3;
const callMs = 10_000;
/** For the call that never ends. */
const loopMs = 200;
/** EPERM. */
const denied = 1;

/** Starts the sandbox of plugins and tries to break out of it. Leaves nothing behind. */
export async function testSandbox(options: Partial<SandboxOptions> = {}): Promise<SandboxTest> {
  const target = join(tmpdir(), `portolan-sandbox-${process.pid}`);
  const attempts: [string, string | number, (value: unknown) => boolean][] = [
    ...['socket', 'connect', 'io_uring', 'fork', 'execve'].map(
      (name) => [name, 0, isDenied] as [string, number, typeof isDenied],
    ),
    ['kill', process.pid, isDenied],
    ['write', target, isRefused],
    ['read', `/proc/${process.pid}/environ`, isRefused],
    ['memory', wanted, (value) => typeof value === 'number' && value > 0 && value <= memory],
  ];
  const allowed: string[] = [];
  let sandbox: Sandbox | null = null;
  try {
    sandbox = await Sandbox.start({
      program: selfTestProgram,
      memory,
      threads,
      output: 1024 ** 2,
      ...options,
    });
    for (const [attempt, argument, holds] of attempts) {
      const { message } = await sandbox.call({ attempt, argument }, callMs);
      const { value } = message as { value: unknown };
      if (!holds(value)) allowed.push(`${attempt} (${String(value).slice(0, 40)})`);
    }
    if (!(await endsAtDeadline(sandbox))) allowed.push('endless loop');
    const failure = allowed.length > 0 ? `not denied: ${allowed.join(', ')}` : null;
    return { failure, missing: false, attempts: attempts.length + 1 };
  } catch (error) {
    if (!(error instanceof SandboxFailure)) throw error;
    return { failure: error.message, missing: error.reason === 'missing', attempts: 0 };
  } finally {
    await sandbox?.close();
  }
}

function isDenied(value: unknown): boolean {
  return value === denied;
}

function isRefused(value: unknown): boolean {
  return value === 'EACCES' || value === 'EPERM';
}

async function endsAtDeadline(sandbox: Sandbox): Promise<boolean> {
  return await sandbox.call({ attempt: 'loop' }, loopMs).then(
    () => false,
    (error: unknown) => error instanceof SandboxFailure && error.reason === 'deadline',
  );
}
