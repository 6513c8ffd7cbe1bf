import { cipherSuites } from './suites.ts';

/** Maximum size of one record, bytes (RFC 8446, 5.2, plus what RFC 5246 allows). */
const recordLimit = 16_384 + 2048;
/** Maximum size of all handshake messages of one response, bytes. */
const handshakeLimit = 256 * 1024;
/** Certificates of one message. */
const certificateLimit = 16;
/** Extensions of one hello. */
const extensionLimit = 64;

/** End of the random if a TLS 1.3 server negotiates an older version (RFC 8446, 4.1.3); the last byte says which. */
const downgradeMark = Buffer.from('444f574e475244', 'hex');

/** The random of a ServerHello that is a HelloRetryRequest (RFC 8446, 4.1.3). */
const retryRandom = Buffer.from('cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c', 'hex');

export interface ServerHello {
  /** The negotiated version; `supported_versions` overrides the old field. */
  version: number;
  /** At most 32 bytes; a server that resumes a session echoes the client's id. */
  sessionId: Buffer;
  suite: number;
  /** 0 = none, 1 = DEFLATE. */
  compression: number;
  /** Extensions by type; for a duplicate type the first one counts. */
  extensions: ReadonlyMap<number, Buffer>;
  /** TLS 1.3: the server wants another key share; it still names suite and group. */
  retry: boolean;
  /** Downgrade sentinel: the server supports a newer version than the negotiated one. */
  marked: boolean;
}

/** Key exchange parameters of the server. */
export type ServerKey =
  | { kind: 'dhe'; bits: number }
  | { kind: 'ecdhe'; group: number }
  /** Short key of an export suite. */
  | { kind: 'rsa'; bits: number };

/** State of the parser: needs more bytes, finished, or not TLS. */
type Progress = 'more' | 'done' | 'foreign';

const messageTypes = {
  serverHello: 2,
  certificate: 11,
  serverKeyExchange: 12,
  certificateRequest: 13,
  serverHelloDone: 14,
} as const;

/**
 * Parses the response to a ClientHello up to the start of encryption. Each call passes all bytes so far; the parser
 * processes each byte once and never throws.
 */
export class ServerFlight {
  hello: ServerHello | null = null;
  /** DER, the server's own first; null until a Certificate message arrives. */
  certificates: Buffer[] | null = null;
  key: ServerKey | null = null;
  /** The server requests a certificate of the client. */
  requestsCertificate = false;
  /** Description of the alert that ended the handshake. */
  alert: number | null = null;
  #progress: Progress = 'more';
  /** Bytes of complete records processed so far. */
  #read = 0;
  /** Received parts of the next handshake messages, and the size of the first one in bytes. */
  #pieces: Buffer[] = [];
  #waiting = 0;
  #needed = 4;

  get done(): boolean {
    return this.#progress !== 'more';
  }

  /** The response is not TLS or violates the protocol before a hello. */
  get foreign(): boolean {
    return this.#progress === 'foreign' && this.hello === null;
  }

  /** @param bytes everything received on this connection so far; @returns true when done */
  read(bytes: Buffer): boolean {
    while (this.#progress === 'more' && this.#record(bytes));
    return this.done;
  }

  /** @returns false while the next record is incomplete */
  #record(bytes: Buffer): boolean {
    const record = bytes.subarray(this.#read);
    if (record.length > 0 && !isRecordType(record[0])) return this.#stop('foreign');
    if (record.length > 1 && record[1] !== 3) return this.#stop('foreign');
    if (record.length < 5) return false;
    const length = record.readUInt16BE(3);
    if (length > recordLimit || length === 0) return this.#stop('foreign');
    if (record.length < 5 + length) return false;
    this.#read += 5 + length;
    const content = record.subarray(5, 5 + length);
    if (record[0] === 21) this.#readAlert(content);
    else if (record[0] === 22) this.#addHandshake(content);
    else this.#stop('done');
    return true;
  }

  #stop(progress: Progress): boolean {
    this.#progress = progress;
    return false;
  }

  #readAlert(content: Buffer): void {
    // A warning, for example about an unknown name, does not end the handshake.
    if (content.length === 2 && content[0] === 1 && content[1] !== 0) return;
    this.alert = content[1] ?? 0;
    this.#stop('done');
  }

  /** Joins pieces only when a message is complete: single bytes must not cost quadratic time. */
  #addHandshake(content: Buffer): void {
    this.#pieces.push(content);
    this.#waiting += content.length;
    if (this.#waiting > handshakeLimit) this.#stop('foreign');
    else if (this.#waiting >= this.#needed) this.#messages(Buffer.concat(this.#pieces));
  }

  #messages(bytes: Buffer): void {
    let rest = bytes;
    this.#needed = 4;
    while (this.#progress === 'more' && rest.length >= 4) {
      this.#needed = 4 + rest.readUIntBE(1, 3);
      if (this.#needed > handshakeLimit) this.#stop('foreign');
      if (rest.length < this.#needed) break;
      this.#understand(rest[0] as number, rest.subarray(4, this.#needed));
      rest = rest.subarray(this.#needed);
      this.#needed = 4;
    }
    this.#pieces = [rest];
    this.#waiting = rest.length;
  }

  #understand(type: number, body: Buffer): void {
    if (this.hello === null) {
      this.hello = type === messageTypes.serverHello ? readServerHello(body) : null;
      if (this.hello === null) this.#stop('foreign');
      else if (this.hello.version > 0x0303) this.#stop('done');
      return;
    }
    if (type === messageTypes.certificate) this.certificates ??= readCertificates(body);
    else if (type === messageTypes.serverKeyExchange) this.key ??= readServerKey(body, this.hello.suite);
    else if (type === messageTypes.certificateRequest) this.requestsCertificate = true;
    else if (type === messageTypes.serverHelloDone) this.#stop('done');
  }
}

/** ChangeCipherSpec, alert, handshake, data. */
function isRecordType(type: number | undefined): boolean {
  return type !== undefined && type >= 20 && type <= 23;
}

/** Reads a ServerHello or a HelloRetryRequest; null = neither. */
export function readServerHello(body: Buffer): ServerHello | null {
  if (body.length < 38 || body[0] !== 3) return null;
  const sessionLength = body[34] as number;
  const at = 35 + sessionLength;
  if (sessionLength > 32 || body.length < at + 3) return null;
  const extensions = readExtensions(body.subarray(at + 3));
  const chosen = extensions.get(43);
  return {
    version: chosen?.length === 2 ? chosen.readUInt16BE(0) : body.readUInt16BE(0),
    sessionId: body.subarray(35, at),
    suite: body.readUInt16BE(at),
    compression: body[at + 2] as number,
    extensions,
    retry: body.subarray(2, 34).equals(retryRandom),
    marked: body.subarray(26, 33).equals(downgradeMark) && (body[33] as number) <= 1,
  };
}

function readExtensions(bytes: Buffer): Map<number, Buffer> {
  const extensions = new Map<number, Buffer>();
  let rest = bytes.length >= 2 ? bytes.subarray(2, 2 + bytes.readUInt16BE(0)) : bytes.subarray(0, 0);
  while (rest.length >= 4 && extensions.size < extensionLimit) {
    const end = 4 + rest.readUInt16BE(2);
    if (end > rest.length) break;
    const type = rest.readUInt16BE(0);
    if (!extensions.has(type)) extensions.set(type, rest.subarray(4, end));
    rest = rest.subarray(end);
  }
  return extensions;
}

/** The certificates of a message up to TLS 1.2, each preceded by its length in three bytes. */
export function readCertificates(body: Buffer): Buffer[] {
  const certificates: Buffer[] = [];
  let rest = body.subarray(3);
  while (rest.length > 3 && certificates.length < certificateLimit) {
    const end = 3 + rest.readUIntBE(0, 3);
    if (end > rest.length || end === 3) break;
    certificates.push(rest.subarray(3, end));
    rest = rest.subarray(end);
  }
  return certificates;
}

/** The public key of a ServerKeyExchange (RFC 5246, 7.4.3; RFC 8422, 5.4); null if the suite has no supported one. */
export function readServerKey(body: Buffer, suiteId: number): ServerKey | null {
  const exchange = cipherSuites().get(suiteId)?.exchange ?? '';
  // The same structure follows the PSK identity hint (RFC 4279, 5489).
  const key = exchange.includes('PSK') ? afterVector(body) : body;
  if (key === null) return null;
  if (/^(?:ECDHE|ECDH_anon)/.test(exchange)) {
    return key.length >= 3 && key[0] === 3 ? { kind: 'ecdhe', group: key.readUInt16BE(1) } : null;
  }
  const bits = /^(?:DHE|DH_anon|PSK_DHE|RSA_EXPORT)/.test(exchange) ? numberBits(key) : null;
  if (bits === null) return null;
  return { kind: exchange.startsWith('RSA') ? 'rsa' : 'dhe', bits };
}

function afterVector(body: Buffer): Buffer | null {
  if (body.length < 2) return null;
  const end = 2 + body.readUInt16BE(0);
  return end <= body.length ? body.subarray(end) : null;
}

/** Bit length of the number in a vector with a two-byte length. */
function numberBits(body: Buffer): number | null {
  if (body.length < 2) return null;
  const length = body.readUInt16BE(0);
  if (length === 0 || 2 + length > body.length) return null;
  const digits = body.subarray(2, 2 + length);
  const first = digits.findIndex((byte) => byte !== 0);
  if (first === -1) return null;
  return (length - first) * 8 - Math.clz32(digits[first] as number) + 24;
}
