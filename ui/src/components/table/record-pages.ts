/** Rows per request: two screens, as the server takes most of its time for the rows themselves. */
export const pageSize = 100;
/** Pages in memory: 10,000 rows of some 1 kB. The least recently used go first. */
const maxPages = 100;
/** Requests at the same time, so that scrolling does not take all six connections of the browser. */
const maxRequests = 2;
/** What is scrolled past within this time is not requested, milliseconds. */
const settleMs = 60;

/** One page as the server sent it. */
export interface LoadedPage<Row, Extra> {
  rows: readonly Row[];
  total: number;
  extra: Extra;
}

export interface PagesState<Extra> {
  total: number;
  extra: Extra | undefined;
  /** The rows are not (or not any more) those of the current parameters. */
  isPending: boolean;
  error: unknown;
}

type Load<Row, Extra> = (offset: number, signal: AbortSignal) => Promise<LoadedPage<Row, Extra>>;

/**
 * A long list of which the pages in view are loaded. `rowAt` says which those are; pages that are not in view any
 * more are not requested, or their requests are aborted.
 */
export class RecordPages<Row, Extra> {
  #state: PagesState<Extra> = { total: 0, extra: undefined, isPending: true, error: null };
  #pages = new Map<number, readonly Row[]>();
  #wanted = new Set<number>([0]);
  #requests = new Map<number, AbortController>();
  #load: Load<Row, Extra>;
  /** The pages are those of former parameters. */
  #isOutdated = false;
  #isCollecting = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #listeners = new Set<() => void>();

  constructor(load: Load<Row, Extra>) {
    this.#load = load;
  }

  /** The same object while nothing changed. */
  state(): PagesState<Extra> {
    return this.#state;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Undefined while the row is not loaded, which then happens. */
  rowAt(index: number): Row | undefined {
    const number = Math.floor(index / pageSize);
    const page = this.#pages.get(number);
    this.#want(number);
    if (page === undefined) return undefined;
    // The most recently used page is the last one of the map.
    this.#pages.delete(number);
    this.#pages.set(number, page);
    return page[index % pageSize];
  }

  /** Loads everything again, by other parameters if given. Rows stay until the new ones are there. */
  reload(load: Load<Row, Extra> = this.#load, { keepRows = true } = {}): void {
    this.#abort();
    if (load !== this.#load) this.#wanted = new Set([0]);
    this.#load = load;
    this.#isOutdated = true;
    if (!keepRows) this.#pages.clear();
    this.#change({ isPending: true, error: null, ...(!keepRows && { total: 0, extra: undefined }) });
    this.#request();
  }

  /** Ends all requests. */
  close(): void {
    clearTimeout(this.#timer);
    this.#abort();
  }

  /** Collects what one drawing of the table asks for: all of it comes in one go. */
  #want(number: number): void {
    if (!this.#isCollecting) {
      this.#isCollecting = true;
      this.#wanted = new Set();
      queueMicrotask(() => {
        this.#isCollecting = false;
        clearTimeout(this.#timer);
        if (this.#missing().length > 0) this.#timer = setTimeout(() => this.#request(), settleMs);
      });
    }
    this.#wanted.add(number);
  }

  #missing(): number[] {
    return [...this.#wanted].filter((number) => this.#isOutdated || !this.#pages.has(number));
  }

  #request(): void {
    if (this.#state.error !== null) return;
    for (const [number, request] of this.#requests) {
      if (this.#wanted.has(number)) continue;
      request.abort();
      this.#requests.delete(number);
    }
    for (const number of this.#missing()) {
      if (this.#requests.size >= maxRequests) return;
      if (!this.#requests.has(number)) void this.#fetch(number);
    }
  }

  async #fetch(number: number): Promise<void> {
    const request = new AbortController();
    this.#requests.set(number, request);
    try {
      const page = await this.#load(number * pageSize, request.signal);
      if (!request.signal.aborted) this.#add(number, page);
    } catch (error) {
      if (!request.signal.aborted) this.#change({ error, isPending: false });
    } finally {
      if (this.#requests.get(number) === request) this.#requests.delete(number);
    }
    if (!request.signal.aborted) this.#request();
  }

  #add(number: number, { rows, total, extra }: LoadedPage<Row, Extra>): void {
    if (this.#isOutdated) this.#pages.clear();
    this.#isOutdated = false;
    this.#pages.set(number, rows);
    for (const oldest of this.#pages.keys()) {
      if (this.#pages.size <= maxPages) break;
      this.#pages.delete(oldest);
    }
    this.#change({ total, extra, isPending: false, error: null });
  }

  #abort(): void {
    for (const request of this.#requests.values()) request.abort();
    this.#requests.clear();
  }

  #change(members: Partial<PagesState<Extra>>): void {
    this.#state = { ...this.#state, ...members };
    for (const listener of this.#listeners) listener();
  }
}
