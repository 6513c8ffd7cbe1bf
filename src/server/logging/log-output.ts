import { type DestinationStream, pino } from 'pino';
import type { Config } from '../../config/schema.ts';
import { withoutTokens } from '../../domain/text/secret-text.ts';
import { LogFile } from './log-file.ts';

type Logging = Config['logging'];

/** Retry interval of a log file that cannot be written, milliseconds. */
const retryMs = 2000;
/** Maximum size of buffered lines for standard error or output; more are dropped. */
const maxUnwrittenBytes = 1024 * 1024;

/**
 * Where the log goes: standard error or output, the log file, or both. Lines that the file rejects (full disk,
 * missing rights) go to standard error; nothing waits for the log. Redacts API tokens.
 */
export class LogOutput implements DestinationStream {
  readonly #defaultFile: string;
  #logging: Logging;
  #console: DestinationStream | null;
  #file: LogFile | null = null;
  #path: string | null = null;
  #fault: string | null = null;
  #retryAt = 0;

  /** @param defaultFile log file if `logging.file.path` is not set */
  constructor(logging: Logging, defaultFile: string) {
    this.#defaultFile = defaultFile;
    this.#logging = structuredClone(logging);
    this.#console = consoleOf(logging);
    this.#open();
  }

  /** Why the log file is not being written; null if it is. */
  get fault(): string | null {
    return this.#fault;
  }

  /** Path of the log file, or null. */
  get path(): string | null {
    return this.#path;
  }

  /** Applies changed settings; pending lines still go to the old file. */
  use(logging: Logging): void {
    const before = this.#file;
    this.#logging = structuredClone(logging);
    this.#console = consoleOf(logging);
    this.#file = null;
    this.#fault = null;
    this.#open();
    void before?.close();
  }

  /** Writes a line of pino: JSON with its line feed. */
  write(line: string): void {
    this.#put(this.#logging.format === 'json' ? line : `${textLine(line)}\n`);
  }

  /**
   * Receiver of formatted lines of a scan process, without line feed. Null if the process can write to the shared
   * standard error instead.
   */
  lineTaker(): ((line: string) => void) | null {
    if (this.#path === null && this.#logging.output === 'stderr') return null;
    return (line) => this.#put(`${line}\n`);
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    this.#path = null;
    this.#console ??= standardError();
    await file?.close();
  }

  #put(text: string): void {
    const line = withoutTokens(text);
    this.#console?.write(line);
    if (this.#path === null) return;
    if (this.#file?.failed !== false && performance.now() >= this.#retryAt) this.#open();
    if (this.#file) this.#file.write(line);
    else this.#refused([line], null);
  }

  #open(): void {
    this.#path = pathOf(this.#logging, this.#defaultFile);
    if (this.#path === null) return;
    this.#retryAt = performance.now() + retryMs;
    void this.#file?.close();
    try {
      const file: LogFile = new LogFile({
        path: this.#path,
        limits: this.#logging.file,
        onRefused: (lines, reason) => this.#refused(lines, reason),
        onWritten: () => this.#written(),
      });
      this.#file = file;
    } catch (error) {
      this.#file = null;
      this.#refused([], error as Error);
    }
  }

  #refused(lines: string[], reason: Error | null): void {
    if (this.#fault === null && reason) {
      this.#fault = `cannot write the log file: ${(reason as NodeJS.ErrnoException).code ?? reason.message}`;
      standardError().write(this.#remark('error', `${this.#fault}; logging to standard error`));
    }
    if (this.#console === null) for (const line of lines) standardError().write(line);
  }

  #written(): void {
    if (this.#fault === null) return;
    this.#fault = null;
    standardError().write(this.#remark('info', 'log file writable again'));
  }

  #remark(level: string, msg: string): string {
    const json = JSON.stringify({ level, time: new Date().toISOString(), msg });
    return `${this.#logging.format === 'json' ? json : textLine(json)}\n`;
  }
}

/** Log file of the settings, or null. */
function pathOf({ output, file }: Logging, defaultFile: string): string | null {
  return output === 'file' || file.enabled ? file.path || defaultFile : null;
}

function consoleOf({ output }: Logging): DestinationStream | null {
  if (output === 'file') return null;
  return output === 'stdout' ? openConsole(1) : standardError();
}

let errorStream: DestinationStream | null = null;

/** Synchronous: the last lines of a dying process are the ones that matter. */
export function standardError(): DestinationStream {
  errorStream ??= openConsole(2);
  return errorStream;
}

/** A closed terminal or pipe must not stop the server from working or exiting. */
function openConsole(descriptor: 1 | 2): DestinationStream {
  const stream = pino.destination({ dest: descriptor, sync: true, maxLength: maxUnwrittenBytes });
  stream.on('error', () => undefined);
  return stream;
}

/** `2026-10-06T14:30:22.118Z info  request method=GET status=200` */
export function textLine(json: string): string {
  const { time, level, msg, err, ...details } = JSON.parse(json) as Record<string, unknown>;
  const facts = Object.entries(details).map(([name, value]) => ` ${name}=${plain(value)}`);
  const cause = err as { stack?: string; message?: string } | undefined;
  const text = `${time} ${String(level).padEnd(5)} ${msg}${facts.join('')}`;
  return visible(cause ? `${text}\n${cause.stack ?? cause.message}` : text);
}

function plain(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : (JSON.stringify(value) ?? '');
}

/** Messages may contain text of targets: escapes control characters for the terminal. */
function visible(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return text.replace(
    /[\0-\x08\x0b-\x1f\x7f-\x9f]/g,
    (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}
