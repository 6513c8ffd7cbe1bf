import { writeSync } from 'node:fs';
import { encodeFrame, encodeJsonFrame } from '../sandbox/frames.ts';

/** How long to wait while the pipe is full and does not block, milliseconds. */
const fullMs = 1;
const clock = new Int32Array(new SharedArrayBuffer(4));

/** Frames to the scan. Writing blocks while the pipe is full, so a plugin cannot pile them up in memory. */
export class FrameOutput {
  readonly #descriptor: number;
  /** Most bytes of a frame without its head. */
  limit = Number.POSITIVE_INFINITY;

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

  #write(frame: Buffer): void {
    if (frame.length > this.limit) {
      throw new Error(
        `${frame.length} bytes at once, above the limit of ${this.limit} (plugins.limits.output)`,
      );
    }
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
