import { createInterface } from 'node:readline';
import { usage } from './failure.ts';
import { note } from './output.ts';

/**
 * Asks before something is deleted or replaced; everything but `y` and `yes` declines.
 * @param request `Delete 3 scans (41 MB)`
 * @throws PortolanError `usage` without a terminal to ask on
 */
export async function isConfirmed(request: string, act = 'delete'): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw usage(`${request}? There is no terminal to ask on: --force ${act}s without asking`);
  const agreed = /^y(?:es)?$/i.test((await readTyped(`${request}? [y/N] `)).trim());
  if (!agreed) note(`nothing ${act}d`);
  return agreed;
}

/** One line from the terminal; empty after Ctrl-C or Ctrl-D. */
async function readTyped(prompt: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const typed = await new Promise<string>((resolve) => {
    terminal.once('close', () => resolve(''));
    terminal.question(prompt, resolve);
  });
  terminal.close();
  return typed;
}
