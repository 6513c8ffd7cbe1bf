import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { maxWaitingLogs, type ThreadCall, type ThreadReply, threadControls } from './exchange.ts';
import type { CallOutcome } from './plugin-struct.ts';

type WithoutId<T> = T extends { id: number } ? Omit<T, 'id'> : never;

/** Calls of a node's thread to the main thread, which it waits for by blocking. */
export class ThreadCalls {
  readonly #port: MessagePort;
  readonly #control: Int32Array<SharedArrayBuffer>;
  readonly #replies = new Map<number, ThreadReply>();
  #last = 0;
  #droppedLogs = 0;
  #failure: string | null = null;

  constructor(port: MessagePort, control: Int32Array<SharedArrayBuffer>) {
    this.#port = port;
    this.#control = control;
  }

  get canceled(): boolean {
    return Atomics.load(this.#control, threadControls.canceled) !== 0;
  }

  /** Why the node fails, or null. */
  get failure(): string | null {
    return this.#failure;
  }

  fail(reason: string): void {
    this.#failure ??= reason;
  }

  /** @returns the number of the call */
  send(call: WithoutId<ThreadCall>): number {
    this.#last += 1;
    this.#port.postMessage({ ...call, id: this.#last });
    return this.#last;
  }

  /** @returns null if it has not come yet */
  poll(id: number): ThreadReply | null {
    for (let got = receiveMessageOnPort(this.#port); got; got = receiveMessageOnPort(this.#port)) {
      const reply = got.message as ThreadReply;
      if (reply.error !== undefined) this.fail(reply.error);
      this.#replies.set(reply.id, reply);
    }
    const reply = this.#replies.get(id) ?? null;
    this.#replies.delete(id);
    return reply;
  }

  /** Blocks. @returns null if the node is canceled before the reply comes */
  wait(id: number): ThreadReply | null {
    while (true) {
      const turn = Atomics.load(this.#control, threadControls.turn);
      const reply = this.poll(id);
      if (reply || this.canceled) return reply;
      Atomics.wait(this.#control, threadControls.turn, turn);
    }
  }

  log(level: number, message: string): void {
    if (Atomics.load(this.#control, threadControls.logs) >= maxWaitingLogs) {
      this.#droppedLogs += 1;
      return;
    }
    if (this.#droppedLogs > 0) {
      this.#sendLog(3, `${this.#droppedLogs} log messages dropped: too many at once`);
      this.#droppedLogs = 0;
    }
    this.#sendLog(level, message);
  }

  #sendLog(level: number, message: string): void {
    Atomics.add(this.#control, threadControls.logs, 1);
    this.#port.postMessage({ op: 'log', level, message });
  }

  end(outcome: CallOutcome): void {
    this.#port.postMessage({ op: 'ended', outcome, failure: this.#failure });
    this.#port.close();
  }
}
