import { appendFileSync, chmodSync, mkdirSync, statSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { createStream, type RotatingFileStream } from 'rotating-file-stream';
import type { Config } from '../../config/schema.ts';
import { fileMode, folderMode } from '../../workspace/atomic-file.ts';
import { rotatedFiles, rotatedName } from '../../workspace/rotated-files.ts';

export interface LogFileInput {
  path: string;
  limits: Pick<Config['logging']['file'], 'max_size' | 'max_backups' | 'max_age'>;
  /** Takes what the file refused, with the reason. */
  onRefused: (lines: string[], reason: Error) => void;
  /** Told once, when the first line is in the file. */
  onWritten: () => void;
}

/** Text that waits for a slow disk, bytes; beyond it lines are refused. */
const maxWaitingBytes = 8 * 1024 * 1024;
/** Rotated files grow old also where nothing is rotated. */
const pruneMs = 3_600_000;

/**
 * A log file that is rotated by size: `portolan.log` becomes `portolan-20261006T143022.118Z-001.log`, names that sort
 * by age. Rotated files beyond `max_backups` or older than `max_age` are deleted. After the first failure the file
 * takes nothing more; whoever owns it opens another one.
 */
export class LogFile {
  readonly #input: LogFileInput;
  readonly #stream: RotatingFileStream;
  /** Lines that are not yet known to be in the file, the oldest first. */
  #waiting: string[] = [];
  #failure: Error | null = null;
  #told = false;
  #pruning = Promise.resolve();
  readonly #pruner = setInterval(() => this.#pruneSoon(), pruneMs).unref();
  readonly #flushAtExit = () => this.#flush();

  /** @throws what the system says when the folder cannot be made */
  constructor(input: LogFileInput) {
    this.#input = input;
    const { path, limits } = input;
    mkdirSync(dirname(path), { recursive: true, mode: folderMode });
    keepPrivate(path);
    const nameOf = (time: number | Date | null, index = 1) =>
      time instanceof Date ? rotatedName(path, time, index) : basename(path);
    this.#stream = createStream(nameOf, {
      path: `${dirname(path)}/`,
      size: `${limits.max_size}B`,
      mode: fileMode,
    });
    this.#stream.on('error', (error) => this.#fail(error));
    this.#stream.on('rotated', () => this.#pruneSoon());
    this.#pruneSoon();
    process.on('exit', this.#flushAtExit);
  }

  /** One whole line with its line feed. */
  write(line: string): void {
    if (this.#failure) return this.#input.onRefused([line], this.#failure);
    if (this.#stream.writableLength > maxWaitingBytes) {
      return this.#input.onRefused([line], new Error('the disk is too slow'));
    }
    this.#waiting.push(line);
    this.#stream.write(line, (error) => {
      if (error) this.#fail(error);
      else this.#wrote();
    });
  }

  /** Resolves when everything is in the file, or was refused. */
  async close(): Promise<void> {
    clearInterval(this.#pruner);
    await new Promise<void>((resolve) => {
      if (this.#stream.closed || this.#stream.destroyed) return resolve();
      this.#stream.once('close', resolve);
      this.#stream.end();
    });
    process.off('exit', this.#flushAtExit);
    await this.#pruning;
  }

  get failed(): boolean {
    return this.#failure !== null;
  }

  #wrote(): void {
    this.#waiting.shift();
    if (this.#told) return;
    this.#told = true;
    this.#input.onWritten();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    const refused = this.#waiting.splice(0);
    if (refused.length > 0) this.#input.onRefused(refused, error);
  }

  /** The stream writes in the background; a process that ends at once still says its last words. */
  #flush(): void {
    const rest = this.#waiting.splice(0).join('');
    if (rest === '' || this.#failure) return;
    try {
      appendFileSync(this.#input.path, rest, { mode: fileMode });
    } catch {
      // There is nobody left to tell.
    }
  }

  #pruneSoon(): void {
    this.#pruning = this.#pruning.then(() => this.#prune());
  }

  async #prune(): Promise<void> {
    const { path, limits } = this.#input;
    try {
      const rotated = (await rotatedFiles(path)).reverse();
      const oldest = Date.now() - limits.max_age;
      for (const [index, file] of rotated.entries()) {
        if (index >= limits.max_backups || (await stat(file)).mtimeMs < oldest)
          await rm(file, { force: true });
      }
    } catch {
      // A file that somebody else took away, or a folder that cannot be listed: the next rotation tries again.
    }
  }
}

/** A log file that was there before may have been readable by others. */
function keepPrivate(path: string): void {
  try {
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, fileMode);
  } catch {
    // Not there yet, or not ours: opening it will tell.
  }
}
