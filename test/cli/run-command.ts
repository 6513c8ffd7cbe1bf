import { AsyncLocalStorage } from 'node:async_hooks';
import { Writable } from 'node:stream';
import { runProgram } from '../../src/cli/program.ts';
import { wiringOf } from '../../src/wiring.ts';
import { sourceEntry } from '../program.ts';

/** Of a stream that is a terminal. */
type Terminal = Partial<Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>>;

/** What a command has of its process. */
export interface CommandProcess {
  stdin: NodeJS.ReadableStream;
  stdout: NodeJS.WritableStream & Terminal;
  stderr: NodeJS.WritableStream & Terminal;
  env: NodeJS.ProcessEnv;
}

/** The part of `process` that a command sees: each run has its own, while others go on beside it. */
interface Seen extends Pick<CommandProcess, 'stdin' | 'stdout' | 'stderr' | 'env'> {
  /** Code of process.exit(): what the command does after it is not seen any more. */
  exitCode: number | null;
}

/** Thrown by process.exit() of a command. */
class Exited extends Error {}

const running = new AsyncLocalStorage<Seen>();
export const wiring = wiringOf(sourceEntry);

for (const name of ['stdin', 'stdout', 'stderr', 'env'] as const) separate(name);
const realExit = process.exit;
process.exit = (code) => {
  const seen = running.getStore();
  if (seen === undefined) return realExit(code);
  seen.exitCode ??= Number(code ?? 0);
  throw new Exited();
};

/** Gives each command a value of its own for a property of `process`. */
function separate(name: 'stdin' | 'stdout' | 'stderr' | 'env'): void {
  const real = Object.getOwnPropertyDescriptor(process, name) as PropertyDescriptor;
  let value: unknown = real.value;
  const get = () => (real.get ? real.get.call(process) : value);
  const set = (next: unknown) => {
    if (real.set) real.set.call(process, next);
    else value = next;
  };
  Object.defineProperty(process, name, {
    configurable: true,
    enumerable: true,
    get: () => {
      const seen = running.getStore();
      return seen === undefined ? get() : seen[name];
    },
    set: (next) => {
      const seen = running.getStore();
      if (seen === undefined) set(next);
      else Object.assign(seen, { [name]: next });
    },
  });
}

/**
 * Runs a command as `portolan` with these arguments, in this process. What is about the process itself (signals, a terminal, a
 * pipe that closes, its working directory, the end in the middle of a scan) needs a real one.
 * @returns the exit code
 */
export async function runCommand(args: readonly string[], command: CommandProcess): Promise<number> {
  const { stdin, env } = command;
  const seen = { stdin, env: { ...env }, exitCode: null } as Seen;
  seen.stdout = untilExit(command.stdout, seen);
  seen.stderr = untilExit(command.stderr, seen);
  const exitCode = await running.run(seen, () => runProgram(wiring, args));
  return seen.exitCode ?? exitCode;
}

/** Runs `work` with an environment of its own, as a program has. */
export function withEnvironment<T>(env: NodeJS.ProcessEnv, work: () => Promise<T>): Promise<T> {
  const { stdin, stdout, stderr } = process;
  return running.run({ stdin, stdout, stderr, env: { ...env }, exitCode: null }, work);
}

/** A stream of a process that has exited takes nothing more. */
function untilExit(stream: NodeJS.WritableStream & Terminal, seen: Seen): NodeJS.WritableStream {
  const { isTTY, columns } = stream;
  const until = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      if (seen.exitCode === null) stream.write(chunk);
      done();
    },
  });
  return isTTY ? Object.assign(until, { isTTY, columns }) : until;
}
