import { readFileSync, rmSync } from 'node:fs';
import { type Home, launcher, run, type StartOptions } from './command.ts';

export interface TerminalOptions extends Omit<StartOptions, 'started'> {
  columns?: number;
  /** False: also stderr is the terminal, and what it says is in `stdout`. */
  apart?: boolean;
}

export interface TerminalEnded {
  code: number | null;
  /** Lines end as the program wrote them, without the carriage returns of the terminal. */
  stdout: string;
  stderr: string;
  lines: string[];
}

/** Runs a command in the process of the test, whose streams say that they are a terminal; `input` is typed. */
export async function runInTerminal(
  home: Home,
  args: readonly string[],
  { columns = 80, apart = true, env, input = '' }: TerminalOptions = {},
): Promise<TerminalEnded> {
  const ended = await home.run([...args], { columns, input, env: { TERM: 'xterm', ...env } });
  const stdout = apart ? ended.stdout : ended.bytes.toString();
  return { code: ended.code, stdout, stderr: apart ? ended.stderr : '', lines: linesOf(stdout) };
}

let runs = 0;

/** Runs the program itself with a pseudo-terminal as its standard output; `input` is typed. */
export async function runOnPseudoTerminal(
  home: Home,
  args: readonly string[],
  { columns = 80, apart = true, env, ...options }: TerminalOptions = {},
): Promise<TerminalEnded> {
  const errors = home.file(`stderr-${runs++}`);
  const words = [process.execPath, launcher, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`);
  const command = `stty cols ${columns} rows 40; ${words.join(' ')}${apart ? ` 2>'${errors}'` : ''}`;
  const ended = await run('script', ['-qec', command, '/dev/null'], {
    ...options,
    env: { ...home.env, TERM: 'xterm', ...env },
  });
  const stdout = ended.stdout.replaceAll('\r\n', '\n');
  const stderr = apart ? readFileSync(errors, 'utf8') : '';
  rmSync(errors, { force: true });
  return { code: ended.code, stdout, stderr, lines: linesOf(stdout) };
}

function linesOf(text: string): string[] {
  return text.trimEnd().split('\n');
}
