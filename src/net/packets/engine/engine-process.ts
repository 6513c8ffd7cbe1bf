import { flushCompileCache } from 'node:module';
import type { Worker } from 'node:worker_threads';
import { type CookieKey, randomCookieKey } from '../frame/cookie.ts';
import { buffersOf, Chunk, type ChunkPlan, type ChunkState, word } from './chunk.ts';
import { ChunkMemory } from './chunk-memory.ts';
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
  type UnsentProbes,
} from './engine-control.ts';
import { Regulator } from './regulator.ts';
import { freeSourcePort } from './source-port.ts';
import { startThread } from './thread.ts';

/**
 * Interval between two states of a chunk. A probe of the last try counts as done when its response time is over, and
 * the checkpoint adds its own interval: together they must stay below the second of work that a kill may cost.
 */
const stateMs = 100;
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
  unsent: UnsentProbes;
  sender: Sender | null;
  /** Progress that the last requested state shows at least. */
  shown: string;
}

/**
 * The process of the packet engine: one receiver thread, one or more sender threads, and this one between them and
 * the client. A crash in native calls ends only this process; it exits when the client goes away.
 */
class EngineProcess {
  readonly #words = new Int32Array(new SharedArrayBuffer(4 * controlWords));
  readonly #chunks = new Map<number, ChunkEntry>();
  readonly #memory = new ChunkMemory();
  readonly #senders: Sender[] = [];
  #mostSenders = 1;
  readonly #receiver: Worker;
  readonly #start: ThreadStart;
  readonly #regulator: Regulator;
  #figures: ReceiverCounters = { received: 0, dropped: 0, valid: 0, repeated: 0, foreign: 0 };

  constructor(key: CookieKey, ownPort: number) {
    this.#words[control.roundTrip] = -1;
    this.#start = { control: this.#words.buffer as SharedArrayBuffer, key, ownPort };
    this.#regulator = new Regulator(this.#words, {
      onRound: (round) => send({ type: 'round', round }),
      onPastHead: () => send({ type: 'pastHead' }),
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
      case 'senders':
        this.#mostSenders = message.most;
        return;
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
    const chunk = new Chunk(plan, this.#memory);
    this.#chunks.set(plan.id, { chunk, failure: null, unsent: new Map(), sender: null, shown: '' });
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
        if (message.last) this.#end(message.id, message.state);
        else send({ type: 'state', id: message.id, state: message.state });
        return free(message.state);
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
    entry.unsent = message.unsent;
    this.#postToReceiver({ type: 'state', id: message.id, last: true });
  }

  #end(id: number, state: ChunkState): void {
    const entry = this.#chunks.get(id);
    this.#chunks.delete(id);
    this.#reportCounters();
    const learned = this.#regulator.remove(id);
    const { failure = null, unsent = new Map() } = entry ?? {};
    send({ type: 'done', id, end: { state, failure, learned, unsent } });
    // The sender is through with it, and the receiver has removed it before it sent the state.
    if (entry) this.#memory.giveBack(entry.chunk.memory);
  }

  /** Most chunks wait at a time: copies of what has not changed would be most of the garbage of both processes. */
  #requestStates(): void {
    for (const [id, entry] of this.#chunks) {
      const { progress } = entry.chunk;
      if (progress === entry.shown) continue;
      entry.shown = progress;
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

/** A state that has been sent: V8 sees only small objects, and would let many of them come together. */
function free(state: ChunkState): void {
  for (const buffer of buffersOf(state)) buffer.transfer(0);
}

// Without its client the engine must not send.
process.once('disconnect', () => process.exit(0));
// An interrupt from the terminal is for the parent program, which stops the engine in order.
process.on('SIGINT', () => undefined);
const engine = new EngineProcess(randomCookieKey(), Number(process.argv[2]) || freeSourcePort());
process.on('message', (message: ToEngine) => engine.take(message));
// The process is terminated: flush the compile cache before.
flushCompileCache();
