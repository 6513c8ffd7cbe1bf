import { type ChildProcess, spawn } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Home } from '../cli/command.ts';
import { root } from '../program.ts';
import { noteCommand } from '../starts.ts';

/** Longest output that a command of a page may have, bytes. */
const maxOutput = 1024 * 1024;

/** What a command printed, standard output and standard error as they came, and how it ended. */
export interface Printed {
  output: string;
  code: number;
}

/** A call of the program in which the shell has nothing to do: words, some of them quoted, and variables before them. */
const plainCommand =
  /^((?:[A-Z_]+=[\w./:-]+ )*)portolan((?: (?:"[^"$`\\]*"|'[^']*'|[^\s"'$`\\|&;<>(){}*?~#]+))+)$/;

/**
 * One bash for the commands of a page, one after the other: variables and background jobs stay. Plain calls of the program run in
 * the process of the test, where the shell is.
 */
export class Shell {
  readonly #child: ChildProcess;
  readonly #home: Home;
  readonly #env: NodeJS.ProcessEnv;
  #unread = '';
  #heard: () => void = () => undefined;

  /** @param env beside that of the home */
  constructor(home: Home, { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv }) {
    this.#home = home;
    this.#env = env;
    const PATH = `${join(root, 'bin')}:${home.env['PATH']}`;
    const options = { cwd, env: { ...home.env, PATH, ...env } };
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
    const [, variables = '', words = ''] = plainCommand.exec(command) ?? [];
    // A server in the background is a process of its own.
    if (words !== '' && !/^ server (?:start|restart)/.test(words))
      return await this.#runHere(variables, words);
    return await this.#runInShell(command);
  }

  async #runHere(variables: string, words: string): Promise<Printed> {
    const args = [...words.matchAll(/ (?:"([^"]*)"|'([^']*)'|(\S+))/g)].map(
      ([, double, single, bare]) => double ?? single ?? bare ?? '',
    );
    const own = variables
      .split(' ')
      .flatMap((set) => (set === '' ? [] : [set.split('=') as [string, string]]));
    const env = { ...this.#env, ...Object.fromEntries(own) };
    const cwd = readlinkSync(`/proc/${this.#child.pid}/cwd`);
    const { code, bytes } = await this.#home.run(args, { env, cwd });
    return { output: bytes.toString(), code: code ?? 1 };
  }

  async #runInShell(command: string): Promise<Printed> {
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
