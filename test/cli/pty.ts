import { type ChildProcess, spawn } from 'node:child_process';
import { root } from '../program.ts';
import { launcher } from './command.ts';

/** Runs a command in a pseudo terminal of a size; what is written to its stdin is typed. Ends with `[exit N]` or `[signal N]`. */
const terminal = `
import fcntl, os, pty, select, signal, struct, sys, termios
rows, columns = int(sys.argv[1]), int(sys.argv[2])
child, screen = pty.fork()
if child == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
    os.execvp(sys.argv[3], sys.argv[3:])
fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
inputs = [screen, 0]
while screen in inputs:
    for source in select.select(inputs, [], [])[0]:
        try:
            data = os.read(source, 65536)
        except OSError:
            data = b''
        if not data:
            inputs.remove(source)
        elif source == screen:
            os.write(1, data)
        elif data.startswith(b'resize '):
            columns = int(data.split()[1])
            fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
            os.kill(child, signal.SIGWINCH)
        else:
            os.write(screen, data)
status = os.waitpid(child, 0)[1]
code = os.waitstatus_to_exitcode(status)
print('[exit %d]' % code if code >= 0 else '[signal %d]' % -code)
`;

/** A program that takes longer hangs, also beside much other work, milliseconds. */
const longestMs = 90_000;

export interface TerminalOptions {
  columns?: number;
  env: NodeJS.ProcessEnv;
  /** Called with everything that was written so far, whenever more comes. */
  onOutput?: (output: string, type: (keys: string) => void) => void;
}

/** Runs the program in a pseudo terminal. @returns everything that was written to it, with `[exit N]` at its end */
export function runInTerminal(
  args: string[],
  { columns = 80, env, onOutput }: TerminalOptions,
): Promise<string> {
  const script = ['-c', terminal, '30', String(columns), launcher, ...args];
  const child: ChildProcess = spawn('python3', script, {
    env: { ...env, TERM: 'xterm-256color' },
    cwd: root,
  });
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    onOutput?.(output, (keys) => child.stdin?.write(keys));
  });
  child.stdin?.on('error', () => undefined);
  // A program that waits for keys that never come would wait for ever.
  const limit = setTimeout(() => child.kill(), longestMs);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => {
      clearTimeout(limit);
      resolve(output);
    });
  });
}

/** What stands on the screen after the output: lines that were erased are gone. */
export function screenOf(output: string): string[] {
  const lines = [''];
  for (const token of output.match(/\x1b\[[\d;]*[A-Za-z]|\r|\n|[^\x1b\r\n]+/g) ?? []) {
    if (token === '\n') lines.push('');
    else if (token === '\x1b[2K') lines[lines.length - 1] = '';
    else if (token === '\x1b[1A') lines.pop();
    else if (!token.startsWith('\x1b') && token !== '\r') lines[lines.length - 1] += token;
  }
  return lines;
}
