import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { loopbackOnly, root } from '../program.ts';
import { runCommand } from './run-command.ts';

export const launcher = join(root, 'bin/portolan');

/** What the program has compiled: one place for all homes, or each would compile it anew for a second. */
const compiledCode = join(root, 'node_modules/.cache');

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  /** Standard output and standard error as they came, byte for byte. */
  bytes: Buffer;
}

export interface RunOptions {
  input?: string;
  env?: NodeJS.ProcessEnv;
  /** The working directory of the whole process meanwhile: no other command runs beside it. */
  cwd?: string;
  /** Its streams are a terminal of so many columns, as far as a program can ask them. */
  columns?: number;
}

export interface StartOptions extends Omit<RunOptions, 'columns'> {
  /** Called when the process has begun. */
  started?: (child: ChildProcess) => void;
}

/** A home of its own for the commands of one test file, so that nothing of the person's machine is read or written. */
export class Home {
  readonly path = mkdtempSync(join(tmpdir(), 'portolan-home-'));

  get env(): NodeJS.ProcessEnv {
    const { PATH } = process.env;
    return { PATH, HOME: this.path, XDG_CACHE_HOME: compiledCode, LANG: 'C.UTF-8', ...loopbackOnly };
  }

  file(name: string): string {
    return join(this.path, name);
  }

  /** Runs a command to its end, in the process of the test. */
  async run(args: string[], { input = '', env, cwd, columns }: RunOptions = {}): Promise<Ended> {
    const chunks: { of: 'stdout' | 'stderr'; bytes: Buffer }[] = [];
    const terminal = columns === undefined ? {} : { isTTY: true, columns };
    const collect = (of: 'stdout' | 'stderr') => {
      const stream = new Writable({
        write(bytes: Buffer, _encoding, done) {
          chunks.push({ of, bytes });
          done();
        },
      });
      return Object.assign(stream, terminal);
    };
    const bytesOf = (of?: string) =>
      Buffer.concat(chunks.filter((chunk) => of === undefined || chunk.of === of).map(({ bytes }) => bytes));
    const before = process.cwd();
    if (cwd !== undefined) process.chdir(cwd);
    const code = await runCommand(args, {
      stdin: Object.assign(Readable.from(input === '' ? [] : [Buffer.from(input)]), terminal),
      stdout: collect('stdout'),
      stderr: collect('stderr'),
      env: { ...this.env, ...env },
    }).finally(() => {
      if (cwd !== undefined) process.chdir(before);
    });
    const [stdout, stderr] = [bytesOf('stdout').toString(), bytesOf('stderr').toString()];
    return { code, signal: null, stdout, stderr, bytes: bytesOf() };
  }

  /** Runs the program to its end in a process of its own, for what is about the process itself. */
  start(args: string[], options: StartOptions = {}): Promise<Ended> {
    return run(launcher, args, { ...options, env: { ...this.env, ...options.env } });
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

/** Runs any program to its end and collects what it says. */
export function run(command: string, args: string[], options: StartOptions = {}): Promise<Ended> {
  const child = spawn(command, args, { env: options.env ?? process.env, cwd: options.cwd ?? root });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input ?? '');
  options.started?.(child);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      const [out, err] = [Buffer.concat(stdout), Buffer.concat(stderr)];
      resolve({
        code,
        signal,
        stdout: out.toString(),
        stderr: err.toString(),
        bytes: Buffer.concat([out, err]),
      });
    });
  });
}
