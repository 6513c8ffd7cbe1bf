/**
 * A frame on the pipe of a plugin host: length of the JSON and of the bytes (4 bytes each, little-endian), the JSON, the
 * bytes.
 */
export interface Frame {
  message: unknown;
  bytes: Buffer;
  /** Of both, bytes. */
  length: number;
}

const headBytes = 8;
/** First size of the buffer of a frame; it grows as bytes come, not as its length promises. */
const firstBytes = 64 * 1024;

export function encodeFrame(message: unknown, bytes: Uint8Array = Buffer.alloc(0)): Buffer {
  return encodeJsonFrame(JSON.stringify(message), bytes);
}

/** @param text JSON of the message */
export function encodeJsonFrame(text: string, bytes: Uint8Array = Buffer.alloc(0)): Buffer {
  const json = Buffer.from(text);
  const head = Buffer.alloc(headBytes);
  head.writeUInt32LE(json.length, 0);
  head.writeUInt32LE(bytes.length, 4);
  return Buffer.concat([head, json, bytes]);
}

/** Cuts a stream into frames. */
export class FrameReader {
  readonly #most: number;
  #head = Buffer.alloc(headBytes);
  #headFill = 0;
  /** Null: the head is not complete. */
  #body: Buffer | null = null;
  #bodyFill = 0;

  /** @param most bytes of a frame without its head */
  constructor(most: number) {
    this.#most = most;
  }

  /** @throws Error at a frame that is too long or is no JSON; the reader is of no use afterward */
  push(chunk: Buffer): Frame[] {
    const frames: Frame[] = [];
    let rest = chunk;
    while (true) {
      if (this.#body === null) {
        rest = rest.subarray(this.#fillHead(rest));
        if (this.#body === null) return frames;
      }
      rest = rest.subarray(this.#fillBody(rest));
      if (this.#bodyFill < this.#length()) return frames;
      frames.push(this.#take());
    }
  }

  #length(): number {
    return this.#head.readUInt32LE(0) + this.#head.readUInt32LE(4);
  }

  #fillHead(chunk: Buffer): number {
    const count = chunk.copy(this.#head, this.#headFill, 0, headBytes - this.#headFill);
    this.#headFill += count;
    if (this.#headFill < headBytes) return count;
    const length = this.#length();
    if (length > this.#most) throw new Error(`frame of ${length} bytes, above the limit of ${this.#most}`);
    this.#body = Buffer.allocUnsafe(Math.min(length, firstBytes));
    return count;
  }

  #fillBody(chunk: Buffer): number {
    const count = Math.min(chunk.length, this.#length() - this.#bodyFill);
    const wanted = this.#bodyFill + count;
    let body = this.#body as Buffer;
    if (wanted > body.length) {
      const larger = Buffer.allocUnsafe(Math.min(this.#length(), Math.max(wanted, body.length * 2)));
      body.copy(larger, 0, 0, this.#bodyFill);
      body = larger;
      this.#body = body;
    }
    chunk.copy(body, this.#bodyFill, 0, count);
    this.#bodyFill = wanted;
    return count;
  }

  #take(): Frame {
    const body = this.#body as Buffer;
    const split = this.#head.readUInt32LE(0);
    const end = this.#length();
    this.#body = null;
    this.#headFill = 0;
    this.#bodyFill = 0;
    try {
      return {
        message: JSON.parse(body.toString('utf8', 0, split)),
        bytes: body.subarray(split, end),
        length: end,
      };
    } catch (error) {
      throw new Error('frame without valid JSON', { cause: error });
    }
  }
}
