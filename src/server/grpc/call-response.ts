import { once } from 'node:events';
import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { setTrailerStatus } from '@connectrpc/connect/protocol-grpc';
import type { PortolanError } from '../../domain/errors.ts';
import { connectError, errorCodeTrailer, sentTrailers } from './status.ts';

/** Timeout of a client that reads nothing, milliseconds. */
const stallMs = 120_000;
/** Time for a client that is still sending to read the response; its data is dropped meanwhile. */
const lingerMs = 500;

/** Response to one call on its HTTP/2 stream. Ends only once. */
export class CallResponse {
  readonly #stream: ServerHttp2Stream;
  readonly #headers: Record<string, string>;
  #ended = false;
  #trailers: OutgoingHttpHeaders = {};

  /** @param headers sent with the first bytes; may be extended until then */
  constructor(stream: ServerHttp2Stream, headers: Record<string, string>) {
    this.#stream = stream;
    this.#headers = headers;
    stream.on('wantTrailers', () => {
      if (!stream.closed) stream.sendTrailers(this.#trailers);
      this.#letGo();
    });
  }

  /** True once nothing can be sent. */
  get ended(): boolean {
    return this.#ended || this.#stream.destroyed || this.#stream.closed;
  }

  /** Sends the response headers. */
  begin(headers: Headers): void {
    if (this.ended || this.#stream.headersSent) return;
    this.#stream.respond(
      { ':status': 200, ...this.#headers, ...Object.fromEntries(headers) },
      { waitForTrailers: true },
    );
  }

  /** Resolves when the client can receive more. */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.ended || this.#stream.write(bytes)) return;
    const stop = new AbortController();
    const { signal } = stop;
    const late = setTimeout(() => this.#stream.close(constants.NGHTTP2_CANCEL), stallMs);
    const room = ['drain', 'close'].map((event) => once(this.#stream, event, { signal }));
    await Promise.race(room).catch(() => undefined);
    clearTimeout(late);
    for (const waiting of room) waiting.catch(() => undefined);
    stop.abort();
  }

  /** @param trailers with the status */
  end(trailers: Headers): void {
    if (this.ended) return;
    this.#ended = true;
    this.#trailers = sentTrailers(trailers);
    const late = setTimeout(() => this.#stream.close(constants.NGHTTP2_CANCEL), stallMs);
    this.#stream.once('close', () => clearTimeout(late));
    this.#stream.end();
  }

  /** Ends with an error, even in the middle of a stream. */
  refuse(refusal: PortolanError): void {
    if (this.ended) return;
    const error = connectError(refusal, false, this.#headers['retry-after']);
    const trailers = setTrailerStatus(new Headers(), error);
    if (this.#stream.headersSent) return this.end(trailers);
    this.#ended = true;
    const status = sentTrailers(trailers);
    this.#stream.respond(
      { ':status': 200, 'content-type': 'application/grpc+proto', ...this.#headers, ...status },
      { endStream: true },
    );
    this.#letGo();
  }

  /** For requests that are not gRPC calls. */
  refuseHttp(status: number): void {
    if (this.ended) return;
    this.#ended = true;
    this.#stream.respond({ ':status': status, ...this.#headers }, { endStream: true });
    this.#letGo();
  }

  /** The stream closes by itself once the client has sent everything; limits that wait. */
  #letGo(): void {
    const stream = this.#stream;
    const late = setTimeout(() => stream.close(constants.NGHTTP2_NO_ERROR), lingerMs);
    stream.once('close', () => clearTimeout(late));
    stream.resume();
  }
}

/** Adds the catalog code to a status set by the library. */
export function withErrorCode(trailers: Headers, refusal: PortolanError | null): Headers {
  if (refusal !== null && !trailers.has(errorCodeTrailer)) {
    const named = setTrailerStatus(new Headers(), connectError(refusal));
    for (const [name, value] of named) trailers.set(name, value);
  }
  return trailers;
}
