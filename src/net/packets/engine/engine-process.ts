import { flushCompileCache } from 'node:module';
import type { Worker } from 'node:worker_threads';
import { type CookieKey, randomCookieKey } from '../frame/cookie.ts';
import { Chunk, type ChunkPlan, type ChunkState, word } from './chunk.ts';
import {
  type ChunkMessage,
  control,
  controlWords,
  type FromEngine,
  type FromReceiver,
  type FromSender,
  type ReceiverCounters,
  type ThreadStart,
  type ToEngine,
  type ToReceiver,
  type ToSender,
} from './engine-control.ts';
import { Regulator } from './regulator.ts';
import { freeSourcePort } from './source-port.ts';
import { startThread } from './thread.ts';

/**
 * Interval between two states of a chunk. A probe of the last try counts as done when its response time is over, and
 * the checkpoint adds its own interval: together they must stay below the second of work that a kill may cost.
 */
const stateMs = 100;
/**
 * Most bytes of states per millisecond: those of 16 million endpoints have 3.6 MB, and copies of them every 100 ms would be
 * most of the memory of the process.
 */
const stateBytesPerMs = 10_000;
const figuresMs = 100;

/**
 * Endpoints of a chunk that justify another thread while the others are busy: starting it takes a tenth of a second.
 */
const worthAThread = 65_536;

/** A sender thread and its number of chunks. */
interface Sender {
  thread: Worker;
  chunks: number;
}

interface ChunkEntry {
  chunk: Chunk;
  failure: string | null;
  sender: Sender | null;
  /** When the next state is due, performance.now(). */
  nextStateAt: number;
}

/**
 * The process of the packet engine: one receiver thread, one or more sender threads, and this one between them and
 * the client. A crash in native calls ends only this process; it exits when the client goes away.
 */
class EngineProcess {
  readonly #words = new Int32Array(new SharedArrayBuffer(4 * controlWords));
  readonly #chunks = new Map<number, ChunkEntry>();
  readonly #senders: Sender[] = [];
  readonly #mostSenders: number;
  readonly #receiver: Worker;
  readonly #start: ThreadStart;
  readonly #regulator: Regulator;
  #figures: ReceiverCounters = { received: 0, dropped: 0, valid: 0, repeated: 0, foreign: 0 };

  constructor(key: CookieKey, ownPort: number, senders: number) {
    this.#words[control.roundTrip] = -1;
    this.#start = { control: this.#words.buffer as SharedArrayBuffer, key, ownPort };
    this.#mostSenders = senders;
    this.#regulator = new Regulator(this.#words, {
      onRound: (round) => send({ type: 'round', round }),
      onSlowed: (id, host) => send({ type: 'slowed', id, host }),
    });
    this.#receiver = this.#thread('receive', this.#start);
    this.#receiver.on('message', (message: FromReceiver) => this.#onReceived(message));
    this.#addSender();
    setInterval(() => this.#requestStates(), stateMs).unref();
    setInterval(() => this.#postToReceiver({ type: 'figures' }), figuresMs).unref();
  }

  take(message: ToEngine): void {
    switch (message.type) {
      case 'chunk':
        return this.#begin(message.plan);
      case 'credits':
        Atomics.store(this.#words, control.lowWater, message.lowWater);
        Atomics.add(this.#words, control.credits, message.count);
        Atomics.store(this.#words, control.hungry, 0);
        return this.#wakeSenders();
      case 'drop': {
        const chunk = this.#chunks.get(message.id)?.chunk;
        for (const host of message.hosts) if (chunk) chunk.dropped[host] = 1;
        return;
      }
      case 'usual':
        this.#regulator.usual = message.usual;
        return;
      case 'stop': {
        const chunk = this.#chunks.get(message.id)?.chunk;
        if (chunk) Atomics.store(chunk.control, word.stop, 1);
        return this.#wakeSenders();
      }
    }
  }

  #thread(name: 'send' | 'receive', workerData: ThreadStart): Worker {
    const worker = startThread(`engine/${name}`, workerData);
    worker.once('error', ({ message }) => this.#broken(`the ${name} thread failed: ${message}`));
    return worker;
  }

  #begin(plan: ChunkPlan): void {
    const chunk = new Chunk(plan);
    this.#chunks.set(plan.id, { chunk, failure: null, sender: null, nextStateAt: 0 });
    this.#regulator.add(chunk);
    this.#postToReceiver({ type: 'chunk', plan, memory: chunk.memory });
  }

  #onReceived(message: FromReceiver): void {
    switch (message.type) {
      case 'listening':
        return send({ type: 'ready' });
      case 'failed':
        return this.#broken(message.reason);
      case 'added':
        return this.#postToSender(message.id);
      case 'open':
        return send(message);
      case 'figures':
        this.#figures = message.figures;
        return this.#reportCounters();
      case 'state':
        return message.last
          ? this.#end(message.id, message.state)
          : send({ type: 'state', id: message.id, state: message.state });
    }
  }

  /** The first probe may leave only once the receiver is ready. */
  #postToSender(id: number): void {
    const entry = this.#chunks.get(id);
    if (!entry) return;
    const message: ChunkMessage = { type: 'chunk', plan: entry.chunk.plan, memory: entry.chunk.memory };
    entry.sender = this.#senderFor(entry.chunk);
    entry.sender.chunks += 1;
    entry.sender.thread.postMessage(message satisfies ToSender);
    this.#wakeSenders();
  }

  #senderFor({ endpoints }: Chunk): Sender {
    const least = this.#senders.reduce((one, other) => (other.chunks < one.chunks ? other : one));
    const isFull = this.#senders.length >= this.#mostSenders;
    return least.chunks === 0 || isFull || endpoints < worthAThread ? least : this.#addSender();
  }

  #addSender(): Sender {
    const sender = { thread: this.#thread('send', this.#start), chunks: 0 };
    sender.thread.on('message', (message: FromSender) => this.#sent(message));
    this.#senders.push(sender);
    return sender;
  }

  #sent(message: FromSender): void {
    if (message.type === 'hungry') return send(message);
    const entry = this.#chunks.get(message.id);
    if (!entry) return;
    if (entry.sender) entry.sender.chunks -= 1;
    if (message.type === 'failed') entry.failure = message.reason;
    this.#postToReceiver({ type: 'state', id: message.id, last: true });
  }

  #end(id: number, state: ChunkState): void {
    const failure = this.#chunks.get(id)?.failure ?? null;
    this.#chunks.delete(id);
    this.#reportCounters();
    send({ type: 'done', id, state, failure, learned: this.#regulator.remove(id) });
  }

  #requestStates(): void {
    const now = performance.now();
    for (const [id, entry] of this.#chunks) {
      if (now < entry.nextStateAt) continue;
      entry.nextStateAt = now + entry.chunk.stateBytes / stateBytesPerMs;
      this.#postToReceiver({ type: 'state', id, last: false });
    }
  }

  #postToReceiver(message: ToReceiver): void {
    this.#receiver.postMessage(message);
  }

  #wakeSenders(): void {
    Atomics.add(this.#words, control.wake, 1);
    Atomics.notify(this.#words, control.wake);
  }

  #reportCounters(): void {
    const [sent, retransmitted] = [this.#count(control.sent), this.#count(control.retransmitted)];
    const crowded = this.#count(control.crowded);
    send({ type: 'figures', figures: { ...this.#figures, sent, retransmitted, crowded } });
  }

  #count(index: number): number {
    return Atomics.load(this.#words, index) >>> 0;
  }

  #broken(reason: string): void {
    send({ type: 'broken', reason });
  }
}

function send(message: FromEngine): void {
  // The client may end at any time; its end is noticed below.
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}

// Without its client the engine must not send.
process.once('disconnect', () => process.exit(0));
// An interrupt from the terminal is for the parent program, which stops the engine in order.
process.on('SIGINT', () => undefined);
const engine = new EngineProcess(
  randomCookieKey(),
  Number(process.argv[3]) || freeSourcePort(),
  Number(process.argv[2]),
);
process.on('message', (message: ToEngine) => engine.take(message));
// The process is terminated: flush the compile cache before.
flushCompileCache();
