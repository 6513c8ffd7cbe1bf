import type { ResponseReader } from './response-form.ts';

/** Maximum size of HTTP headers, bytes. */
export const maxHeaderBytes = 64 * 1024;

const headerEnd = Buffer.from('\r\n\r\n');

const bareHeaderEnd = Buffer.from('\n\n');

export class HttpReader implements ResponseReader {
  capped = false;
  #maxBody: number;
  #searched = 0;
  #bodyAt = -1;
  #chunks: ChunkReader | null = null;
  #bodyLength: number | null = null;

  constructor(maxBody: number) {
    this.#maxBody = maxBody;
  }

  end(bytes: Buffer): number {
    if (this.#bodyAt < 0 && !this.#findBody(bytes)) return this.#cut(bytes, maxHeaderBytes);
    if (this.#bodyLength !== null) {
      const end = this.#bodyAt + this.#bodyLength;
      if (end - this.#bodyAt <= this.#maxBody) return bytes.length >= end ? end : 0;
    }
    if (this.#chunks) {
      const end = this.#chunks.end(bytes);
      if (end > 0 && end - this.#bodyAt <= this.#maxBody) return end;
    }
    return this.#cut(bytes, this.#bodyAt + this.#maxBody);
  }

  #cut(bytes: Buffer, most: number): number {
    if (bytes.length <= most) return 0;
    this.capped = true;
    return most;
  }

  #findBody(bytes: Buffer): boolean {
    const from = Math.max(0, this.#searched - 3);
    const crlf = bytes.indexOf(headerEnd, from);
    const bare = crlf < 0 ? bytes.indexOf(bareHeaderEnd, from) : -1;
    this.#searched = bytes.length;
    if (crlf < 0 && bare < 0) return false;
    const at = crlf >= 0 ? crlf + 4 : bare + 2;
    if (at > maxHeaderBytes) return false;
    this.#bodyAt = at;
    this.#readHeaders(bytes.toString('latin1', 0, at));
    return true;
  }

  #readHeaders(head: string): void {
    const status = Number(/^HTTP\/\d(?:\.\d)? (\d{3})/.exec(head)?.[1] ?? 0);
    if (status === 204 || status === 304) this.#bodyLength = 0;
    else if (/^transfer-encoding:.*chunked/im.test(head)) this.#chunks = new ChunkReader(this.#bodyAt);
    else {
      const length = /^content-length:[ \t]*(\d{1,15})[ \t]*\r?$/im.exec(head)?.[1];
      if (length !== undefined) this.#bodyLength = Number(length);
    }
  }
}

/** Maximum size of a chunk header with its extensions, bytes. */
const maxChunkHeader = 16 * 1024;

/** Finds the end of a chunked body (RFC 9112 section 7.1) without decoding it. */
class ChunkReader {
  #at: number;
  #searched: number;
  #trailer = false;

  constructor(start: number) {
    this.#at = start;
    this.#searched = start;
  }

  /** 0 while chunks are missing. An invalid chunk size ends the body: the rest cannot be parsed. */
  end(bytes: Buffer): number {
    while (this.#at < bytes.length) {
      const feed = bytes.indexOf(0x0a, this.#searched);
      if (feed < 0) {
        this.#searched = bytes.length;
        return bytes.length - this.#at > maxChunkHeader ? bytes.length : 0;
      }
      const line = bytes.toString('latin1', this.#at, Math.min(feed, this.#at + 32)).trimEnd();
      this.#at = feed + 1;
      this.#searched = this.#at;
      if (this.#trailer) {
        if (line === '') return this.#at;
        continue;
      }
      const size = /^([0-9a-f]{1,8})(?:[ \t]*;|[ \t]*$)/i.exec(line)?.[1];
      if (size === undefined) return bytes.length;
      const length = Number.parseInt(size, 16);
      if (length === 0) this.#trailer = true;
      else this.#at += length + 2;
      this.#searched = this.#at;
    }
    return 0;
  }
}
