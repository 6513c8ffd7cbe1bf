import { once } from 'node:events';
import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { setTrailerStatus } from '@connectrpc/connect/protocol-grpc';
import type { PortolanError } from '../../domain/errors.ts';
import { connectError, errorCodeTrailer, sentTrailers } from './status.ts';

/** A client that takes nothing for so long is given up. */
const stallMs = 120_000;
/** Time that a client that still sends has to read the response; what it sends meanwhile is dropped. */
const lingerMs = 500;

/** The response to one call on its HTTP/2 stream. It ends once, whoever ends it first. */
export class CallResponse {
  readonly #stream: ServerHttp2Stream;
  readonly #headers: Record<string, string>;
  #ended = false;
  #trailers: OutgoingHttpHeaders = {};

  /** @param headers go out with the first bytes; they may be added to until then */
  constructor(stream: ServerHttp2Stream, headers: Record<string, string>) {
    this.#stream = stream;
    this.#headers = headers;
    stream.on('wantTrailers', () => {
      if (!stream.closed) stream.sendTrailers(this.#trailers);
      this.#letGo();
    });
  }

  /** Nothing can be added any more. */
  get ended(): boolean {
    return this.#ended || this.#stream.destroyed || this.#stream.closed;
  }

  /** Sends headers of the protocol that go before the messages. */
  begin(headers: Headers): void {
    if (this.ended || this.#stream.headersSent) return;
    this.#stream.respond(
      { ':status': 200, ...this.#headers, ...Object.fromEntries(headers) },
      { waitForTrailers: true },
    );
  }

  /** Resolves when the client has room for more. */
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

  /** @param trailers of the protocol, the status among them */
  end(trailers: Headers): void {
    if (this.ended) return;
    this.#ended = true;
    this.#trailers = sentTrailers(trailers);
    const late = setTimeout(() => this.#stream.close(constants.NGHTTP2_CANCEL), stallMs);
    this.#stream.once('close', () => clearTimeout(late));
    this.#stream.end();
  }

  /** Ends with an error, also one that comes while messages are sent. */
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

  /** The stream closes by itself once the client has sent everything; that is not waited for much longer. */
  #letGo(): void {
    const stream = this.#stream;
    const late = setTimeout(() => stream.close(constants.NGHTTP2_NO_ERROR), lingerMs);
    stream.once('close', () => clearTimeout(late));
    stream.resume();
  }
}

/** Adds the code of the catalogue to a status that the protocol itself has set. */
export function withErrorCode(trailers: Headers, refusal: PortolanError | null): Headers {
  if (refusal !== null && !trailers.has(errorCodeTrailer)) {
    const named = setTrailerStatus(new Headers(), connectError(refusal));
    for (const [name, value] of named) trailers.set(name, value);
  }
  return trailers;
}
