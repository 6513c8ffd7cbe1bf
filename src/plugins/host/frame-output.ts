import { writeSync } from 'node:fs';
import { encodeFrame, encodeJsonFrame } from '../sandbox/frames.ts';

/** How long to wait while the pipe is full and does not block, milliseconds. */
const fullMs = 1;
/** Frames that wait for the end of the turn, bytes. */
const waitingBytes = 64 * 1024;
const clock = new Int32Array(new SharedArrayBuffer(4));

/** Frames to the scan. Writing blocks while the pipe is full, so a plugin cannot pile them up in memory. */
export class FrameOutput {
  readonly #descriptor: number;
  /** Most bytes of a frame without its head. */
  limit = Number.POSITIVE_INFINITY;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  /** @throws Error if the frame is too long or its message is no JSON */
  send(message: object, bytes?: Uint8Array): void {
    this.#write(encodeFrame(message, bytes));
  }

  /** @param json text of the message @throws Error if the frame is too long */
  sendJson(json: string): void {
    this.#write(encodeJsonFrame(json));
  }

  /**
   * One system call for all frames of this turn of the event loop: many sessions proceed at a time.
   * @throws Error if the frame is too long or its message is no JSON
   */
  sendSoon(message: object, bytes?: Uint8Array): void {
    const frame = this.#checked(encodeFrame(message, bytes));
    if (this.#waiting.length === 0) process.nextTick(() => this.#flush());
    this.#waiting.push(frame);
    this.#waitingBytes += frame.length;
    if (this.#waitingBytes >= waitingBytes) this.#flush();
  }

  #checked(frame: Buffer): Buffer {
    if (frame.length <= this.limit) return frame;
    throw new Error(
      `${frame.length} bytes at once, above the limit of ${this.limit} (plugins.limits.output)`,
    );
  }

  #flush(): void {
    if (this.#waiting.length === 0) return;
    const frames = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#writeAll(frames);
  }

  #write(frame: Buffer): void {
    this.#checked(frame);
    this.#flush();
    this.#writeAll(frame);
  }

  #writeAll(frame: Buffer): void {
    for (let sent = 0; sent < frame.length; ) {
      try {
        sent += writeSync(this.#descriptor, frame, sent);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
        Atomics.wait(clock, 0, 0, fullMs);
      }
    }
  }
}
