/** Where an answer ends, by the rules of its protocol. */
export type AnswerForm =
  /** One line. */
  | 'line'
  /** The line `SSH-...` after any lines before it (RFC 4253 section 4.2). */
  | 'ssh-version'
  /** One binary packet of SSH (RFC 4253 section 6). */
  | 'ssh-packet'
  /** A three-digit reply, possibly of many lines (RFC 5321 section 4.2.1, RFC 959 section 4.2). */
  | 'reply'
  /** The line `a1 OK|NO|BAD ...` of IMAP (RFC 9051 section 7.1), tag in lower case. */
  | 'tagged'
  /** `-ERR` line, or lines up to a single dot (RFC 1939 section 3). */
  | 'dotted'
  /** Headers and body of HTTP (RFC 9112 section 6). */
  | 'http'
  /** One value of the Redis protocol: a line, or `$n` and n bytes. */
  | 'redis'
  /** One packet of the MySQL protocol: 24-bit length, sequence number. */
  | 'mysql'
  /** Messages of PostgreSQL (type, 32-bit length) up to the first that is neither "authenticated" nor a notice. */
  | 'postgresql'
  /** 16-bit length before the message: DNS over TCP (RFC 7766 section 8). */
  | 'dns'
  /** One byte. */
  | 'byte'
  /** Whatever comes until the peer is silent or closes. */
  | 'all';

/** Lines of one multi-line answer that are read. */
export const maxLines = 100;

/** Bytes of HTTP headers that are read. */
export const maxHeaderBytes = 64 * 1024;

/** Watches one answer arrive. Looks at each byte once, however it is split. */
export interface AnswerReader {
  /** Length of the complete answer, or 0 while it is incomplete. `bytes` starts with the same bytes at every call. */
  end(bytes: Buffer): number;
  /** The answer was cut by a cap of lines, header or body bytes. */
  readonly capped: boolean;
}

/** @param maxBody bytes of an HTTP body that are read */
export function readAnswer(form: AnswerForm, maxBody = maxHeaderBytes): AnswerReader {
  switch (form) {
    case 'line':
      return new LineReader(() => true);
    case 'ssh-version':
      return new LineReader((line) => line.startsWith('SSH-'));
    case 'reply':
      return new LineReader((line) => /^\d{3}(?: |\r?$)/.test(line));
    case 'tagged':
      return new LineReader((line) => /^a1 /i.test(line));
    case 'dotted':
      return new LineReader((line, first) => line === '.' || (first && !line.startsWith('+OK')));
    case 'http':
      return new HttpReader(maxBody);
    case 'redis':
      return new RedisReader();
    case 'ssh-packet':
      return sized((bytes) => (bytes.length < 4 ? 0 : 4 + bytes.readUInt32BE(0)), 64 * 1024);
    case 'mysql':
      return sized((bytes) => (bytes.length < 4 ? 0 : 4 + bytes.readUIntLE(0, 3)), 64 * 1024);
    case 'postgresql':
      return sized(postgresqlLength, 64 * 1024);
    case 'dns':
      return sized((bytes) => (bytes.length < 2 ? 0 : 2 + bytes.readUInt16BE(0)), 64 * 1024 + 2);
    case 'byte':
      return sized(() => 1, 1);
    case 'all':
      return { end: () => 0, capped: false };
  }
}

/**
 * Reads what a service says first without knowing the service: its first five bytes choose the form. `known` is false
 * when no form fits; then the answer ends with its first line and more may follow.
 */
export function readGreeting(): AnswerReader & { readonly known: boolean } {
  let reader: AnswerReader | null = null;
  let form: AnswerForm | null = null;
  return {
    get capped() {
      return reader?.capped ?? false;
    },
    get known() {
      return form !== null;
    },
    end(bytes) {
      if (!reader) {
        if (bytes.length < 5 && !bytes.includes(0x0a)) return 0;
        form = greetingForm(bytes);
        reader = readAnswer(form ?? 'line');
      }
      return reader.end(bytes);
    },
  };
}

function greetingForm(bytes: Buffer): AnswerForm | null {
  const text = bytes.toString('latin1', 0, 5);
  if (text.startsWith('SSH-')) return 'ssh-version';
  if (/^\d{3}[ -]/.test(text)) return 'reply';
  if (text.startsWith('* ') || text.startsWith('+OK') || text.startsWith('RFB ')) return 'line';
  // Sequence number 0, then protocol version 10 or an error.
  if (bytes[3] === 0 && (bytes[4] === 0x0a || bytes[4] === 0xff)) return 'mysql';
  return null;
}

/** Length up to the message that answers a startup; 0 while it is incomplete. */
function postgresqlLength(bytes: Buffer): number {
  let at = 0;
  while (bytes.length - at >= 5) {
    const length = 1 + bytes.readUInt32BE(at + 1);
    const authenticated = bytes[at] === 0x52 && bytes.length - at >= 9 && bytes.readUInt32BE(at + 5) === 0;
    const passing = authenticated || bytes[at] === 0x4e;
    if (!passing || length < 5) return at + length;
    at += length;
  }
  return 0;
}

/** An answer whose length stands at its start; a length above `most` is nonsense and ends the answer at once. */
function sized(lengthOf: (bytes: Buffer) => number, most: number): AnswerReader {
  return {
    capped: false,
    end(bytes) {
      const length = lengthOf(bytes);
      if (length > most) return bytes.length;
      return length > 0 && bytes.length >= length ? length : 0;
    },
  };
}

class LineReader implements AnswerReader {
  capped = false;
  #isLast: (line: string, first: boolean) => boolean;
  #start = 0;
  #searched = 0;
  #lines = 0;

  /** @param isLast judges a line without its line end */
  constructor(isLast: (line: string, first: boolean) => boolean) {
    this.#isLast = isLast;
  }

  end(bytes: Buffer): number {
    for (;;) {
      const feed = bytes.indexOf(0x0a, this.#searched);
      if (feed < 0) {
        this.#searched = bytes.length;
        return 0;
      }
      // The start of a line is enough to judge it.
      const line = bytes
        .toString('latin1', this.#start, Math.min(feed, this.#start + 512))
        .replace(/\r$/, '');
      const first = this.#lines === 0;
      this.#lines += 1;
      this.#start = feed + 1;
      this.#searched = feed + 1;
      if (this.#isLast(line, first)) return this.#start;
      if (this.#lines >= maxLines) {
        this.capped = true;
        return this.#start;
      }
    }
  }
}

class RedisReader implements AnswerReader {
  readonly capped = false;

  end(bytes: Buffer): number {
    const feed = bytes.subarray(0, 512).indexOf(0x0a);
    if (feed < 0) return bytes.length > 512 ? bytes.length : 0;
    const size = /^\$(\d{1,6})\r$/.exec(bytes.toString('latin1', 0, feed))?.[1];
    const length = size === undefined ? feed + 1 : feed + 1 + Number(size) + 2;
    return bytes.length >= length ? length : 0;
  }
}

const headerEnd = Buffer.from('\r\n\r\n');
const bareHeaderEnd = Buffer.from('\n\n');

class HttpReader implements AnswerReader {
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

/** Bytes of a chunk header with its extensions; more is nonsense. */
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

  /** 0 while chunks are missing. A size that is no size ends the body: nothing after it can be understood. */
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
