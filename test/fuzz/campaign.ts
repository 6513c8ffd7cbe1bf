import { Worker } from 'node:worker_threads';
import { largestResponse } from './mutate.ts';
import { type FuzzedParser, parsers } from './parsers.ts';

/** Longest time for one answer, ms. */
export const longestMs = 100;
/** From here on a time is taken again. */
export const doubtMs = 5;
/** A run that takes longer is taken for one without end, and its thread is stopped. */
const endlessMs = 30_000;
/** How often the threads are looked at. */
const lookMs = 20;
/** Answers that a thread gets at a time. */
const batchAnswers = 5000;

/** Words that a thread shares with whoever watches it; the answer that it reads stands behind them. */
export const state = { run: 0, busy: 1, length: 2, words: 4 } as const;

/** Part of a campaign: the same answers for the same seed, parser and number. */
export interface BatchOrder {
  parser: string;
  seed: number;
  batch: number;
  answers: number;
  timed: boolean;
  watch: SharedArrayBuffer;
}

/** An answer that a parser does not bear. */
export interface Finding {
  parser: string;
  batch: number;
  /** Number in the batch; -1 = seen by the watch only. */
  at: number;
  reason: string;
  /** Base64. */
  input: string;
}

export interface Tally {
  answers: number;
  /** Said no to in the way that is meant for it. */
  refused: number;
  /** Errors that nobody expects. */
  faults: number;
  /** Longer than `longestMs`, also when tried again. */
  slow: number;
  /** Longest run, ms; the shortest of three where the first was long. */
  slowest: number;
}

export interface BatchReport extends Tally {
  parser: string;
  batch: number;
  findings: Finding[];
}

export interface CampaignOptions {
  seed: number;
  /** Answers of all parsers together. */
  answers: number;
  threads: number;
  only?: readonly string[];
  /** Whether an answer that takes longer than `longestMs` is a finding: for benches. One without end always is. */
  timed: boolean;
  /** Told after each batch. */
  onProgress?(done: number, all: number): void;
}

export interface CampaignReport {
  byParser: Map<string, Tally>;
  findings: Finding[];
  /** Runs that the watch saw taking longer than `longestMs`: on a busy machine also quick ones. */
  noticed: number;
}

/** Splits the answers among the parsers, by their shares. */
export function responsesOf(all: number, chosen: readonly FuzzedParser[]): Map<string, number> {
  const shares = chosen.reduce((sum, { share }) => sum + share, 0);
  return new Map(chosen.map(({ name, share }) => [name, Math.ceil((all * share) / shares)]));
}

/** Lets all parsers read hostile answers, in threads that are watched. */
export async function runCampaign(options: CampaignOptions): Promise<CampaignReport> {
  const chosen = parsers.filter(({ name }) => options.only?.includes(name) ?? true);
  if (chosen.length === 0) throw new Error(`no parser is named ${options.only?.join(', ')}`);
  const byParser = new Map<string, Tally>();
  const orders: Omit<BatchOrder, 'watch'>[] = [];
  let all = 0;
  for (const [parser, answers] of responsesOf(options.answers, chosen)) {
    byParser.set(parser, { answers: 0, refused: 0, faults: 0, slow: 0, slowest: 0 });
    all += answers;
    for (let batch = 0; batch * batchAnswers < answers; batch++) {
      const size = Math.min(batchAnswers, answers - batch * batchAnswers);
      orders.push({ parser, seed: options.seed, batch, answers: size, timed: options.timed });
    }
  }
  // Parsers side by side from the first second on: whoever stops early has seen each of them.
  orders.sort((a, b) => a.batch - b.batch);
  const report: CampaignReport = { byParser, findings: [], noticed: 0 };
  let done = 0;
  const take = (batch: BatchReport) => {
    const tally = byParser.get(batch.parser) as Tally;
    for (const name of ['answers', 'refused', 'faults', 'slow'] as const) tally[name] += batch[name];
    tally.slowest = Math.max(tally.slowest, batch.slowest);
    report.findings.push(...batch.findings);
    done += batch.answers;
    options.onProgress?.(done, all);
  };
  const threads = Array.from({ length: options.threads }, () => new FuzzThread());
  try {
    await Promise.all(
      threads.map(async (thread) => {
        for (let order = orders.shift(); order; order = orders.shift()) take(await thread.run(order));
      }),
    );
  } finally {
    await Promise.all(threads.map((thread) => thread.close()));
  }
  report.noticed = threads.reduce((sum, { noticed }) => sum + noticed, 0);
  return report;
}

/** A thread, and the watch over it. */
class FuzzThread {
  noticed = 0;
  #worker: Worker | null = null;
  readonly #watch = new SharedArrayBuffer(4 * state.words + largestResponse);
  readonly #words = new Int32Array(this.#watch, 0, state.words);

  async run(order: Omit<BatchOrder, 'watch'>): Promise<BatchReport> {
    this.#worker ??= new Worker(new URL('./fuzz.worker.ts', import.meta.url));
    const worker = this.#worker;
    let look: NodeJS.Timeout | undefined;
    const { promise, resolve, reject } = Promise.withResolvers<BatchReport>();
    const onError = (error: Error) => resolve(this.#lost(order, `the thread ended: ${error.stack}`));
    const onExit = (code: number) => reject(new Error(`a thread ended with ${code}`));
    worker.on('message', resolve).on('error', onError).on('exit', onExit);
    try {
      look = this.#look(() => resolve(this.#lost(order, `took more than ${endlessMs} ms`)));
      worker.postMessage({ ...order, watch: this.#watch } satisfies BatchOrder);
      return await promise;
    } finally {
      clearInterval(look);
      worker.off('message', resolve).off('error', onError).off('exit', onExit);
    }
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
  }

  /** Looks whether the thread is still at the same answer. */
  #look(onEndless: () => void): NodeJS.Timeout {
    let run = -1;
    let since = 0;
    let noted = false;
    return setInterval(() => {
      const current = Atomics.load(this.#words, state.run);
      if (Atomics.load(this.#words, state.busy) === 0 || current !== run) {
        run = current;
        since = performance.now();
        noted = false;
        return;
      }
      const ms = performance.now() - since;
      if (ms > longestMs && !noted) {
        noted = true;
        this.noticed += 1;
      }
      if (ms > endlessMs) onEndless();
    }, lookMs);
  }

  /** The rest of the batch is given up with the thread. */
  #lost({ parser, batch }: Omit<BatchOrder, 'watch'>, reason: string): BatchReport {
    const length = Atomics.load(this.#words, state.length);
    const bytes = Buffer.from(new Uint8Array(this.#watch, 4 * state.words, length));
    const worker = this.#worker;
    this.#worker = null;
    void worker?.terminate();
    const findings = [{ parser, batch, at: -1, reason, input: bytes.toString('base64') }];
    return { parser, batch, answers: 1, refused: 0, faults: 1, slow: 0, slowest: endlessMs, findings };
  }
}
