import { readFileSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { PortolanError } from '../../domain/errors.ts';
import { isMissing, writeFileAtomic } from '../../workspace/atomic-file.ts';

/**
 * The file that names the process of a server, for scripts and service managers: its number and a line feed, mode 0600.
 * What a dead server left behind is replaced.
 */
export class PidFile {
  readonly #path: string;

  private constructor(path: string) {
    this.#path = path;
  }

  /** Writes nothing yet. @throws PortolanError `conflict` when the file is another running server's, or no pid file */
  static claim(path: string): PidFile {
    const file = new PidFile(resolve(path));
    const owner = file.#read();
    if (owner !== null && owner !== process.pid && isServer(owner)) {
      throw new PortolanError('conflict', `${path} belongs to a running server (pid ${owner})`);
    }
    return file;
  }

  /** Written when the server serves; gone with the process, however it exits. */
  async write(): Promise<void> {
    try {
      await writeFileAtomic(this.#path, `${process.pid}\n`);
    } catch (error) {
      if (error instanceof PortolanError) throw error;
      const { code } = error as NodeJS.ErrnoException;
      throw new PortolanError('conflict', `cannot write ${this.#path}: ${code}`, {}, error);
    }
    process.once('exit', () => this.remove());
  }

  /** May be called again; a file that another server wrote meanwhile stays. */
  remove(): void {
    try {
      if (this.#read() === process.pid) rmSync(this.#path, { force: true });
    } catch {
      // It is no pid file any more.
    }
  }

  #read(): number | null {
    let text: string;
    try {
      text = readFileSync(this.#path, 'utf8');
    } catch (error) {
      if (isMissing(error)) return null;
      const { code } = error as NodeJS.ErrnoException;
      throw new PortolanError('conflict', `cannot read ${this.#path}: ${code}`, {}, error);
    }
    if (/^\s*\d{1,10}\s*$/.test(text)) return Number(text);
    if (text.trim() === '') return null;
    throw new PortolanError('conflict', `${this.#path} is no pid file; it is not overwritten`);
  }
}

/** A number that was given to another program since is no server. */
function isServer(pid: number): boolean {
  const words = commandLine(pid).split('\0');
  const server = words.indexOf('server');
  return server !== -1 && words.includes('start', server + 1);
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
