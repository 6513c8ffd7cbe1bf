import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { isErrorCode, PortolanError } from '../../domain/errors.ts';
import type { ScanStatus } from '../../domain/scan.ts';
import type { ScanRecord } from '../../workspace/record/scan-record.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type {
  FromIndexThread,
  IndexedScan,
  IndexFailure,
  IndexRequest,
  IndexResponses,
  ToIndexThread,
} from './index-requests.ts';
import { RecentResponses } from './recent-responses.ts';

/** Longest time of a request, milliseconds. */
const requestMs = 5000;
/** Longest time to build the index of an ended scan in the background, milliseconds. */
const prepareMs = 3_600_000;
/** A thread that has not ended a late request after this is stuck, and is ended, milliseconds. Its builds are lost. */
const graceMs = 10_000;
/** Time for a thread to close its files, milliseconds. */
const closeMs = 5000;
/** A thread without work ends after this, with the memory of its indexes, milliseconds. */
const idleMs = 180_000;
/** Of V8 in the thread; columns are outside of it. Mebibytes. */
const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 6 };

/** @see FromIndexThread */
type Response = Pick<Extract<FromIndexThread, { type: 'response' }>, 'response' | 'size'>;

interface Waiting {
  resolve(response: Response): void;
  reject(error: unknown): void;
}

/** The indexes of the records of a server, in one thread that runs while somebody needs it. */
export class RecordIndexes {
  readonly #workspace: Pick<Workspace, 'indexFile'>;
  readonly #recent = new RecentResponses<Response>();
  #thread: IndexThread | null = null;
  #isClosed = false;
  readonly #idleMs: number;

  /** @param idle time after which a thread without work ends, milliseconds */
  constructor(workspace: Pick<Workspace, 'indexFile'>, idle = idleMs) {
    this.#workspace = workspace;
    this.#idleMs = idle;
  }

  /** @param status of the scan: the record of a running one grows, and its responses may be some seconds old */
  scan(scanId: string, record: Pick<ScanRecord, 'place'>, status?: ScanStatus): IndexedScan {
    const file = this.#workspace.indexFile(scanId);
    return { record: record.place, file, isRunning: status === 'running' };
  }

  /** Whether the thread runs. */
  get isRunning(): boolean {
    return this.#thread !== null;
  }

  /**
   * @param signal the client has gone
   * @throws PortolanError `timeout` for a request that takes too long; the reason of `signal`
   */
  async request<K extends IndexRequest['kind']>(
    scan: IndexedScan,
    request: Extract<IndexRequest, { kind: K }>,
    signal?: AbortSignal,
    deadlineMs = requestMs,
  ): Promise<IndexResponses[K]> {
    signal?.throwIfAborted();
    const compute = (client?: AbortSignal) => this.#current.request(scan, request, deadlineMs, client);
    const response = scan.isRunning
      ? await this.#recent.response(`${scan.file}: ${JSON.stringify(request)}`, compute, signal)
      : await compute(signal);
    return response.response as IndexResponses[K];
  }

  /** Builds the index of an ended scan, so that the first request finds it. */
  async prepare(scan: IndexedScan): Promise<void> {
    await this.request(scan, { kind: 'prepare' }, undefined, prepareMs);
  }

  /** Removes the index of a deleted scan. */
  forget(scanId: string): void {
    this.#recent.forget(`${this.#workspace.indexFile(scanId)}: `);
    this.#thread?.post({ type: 'forget', file: this.#workspace.indexFile(scanId) });
  }

  /** Somebody follows a scan: an index that follows it too goes on to do so. */
  watched(scanId: string): void {
    this.#thread?.post({ type: 'watched', file: this.#workspace.indexFile(scanId) });
  }

  get #current(): IndexThread {
    if (this.#isClosed) throw new PortolanError('unavailable', 'The server is stopping.');
    this.#thread ??= new IndexThread(this.#idleMs, (ended) => {
      if (this.#thread === ended) this.#thread = null;
    });
    return this.#thread;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#thread?.end();
  }
}

class IndexThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  readonly #idleMs: number;
  readonly #onEnd: (thread: IndexThread) => void;
  readonly #ended: Promise<void>;
  #lastId = 0;
  #idle: NodeJS.Timeout | null = null;

  constructor(idle: number, onEnd: (thread: IndexThread) => void) {
    this.#idleMs = idle;
    this.#onEnd = onEnd;
    const file = new URL(`./record-index.worker${extname(import.meta.url)}`, import.meta.url);
    this.#worker = new Worker(file, { resourceLimits });
    // A server that has nothing else to do must be able to exit.
    this.#worker.unref();
    this.#worker.on('message', (message: FromIndexThread) => this.#take(message));
    this.#worker.once('error', (error) => this.#failAll(error));
    this.#ended = new Promise((resolve) => {
      this.#worker.once('exit', (code) => {
        if (this.#idle) clearTimeout(this.#idle);
        onEnd(this);
        this.#failAll(new Error(`the thread of the indexes ended with code ${code}`));
        resolve();
      });
    });
  }

  post(message: ToIndexThread): void {
    this.#worker.postMessage(message);
  }

  /** Lets it close its files first: a thread that is ended within them can take the process with it. */
  async end(): Promise<void> {
    this.#worker.ref();
    this.post({ type: 'close' });
    const stuck = setTimeout(() => void this.#worker.terminate(), closeMs);
    await this.#ended;
    clearTimeout(stuck);
  }

  async request(
    scan: IndexedScan,
    request: IndexRequest,
    deadlineMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    if (this.#idle) clearTimeout(this.#idle);
    this.#idle = null;
    const id = ++this.#lastId;
    const stuck = setTimeout(() => void this.#worker.terminate(), deadlineMs + graceMs).unref();
    const abort = () => {
      this.post({ type: 'abort', id });
      this.#waiting.get(id)?.reject(signal?.reason);
    };
    signal?.addEventListener('abort', abort, { once: true });
    this.#worker.ref();
    try {
      return await new Promise((resolve, reject) => {
        this.#waiting.set(id, { resolve, reject });
        this.post({ type: 'request', id, scan, request, deadlineMs });
      });
    } finally {
      clearTimeout(stuck);
      signal?.removeEventListener('abort', abort);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) this.#worker.unref();
    }
  }

  #take(message: FromIndexThread): void {
    switch (message.type) {
      case 'response':
        this.#waiting.get(message.id)?.resolve(message);
        return;
      case 'failed':
        this.#waiting.get(message.id)?.reject(errorOf(message.error));
        return;
      case 'busy':
        if (this.#idle) clearTimeout(this.#idle);
        this.#idle = null;
        return;
      case 'idle':
        this.#idle ??= setTimeout(() => void this.#endIfUnused(), this.#idleMs).unref();
    }
  }

  async #endIfUnused(): Promise<void> {
    this.#idle = null;
    if (this.#waiting.size > 0) return;
    // A request that comes now begins another thread.
    this.#onEnd(this);
    await this.end();
  }

  #failAll(error: unknown): void {
    const late = new PortolanError('timeout', 'The query took too long and was stopped.', {}, error);
    for (const { reject } of this.#waiting.values()) reject(late);
  }
}

function errorOf({ code, message, details, stack }: IndexFailure): Error {
  if (isErrorCode(code)) return new PortolanError(code, message, details);
  return Object.assign(new Error(message), stack !== null && { stack });
}
