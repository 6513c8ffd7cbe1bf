import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { isErrorCode, PortolanError } from '../../domain/errors.ts';
import { Slots } from '../../net/gate/slots.ts';
import type { FromReport, ReportFailure, ReportJob, ToReport } from './report-job.ts';

/** Reports rendered at once; others wait. */
const maxAtOnce = 2;

/** A reader who takes nothing for this time loses the report: others wait for its thread. Milliseconds. */
const longestReaderPause = 30_000;

/** Of V8 in a thread: a report that needs more fails, the server does not. Mebibytes. */
const maxReportMemory = 512;
const resourceLimits = { maxOldGenerationSizeMb: maxReportMemory, maxYoungGenerationSizeMb: 32 };

/** Renders reports in threads, so that the event loop of a server stays free. */
export class ReportThreads {
  readonly #slots = new Slots(maxAtOnce);
  readonly #limits: typeof resourceLimits;
  readonly #readerPause: number;
  #running = 0;

  /**
   * @param limits of one thread
   * @param readerPause longest pause of a reader, milliseconds
   */
  constructor(limits = resourceLimits, readerPause = longestReaderPause) {
    this.#limits = limits;
    this.#readerPause = readerPause;
  }

  /** Threads that have not ended. */
  get running(): number {
    return this.#running;
  }

  /**
   * The bytes of a report, from its first piece on.
   * @param signal ends the thread, whether anybody reads or not
   * @throws the reason of `signal`; PortolanError, `not_found` for a scan that was deleted meanwhile
   */
  async render(job: ReportJob, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    if (!(await this.#slots.acquire(signal))) throw signal.reason;
    this.#running += 1;
    const thread = new ReportThread(job, this.#limits, this.#readerPause, signal);
    void thread.ended.finally(() => {
      this.#running -= 1;
      this.#slots.release();
    });
    try {
      const first = await thread.next();
      return piecesOf(thread, first);
    } catch (error) {
      thread.end();
      throw error;
    }
  }
}

async function* piecesOf(thread: ReportThread, first: Uint8Array | null): AsyncGenerator<Uint8Array> {
  try {
    for (let piece = first; piece !== null; piece = await thread.next()) yield piece;
  } finally {
    thread.end();
  }
}

/** One thread with its report. */
class ReportThread {
  /** Resolves when the thread is gone. */
  readonly ended: Promise<void>;
  readonly #worker: Worker;
  readonly #pieces: Uint8Array[] = [];
  /** Set once no more pieces come; with the error null the report is complete. */
  #outcome: { error: unknown } | null = null;
  #wake: (() => void) | null = null;
  readonly #readerPause: number;
  /** Runs while the thread works and its reader has something to take. */
  #pause: NodeJS.Timeout | null = null;

  constructor(job: ReportJob, limits: typeof resourceLimits, readerPause: number, signal: AbortSignal) {
    this.#readerPause = readerPause;
    const file = new URL(`./report.worker${extname(import.meta.url)}`, import.meta.url);
    this.#worker = new Worker(file, { workerData: job, resourceLimits: limits });
    this.#worker.on('message', (message: FromReport) => this.#take(message));
    this.#worker.once('error', (error) => this.#conclude(errorOfThread(error, limits)));
    const abort = () => {
      this.#conclude(signal.reason);
      this.end();
    };
    signal.addEventListener('abort', abort, { once: true });
    this.ended = new Promise((resolve) => {
      this.#worker.once('exit', (code) => {
        signal.removeEventListener('abort', abort);
        if (this.#pause) clearTimeout(this.#pause);
        this.#conclude(new Error(`the thread of the report ended with code ${code}`));
        resolve();
      });
    });
  }

  /** The next piece; null at the end. @throws what ended the report before that */
  async next(): Promise<Uint8Array | null> {
    for (;;) {
      const piece = this.#pieces.shift();
      if (piece !== undefined) {
        this.#pause?.refresh();
        this.#worker.postMessage('taken' satisfies ToReport);
        return piece;
      }
      if (this.#outcome !== null) {
        if (this.#outcome.error !== null) throw this.#outcome.error;
        return null;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  end(): void {
    void this.#worker.terminate();
  }

  #giveUp(): void {
    // The reader waits for the thread, which takes its time.
    if (this.#pieces.length === 0) {
      this.#pause?.refresh();
      return;
    }
    this.#conclude(new Error(`nobody took a piece of the report for ${this.#readerPause} ms`));
    this.end();
  }

  #take(message: FromReport): void {
    if (message.type === 'piece') {
      if (this.#pieces.push(message.bytes) === 1) this.#pause?.refresh();
      this.#pause ??= setTimeout(() => this.#giveUp(), this.#readerPause).unref();
    } else this.#conclude(message.type === 'failed' ? errorOf(message.error) : null);
    this.#wake?.();
  }

  /** The first reason counts. */
  #conclude(error: unknown): void {
    if (this.#outcome !== null) return;
    this.#outcome = { error };
    if (error !== null) this.#pieces.length = 0;
    this.#wake?.();
  }
}

function errorOf({ code, message, details, stack }: ReportFailure): Error {
  if (isErrorCode(code)) return new PortolanError(code, message, details);
  return Object.assign(new Error(message), stack !== null && { stack });
}

function errorOfThread(error: unknown, { maxOldGenerationSizeMb: limit }: typeof resourceLimits): unknown {
  if ((error as NodeJS.ErrnoException).code !== 'ERR_WORKER_OUT_OF_MEMORY') return error;
  return new PortolanError('internal_error', `The report needs more than ${limit} MiB of memory.`, {}, error);
}
