import type { MessagePort } from 'node:worker_threads';
import { CallRejection, type HostWire } from '../hosted-plugin.ts';
import { type ItemTexts, type ThreadCall, type ThreadReply, threadControls } from './exchange.ts';

type AnsweredCall = Extract<ThreadCall, { id: number }>;
type Ended = Extract<ThreadCall, { op: 'ended' }>;

/** By the level of sdk/c/service_plugin.h. */
const levels = ['debug', 'debug', 'info', 'warn', 'error'] as const;

/** The main thread's side of the calls of one thread. */
export class NodeService {
  readonly #port: MessagePort;
  readonly #control: Int32Array<SharedArrayBuffer>;
  readonly #wire: HostWire;
  /** Those that the scan has not accepted yet. */
  readonly #appends = new Set<Promise<unknown>>();
  /** The first call that the scan rejected. */
  failure: string | null = null;

  constructor(port: MessagePort, control: Int32Array<SharedArrayBuffer>, wire: HostWire) {
    this.#port = port;
    this.#control = control;
    this.#wire = wire;
  }

  cancel(): void {
    Atomics.store(this.#control, threadControls.canceled, 1);
    this.#wake();
  }

  /** Waits for the end of `execute` and until the scan has what it published. */
  async untilEnded(): Promise<Ended> {
    const ended = await new Promise<Ended>((resolve) => {
      this.#port.on('message', (call: ThreadCall) => {
        if (call.op === 'ended') resolve(call);
        else if (call.op === 'log') this.#log(call.level, call.message);
        else void this.#serve(call);
      });
    });
    await Promise.allSettled(this.#appends);
    return ended;
  }

  #log(level: number, message: string): void {
    Atomics.sub(this.#control, threadControls.logs, 1);
    this.#wire.log(levels[level] ?? 'info', message);
  }

  async #serve(call: AnsweredCall): Promise<void> {
    const work = this.#work(call);
    if (call.op === 'append') this.#appends.add(work);
    try {
      const items = await work;
      this.#reply(items ? { id: call.id, items } : { id: call.id });
    } catch (error) {
      this.#reject(call.id, error as Error);
    } finally {
      this.#appends.delete(work);
    }
  }

  #reject(id: number, error: Error): void {
    if (error instanceof CallRejection && error.reason === 'missing') {
      this.#reply({ id, missing: true });
      return;
    }
    this.failure ??= error.message;
    this.#reply({ id, error: error.message });
  }

  async #work(call: AnsweredCall): Promise<ItemTexts | undefined> {
    switch (call.op) {
      case 'next': {
        const { items, end } = await this.#wire.pull(call.key);
        return encodeTexts(
          items.map((item) => JSON.stringify(item)),
          end,
        );
      }
      case 'get':
        return encodeTexts([await this.#complete(call.key)], true);
      case 'append':
        await this.#wire.appendJson(call.key, call.items);
        return undefined;
      case 'set':
        await this.#wire.set(call.key, JSON.parse(call.text));
        return undefined;
    }
  }

  async #complete(key: string): Promise<string> {
    const texts: string[] = [];
    while (true) {
      const { items, end, single } = await this.#wire.pull(key, true);
      if (single) return JSON.stringify(items[0] ?? null);
      for (const item of items) texts.push(JSON.stringify(item));
      if (end) return `[${texts.join(',')}]`;
    }
  }

  #reply(reply: ThreadReply): void {
    this.#port.postMessage(reply, reply.items ? [reply.items.bytes] : []);
    this.#wake();
  }

  #wake(): void {
    Atomics.add(this.#control, threadControls.turn, 1);
    Atomics.notify(this.#control, threadControls.turn);
  }
}

function encodeTexts(texts: string[], end: boolean): ItemTexts {
  const lengths = texts.map((text) => Buffer.byteLength(text));
  const total = lengths.reduce((sum, length) => sum + length + 1, 0);
  // The zeros between the texts are those of new memory.
  const bytes = new ArrayBuffer(total);
  const buffer = Buffer.from(bytes);
  let offset = 0;
  for (const [index, text] of texts.entries()) {
    buffer.write(text, offset);
    offset += (lengths[index] as number) + 1;
  }
  return { bytes, lengths, end };
}
