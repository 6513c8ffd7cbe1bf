import { type ChildProcess, spawn } from 'node:child_process';
import { noteCommand } from '../starts.ts';

/** Longest output that a command of a page may have, bytes. */
const maxOutput = 1024 * 1024;

/** What a command printed, standard output and standard error as they came, and how it ended. */
export interface Printed {
  output: string;
  code: number;
}

/** One bash for the commands of a page, one after the other: variables and background jobs stay. */
export class Shell {
  readonly #child: ChildProcess;
  #unread = '';
  #heard: () => void = () => undefined;

  constructor(options: { cwd: string; env: NodeJS.ProcessEnv }) {
    this.#child = spawn('bash', ['--noprofile', '--norc'], { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
    // One place for both: the page shows what a terminal shows.
    this.#child.stdin?.write('exec 2>&1\n');
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      this.#unread = (this.#unread + chunk.toString()).slice(-maxOutput);
      this.#heard();
    });
    this.#child.once('close', () => this.#heard());
  }

  /** @throws Error if the shell ends meanwhile */
  async run(command: string): Promise<Printed> {
    noteCommand([command]);
    const mark = `--end-of-command-${Math.random().toString(36).slice(2)}`;
    const end = new RegExp(`\\n?${mark} (\\d+)\\n$`);
    this.#child.stdin?.write(`{ ${command}\n} </dev/null\nprintf '\\n${mark} %d\\n' $?\n`);
    for (;;) {
      const found = end.exec(this.#unread);
      if (found) {
        const output = this.#unread.slice(0, found.index);
        this.#unread = '';
        return {
          output: output === '' || output.endsWith('\n') ? output : `${output}\n`,
          code: Number(found[1]),
        };
      }
      if (this.#child.exitCode !== null) throw new Error(`the shell ended:\n${this.#unread}`);
      await new Promise<void>((resolve) => {
        this.#heard = resolve;
      });
    }
  }

  /** Ends the shell and waits for it; background jobs of the page end by its own commands. */
  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.stdin?.end();
    await ended;
  }
}
