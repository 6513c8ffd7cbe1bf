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
  /** Called with rejected lines and the reason. */
  onRefused: (lines: string[], reason: Error) => void;
  /** Called once, when the first line is written. */
  onWritten: () => void;
}

/** Buffer limit for a slow disk, bytes; beyond it lines are rejected. */
const maxWaitingBytes = 8 * 1024 * 1024;
/** Interval of pruning rotated files by age, even without rotation. */
const pruneMs = 3_600_000;

/**
 * A log file rotated by size: `portolan.log` becomes `portolan-20261006T143022.118Z-001.log`; names sort by age.
 * Deletes rotated files beyond `max_backups` or older than `max_age`. After the first failure it rejects all lines;
 * its owner opens a new one.
 */
export class LogFile {
  readonly #input: LogFileInput;
  readonly #stream: RotatingFileStream;
  /** Lines not yet written, oldest first. */
  #waiting: string[] = [];
  #failure: Error | null = null;
  #told = false;
  #pruning = Promise.resolve();
  readonly #pruner = setInterval(() => this.#pruneSoon(), pruneMs).unref();
  readonly #flushAtExit = () => this.#flush();

  /** @throws the system error if the folder cannot be created */
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

  /** Writes one line, including its line feed. */
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

  /** Resolves when every line is written or rejected. */
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

  /**
   * Writes synchronously: the stream writes in the background, and a process that exits would lose its last lines.
   */
  #flush(): void {
    const rest = this.#waiting.splice(0).join('');
    if (rest === '' || this.#failure) return;
    try {
      appendFileSync(this.#input.path, rest, { mode: fileMode });
    } catch {
      // Nothing left to report to.
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
      // The file was removed, or the folder cannot be listed: the next rotation retries.
    }
  }
}

/** An existing log file may be readable by others. */
function keepPrivate(path: string): void {
  try {
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, fileMode);
  } catch {
    // Missing, or owned by another user: opening it reports that.
  }
}
