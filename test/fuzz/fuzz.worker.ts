import { parentPort } from 'node:worker_threads';
import { type BatchOrder, type BatchReport, doubtMs, type Finding, longestMs, state } from './campaign.ts';
import { batchSeed, Mutator, type Pick, random } from './mutate.ts';
import { type FuzzedParser, parserNamed } from './parsers.ts';

const port = parentPort as NonNullable<typeof parentPort>;

/** Findings of one batch that are told in full. */
const mostTold = 5;
/** Every so many answers the result is written as the record would be. */
const written = 16;

/** One generator for what is beside the bytes of each answer, so that an answer can be read again the same way. */
function besides(order: BatchOrder, at: number): Pick {
  return random(batchSeed(order.seed, order.parser, order.batch) ^ Math.imul(at + 1, 0x9e3779b1));
}

class Batch {
  readonly #order: BatchOrder;
  readonly #parser: FuzzedParser;
  readonly #words: Int32Array;
  readonly #input: Buffer;
  readonly #report: BatchReport;

  constructor(order: BatchOrder) {
    this.#order = order;
    this.#parser = parserNamed(order.parser);
    this.#words = new Int32Array(order.watch, 0, state.words);
    this.#input = Buffer.from(order.watch, 4 * state.words);
    const { parser, batch } = order;
    this.#report = { parser, batch, answers: 0, refused: 0, faults: 0, slow: 0, slowest: 0, findings: [] };
  }

  async run(): Promise<BatchReport> {
    const { seed, parser, batch, answers } = this.#order;
    const mutator = new Mutator(this.#parser.seeds, random(batchSeed(seed, parser, batch)));
    for (let at = 0; at < answers; at++) {
      // The right answers come first, as they are.
      const right = batch === 0 ? this.#parser.seeds[at] : undefined;
      await this.#read((right ?? mutator.next()).subarray(0, this.#parser.largest), at);
    }
    return this.#report;
  }

  async #read(bytes: Buffer, at: number): Promise<void> {
    this.#begin(bytes);
    let ms = await this.#time(bytes, at, true);
    // The machine may have been busy with something else: the shortest of three counts, and processor time at that.
    for (let again = 0; again < 2 && ms > doubtMs; again++)
      ms = Math.min(ms, await this.#time(bytes, at, false));
    this.#end();
    const report = this.#report;
    report.answers += 1;
    report.slowest = Math.max(report.slowest, ms);
    if (!this.#order.timed || ms <= (this.#parser.longest?.(bytes.length) ?? longestMs)) return;
    report.slow += 1;
    this.#tell(bytes, at, `took ${ms.toFixed(0)} ms`);
  }

  /** For whoever watches: which run this is, and what it reads. */
  #begin(bytes: Buffer): void {
    bytes.copy(this.#input);
    Atomics.store(this.#words, state.length, bytes.length);
    Atomics.add(this.#words, state.run, 1);
    Atomics.store(this.#words, state.busy, 1);
  }

  #end(): void {
    Atomics.store(this.#words, state.busy, 0);
  }

  async #time(bytes: Buffer, at: number, first: boolean): Promise<number> {
    const pick = besides(this.#order, at);
    // A reader must not change what it reads, nor lean on where it lies.
    const own = Buffer.from(bytes);
    const begun = performance.now();
    const cpu = first ? undefined : process.threadCpuUsage();
    let ms = 0;
    try {
      let result = this.#parser.read(own, pick);
      if (result instanceof Promise) result = await result;
      ms = performance.now() - begun;
      if (first && at % written === 0) JSON.stringify(result);
    } catch (error) {
      ms ||= performance.now() - begun;
      if (first) this.#thrown(error, bytes, at);
    }
    if (!cpu) return ms;
    const { user, system } = process.threadCpuUsage(cpu);
    return Math.min(ms, (user + system) / 1000);
  }

  #thrown(error: unknown, bytes: Buffer, at: number): void {
    if (this.#parser.refuses?.(error)) {
      this.#report.refused += 1;
      return;
    }
    this.#report.faults += 1;
    this.#tell(bytes, at, error instanceof Error ? (error.stack ?? error.message) : String(error));
  }

  #tell(bytes: Buffer, at: number, reason: string): void {
    const { parser, batch } = this.#order;
    const finding: Finding = { parser, batch, at, reason, input: Buffer.from(bytes).toString('base64') };
    if (this.#report.findings.length < mostTold) this.#report.findings.push(finding);
  }
}

port.on('message', (order: BatchOrder) => {
  new Batch(order).run().then(
    (report) => port.postMessage(report),
    (error: unknown) => {
      throw error;
    },
  );
});
