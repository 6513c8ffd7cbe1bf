import { flushCompileCache } from 'node:module';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { Responses } from '../frame/response-reader.ts';
import { ReceiveSocket } from '../linux/receive-socket.ts';
import { buffersOf, Chunk, clockMs, zeroWindowBit } from './chunk.ts';
import {
  type ChunkMessage,
  control,
  type FromReceiver,
  type ThreadStart,
  type ToReceiver,
} from './engine-control.ts';

/** Longest wait for packets, so that messages and the stop flag are seen. */
const pollMs = 10;
/** Open endpoints per message. */
const maxReports = 1024;
/** Maximum delay of reports, milliseconds. */
const reportIntervalMs = 20;

const port = parentPort as NonNullable<typeof parentPort>;
const own = workerData as ThreadStart;
const words = new Int32Array(own.control);
const responses = new Responses(own);

const post = (message: FromReceiver) => port.postMessage(message);

/** Open endpoints of one chunk, reported in batches. */
class ChunkReport {
  readonly chunk: Chunk;
  #endpoints = new Uint32Array(maxReports);
  #count = 0;
  #since = 0;

  constructor(chunk: Chunk) {
    this.chunk = chunk;
  }

  /** @param endpoint with `zeroWindowBit` where it applies */
  add(endpoint: number): void {
    if (this.#count === 0) this.#since = responses.now;
    this.#endpoints[this.#count] = endpoint;
    this.#count += 1;
    if (this.#count === maxReports) this.flush();
  }

  flushOld(): void {
    if (this.#count > 0 && ((responses.now - this.#since) & 0x7fffffff) >= reportIntervalMs) this.flush();
  }

  flush(): void {
    if (this.#count === 0) return;
    const endpoints = this.#endpoints.slice(0, this.#count);
    this.#count = 0;
    post({ type: 'open', id: this.chunk.plan.id, endpoints });
  }
}

/** By chunk ID. */
const chunks = new Map<number, ChunkReport>();

function receive(socket: ReceiveSocket): void {
  for (;;) {
    const received = receiveMessageOnPort(port);
    if (!received) return;
    onMessage(received.message as ToReceiver, socket);
  }
}

function onMessage(message: ToReceiver, socket: ReceiveSocket): void {
  if (message.type === 'chunk') {
    add(message);
  } else if (message.type === 'figures') {
    reportCounters(socket);
  } else {
    const { id, last } = message;
    const report = chunks.get(id);
    if (!report) return;
    // Packets that have arrived must not count as silence because they were not read yet.
    if (last) for (let left = socket.ring.blocks; left > 0 && readBlock(socket); left--);
    // Open ports first: whoever has the state has them too.
    report.flush();
    const state = report.chunk.state();
    if (last) {
      state.stacks = Uint32Array.from(report.chunk.stacks);
      state.openRuns = Uint32Array.from(report.chunk.openRuns);
    }
    // The engine may be closed right after the end of its last chunk.
    if (last) {
      reportCounters(socket);
      remove(id);
    }
    // Up to 160 KB: moved, not copied.
    port.postMessage({ type: 'state', id, last, state } satisfies FromReceiver, buffersOf(state));
  }
}

function reportCounters(socket: ReceiveSocket): void {
  const { received, dropped } = socket.figures();
  post({ type: 'figures', figures: { received, dropped, ...responses.counts } });
}

function add({ plan, memory }: ChunkMessage): void {
  const report = new ChunkReport(new Chunk(plan, memory));
  chunks.set(plan.id, report);
  responses.add(report.chunk, (endpoint, hasWindow) =>
    report.add(hasWindow ? endpoint : endpoint + zeroWindowBit),
  );
  post({ type: 'added', id: plan.id });
}

function remove(id: number): void {
  chunks.delete(id);
  responses.remove(id);
}

function readBlock({ ring }: ReceiveSocket): boolean {
  responses.now = clockMs();
  return ring.readBlock((start, length) => responses.read(ring.bytes, start, length));
}

function listen(): void {
  const socket = new ReceiveSocket(own.ownPort);
  post({ type: 'listening' });
  while (Atomics.load(words, control.stop) === 0) {
    receive(socket);
    if (!readBlock(socket)) socket.wait(pollMs);
    for (const report of chunks.values()) report.flushOld();
  }
}

// The process is terminated: flush the compile cache before.
flushCompileCache();
try {
  listen();
} catch (error) {
  post({ type: 'failed', reason: (error as Error).message });
}
