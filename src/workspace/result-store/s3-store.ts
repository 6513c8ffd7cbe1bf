import { type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { PortolanError } from '../../domain/errors.ts';
import { type ObjectContent, type ObjectStore, storeAway } from './object-store.ts';

export interface S3Location {
  /** Base URL of the service. */
  endpoint: string;
  region: string;
  bucket: string;
  /** Prefix of object names, without slashes at its ends; may be empty. */
  prefix: string;
  accessKey: string;
  secretKey: string;
}

export interface S3Timeouts {
  /** Idle timeout in both directions, milliseconds. */
  idleMs: number;
  /** Timeout of a request without its content, milliseconds. */
  requestMs: number;
  /** Delays before retries, milliseconds. */
  pausesMs: readonly number[];
  /** No retry starts after this time: limits the wait for a service that swallows requests. */
  triesMs: number;
}

const timeouts: S3Timeouts = { idleMs: 15_000, requestMs: 60_000, pausesMs: [200, 1000], triesMs: 10_000 };
/** Slowest accepted transfer, bytes per millisecond. */
const slowestTransfer = 64;
/** Largest object of one PUT (Amazon S3, "Uploading objects"). */
const maxObjectBytes = 5 * 1024 * 1024 * 1024;
/** Maximum number of characters read of an error. */
const maxErrorCharacters = 16 * 1024;
const emptySha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** Statuses after which a retry may succeed. */
const passing = new Set([408, 425, 429, 500, 502, 503, 504]);

/** A request to the service. */
interface ObjectRequest {
  method: 'GET' | 'PUT' | 'DELETE';
  /** Of the object. */
  name: string;
  content: ObjectContent | null;
  /** Bytes that go one way or the other. */
  size: number;
  signal: AbortSignal | undefined;
}

/**
 * A bucket of an S3-compatible service. Requests are signed (AWS Signature Version 4) with the SHA-256 of their
 * content: the service rejects content that was modified in transit. Buckets are part of the path, not of the host
 * name.
 */
export class S3Store implements ObjectStore {
  readonly #place: S3Location;
  readonly #timeouts: S3Timeouts;

  constructor(place: S3Location, wait = timeouts) {
    this.#place = place;
    this.#timeouts = wait;
  }

  async put(name: string, content: ObjectContent, signal?: AbortSignal): Promise<void> {
    if (content.size > maxObjectBytes) throw storeAway('rejects files above 5 GiB');
    const response = await this.#send({ method: 'PUT', name, content, size: content.size, signal });
    if (response) await discard(response);
  }

  async read(name: string, size: number, signal?: AbortSignal): Promise<AsyncIterable<Uint8Array> | null> {
    const response = await this.#send({ method: 'GET', name, content: null, size, signal });
    return response && bodyOf(response);
  }

  async remove(name: string, signal?: AbortSignal): Promise<void> {
    const response = await this.#send({ method: 'DELETE', name, content: null, size: 0, signal });
    if (response) await discard(response);
  }

  /** @returns a successful response with an unread body; null if there is no such object */
  async #send(request: ObjectRequest): Promise<IncomingMessage | null> {
    const lastTry = performance.now() + this.#timeouts.triesMs;
    for (const pause of this.#timeouts.pausesMs) {
      try {
        return await this.#try(request);
      } catch (error) {
        const isOver = request.signal?.aborted || performance.now() > lastTry;
        if (isOver || !(error instanceof PassingFault)) throw reported(error);
        await sleep(pause);
      }
    }
    return await this.#try(request).catch((error: unknown) => {
      throw reported(error);
    });
  }

  async #try(request: ObjectRequest): Promise<IncomingMessage | null> {
    const { method, content, size, signal } = request;
    const { idleMs, requestMs } = this.#timeouts;
    const { url, headers } = await this.#signed(request);
    const deadline = AbortSignal.timeout(requestMs + Math.ceil(size / slowestTransfer));
    const options = {
      method,
      headers: {
        ...Object.fromEntries(headers),
        'user-agent': 'portolan',
        ...(content && { 'content-length': String(size) }),
      },
      timeout: idleMs,
      signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
    };
    const response = await exchange(url, options, content).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw brokenOff(error);
    });
    const { statusCode = 0 } = response;
    if (statusCode >= 200 && statusCode < 300) return response;
    const code = await errorCode(response);
    if (code === 'NoSuchKey' && method !== 'PUT') return null;
    throw rejection(statusCode, code);
  }

  #signed({ method, name, content }: ObjectRequest) {
    const { region, accessKey, secretKey } = this.#place;
    return new AwsV4Signer({
      method,
      url: this.#urlOf(name),
      headers: { 'x-amz-content-sha256': content?.sha256 ?? emptySha256 },
      accessKeyId: accessKey,
      secretAccessKey: secretKey,
      region,
      service: 's3',
    }).sign();
  }

  #urlOf(name: string): string {
    const { endpoint, bucket, prefix } = this.#place;
    const parts = [bucket, ...(prefix === '' ? [] : prefix.split('/')), ...name.split('/')];
    const { origin, pathname } = new URL(endpoint);
    return `${origin}${pathname.replace(/(?<!\/)\/+$/, '')}/${parts.map(encodePart).join('/')}`;
  }
}

/** Encoding for the signature: everything except unreserved characters (RFC 3986). */
function encodePart(part: string): string {
  return encodeURIComponent(part).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/**
 * Sends a request with its content. Resolves with the head of the response; `timeout` and `signal` apply to its body
 * too.
 */
async function exchange(
  url: URL,
  options: RequestOptions,
  content: ObjectContent | null,
): Promise<IncomingMessage> {
  const outgoing = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, options);
  outgoing.on('timeout', () => outgoing.destroy(new Error('timed out: no data')));
  const responded = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve);
    outgoing.once('error', reject);
  });
  if (content === null) {
    outgoing.end();
    return await responded;
  }
  const source = Readable.from(content.bytes(), { objectMode: false });
  // The file became unreadable or has changed: the request must not end as if it were complete.
  const unread = new Promise<never>((_resolve, reject) => source.once('error', reject));
  source.pipe(outgoing);
  try {
    // A response before the end of the content is a rejection: stop sending.
    return await Promise.race([responded, unread]);
  } catch (error) {
    responded.catch(() => undefined);
    outgoing.destroy();
    throw error;
  } finally {
    unread.catch(() => undefined);
    source.destroy();
  }
}

/** The bytes of a response; a connection that ends early means that the store is down. */
async function* bodyOf(response: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of response) yield piece as Uint8Array;
  } catch (error) {
    throw reported(brokenOff(error));
  }
}

async function discard(response: IncomingMessage): Promise<void> {
  for await (const _piece of bodyOf(response));
}

/** The error code (`<Code>` of the response); empty if there is none that may be shown. */
async function errorCode(response: IncomingMessage): Promise<string> {
  let text = '';
  try {
    for await (const piece of response) {
      text += String(piece);
      if (text.length > maxErrorCharacters) break;
    }
  } catch {
    // Aborted: use what has arrived.
  } finally {
    response.destroy();
  }
  return /<Code>([A-Za-z0-9.]{1,64})<\/Code>/.exec(text)?.[1] ?? '';
}

/** A temporary error. */
class PassingFault extends Error {}

function rejection(status: number, code: string): Error {
  const what = `responded ${status}${code === '' ? '' : ` (${code})`}`;
  return passing.has(status) ? new PassingFault(what) : storeAway(what);
}

/** Why there is no complete response. Errors of the content itself are for the caller. */
function brokenOff(error: unknown): unknown {
  if (error instanceof PortolanError || error instanceof PassingFault) return error;
  const { name, code, message } = error as NodeJS.ErrnoException;
  const reason = name === 'AbortError' || name === 'TimeoutError' ? 'it is too slow' : (code ?? message);
  return new PassingFault(`is not reachable (${reason})`, { cause: error });
}

function reported(error: unknown): unknown {
  return error instanceof PassingFault ? storeAway(error.message, error.cause) : error;
}
