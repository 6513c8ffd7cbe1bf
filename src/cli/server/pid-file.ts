import { readFileSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { PortolanError } from '../../domain/errors.ts';
import { isMissing, writeFileAtomic } from '../../workspace/atomic-file.ts';

/**
 * Pid file of a server, for scripts and service managers: the pid and a line feed, mode 0600. A stale file of a dead
 * server is replaced.
 */
export class PidFile {
  readonly #path: string;

  private constructor(path: string) {
    this.#path = path;
  }

  /** Does not write yet. @throws PortolanError `conflict` if a running server owns the file, or it is not a pid file */
  static claim(path: string): PidFile {
    const file = new PidFile(resolve(path));
    const owner = file.#read();
    if (owner !== null && owner !== process.pid && isServer(owner)) {
      throw new PortolanError('conflict', `${path} belongs to a running server (pid ${owner})`);
    }
    return file;
  }

  /** Writes the file once the server serves; removed with the process, however it exits. */
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

  /** Idempotent; a file that another server has written since stays. */
  remove(): void {
    try {
      if (this.#read() === process.pid) rmSync(this.#path, { force: true });
    } catch {
      // No longer a pid file.
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
    throw new PortolanError('conflict', `${this.#path} is not a pid file; not overwriting it`);
  }
}

/** A pid that was reused by another program is not a server. */
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
