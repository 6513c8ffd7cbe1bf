import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2';
import { Duplex } from 'node:stream';
import type { Connection } from './gate/gate.ts';

/** Maximum size of the headers of a response in HTTP/2, bytes. */
const maxHeaderBytes = 64 * 1024;
/** Maximum number of header fields of a response in HTTP/2. */
const maxHeaderPairs = 128;

/** Memory of one HTTP/2 session, in megabytes. */
const maxSessionMegabytes = 1;

/** Time to read pending data after the end of the connection, milliseconds. */
const settleMs = 50;

export interface Http2Request {
  /** The connection is TLS. */
  secure: boolean;
  /** Host name, an IPv6 address in brackets. */
  authority: string;
  path: string;
  userAgent: string;
  /** Idle timeout of the server. */
  idleMs: number;
  /** Maximum bytes to read of the body. */
  maxBody: number;
}

export interface Http2Response {
  status: number;
  /** In order of arrival; names in lower case, duplicates included. */
  headers: [name: string, value: string][];
  body: Buffer;
  /** The body was longer. */
  truncated: boolean;
}

/**
 * One GET in HTTP/2 (RFC 9113) over a connection that has negotiated it, or whose server started with it. The limits
 * of the connection apply.
 * @returns null without a response
 */
export async function requestHttp2(
  connection: Connection,
  question: Http2Request,
): Promise<Http2Response | null> {
  // Loaded when a server speaks it: every scan would wait 13 ms for it.
  const { connect } = await import('node:http2');
  const pipe = new ConnectionPipe(connection, question.idleMs);
  let session: ClientHttp2Session | null = null;
  try {
    session = connect(`${question.secure ? 'https' : 'http'}://${question.authority}`, {
      createConnection: () => pipe,
      settings: { enablePush: false, maxHeaderListSize: maxHeaderBytes },
      maxHeaderListPairs: maxHeaderPairs,
      maxSessionMemory: maxSessionMegabytes,
      maxReservedRemoteStreams: 0,
    });
    return await request(session, pipe, question);
  } catch {
    // The authority is not valid in a URL.
    return null;
  } finally {
    session?.destroy();
    pipe.destroy();
  }
}

function request(
  session: ClientHttp2Session,
  pipe: Duplex,
  { path, authority, userAgent, maxBody }: Http2Request,
): Promise<Http2Response | null> {
  return new Promise((resolve) => {
    let response: Http2Response | null = null;
    const parts: Buffer[] = [];
    let size = 0;
    const settle = () => resolve(response && { ...response, body: Buffer.concat(parts, size) });
    // Keep the listeners: a late error must not be uncaught.
    for (const each of [session, pipe]) each.on('error', settle).on('close', settle);
    const stream = session.request({
      ':method': 'GET',
      ':path': path,
      ':authority': authority,
      'user-agent': userAgent,
      accept: '*/*',
      'accept-encoding': 'identity',
    });
    stream.on('error', settle).on('close', settle).on('end', settle);
    stream.on('response', (headers, _flags, raw: string[] | undefined) => {
      const status = Number(headers[':status']);
      response = { status, headers: headerList(headers, raw), body: Buffer.alloc(0), truncated: false };
    });
    stream.on('data', (chunk: Buffer) => {
      const taken = chunk.subarray(0, maxBody - size);
      parts.push(taken);
      size += taken.length;
      if (taken.length === chunk.length || response === null) return;
      response.truncated = true;
      settle();
    });
  });
}

/** Without the pseudo-headers, whose names begin with a colon. */
function headerList(headers: IncomingHttpHeaders, raw: string[] | undefined): [string, string][] {
  const list: [string, string][] = [];
  if (raw) {
    for (let at = 0; at + 1 < raw.length; at += 2) list.push([String(raw[at]), String(raw[at + 1])]);
  } else {
    for (const [name, value] of Object.entries(headers)) {
      for (const each of Array.isArray(value) ? value : [value]) list.push([name, String(each)]);
    }
  }
  return list.filter(([name]) => !name.startsWith(':'));
}

/** A connection as a stream for the library. */
class ConnectionPipe extends Duplex {
  #connection: Connection;
  #idleMs: number;
  #reading = false;

  constructor(connection: Connection, idleMs: number) {
    super();
    this.#connection = connection;
    this.#idleMs = idleMs;
  }

  override _read(): void {
    if (this.#reading) return;
    this.#reading = true;
    void this.#connection.read({ idleMs: this.#idleMs, done: () => true }).then(({ bytes, end }) => {
      this.#reading = false;
      if (this.destroyed) return;
      if (bytes.length > 0) this.push(bytes);
      if (end !== 'match' || bytes.length === 0) this.#finish();
    });
  }

  /** No more data. After a GOAWAY the library would wait for its streams forever. */
  #finish(): void {
    this.push(null);
    const timer = setTimeout(() => this.destroy(), settleMs);
    this.once('close', () => clearTimeout(timer));
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    void this.#send(chunk, done);
  }

  async #send(chunk: Buffer, done: (error?: Error | null) => void): Promise<void> {
    const taken = await this.#connection.write(chunk);
    done(taken ? null : new Error('the peer stopped reading'));
  }
}
