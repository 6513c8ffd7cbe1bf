import { createHash } from 'node:crypto';
import { PortolanError } from '../domain/errors.ts';
import type { QueuedShard } from '../queue/shard-queue.ts';
import type { ShardHome } from './shard-home.ts';

/** Timeout of a request to the owner server, milliseconds. */
const answerMs = 20_000;
/** Maximum length of an error response that is read, characters. */
const maxRefusal = 2000;

/** `fetch` with the certificates that this process trusts. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** The owner of a scan on another machine, or in another process of this one, over HTTP. */
export class HomeClient implements ShardHome {
  readonly #locate: () => Promise<string>;
  readonly #path: string;
  readonly #headers: Record<string, string>;
  readonly #fetch: Fetch;
  /** Last known URL; null when it has to be located. */
  #url: string | null = null;

  /** @param locate returns the current URL of the owner, without a trailing slash: a restart may change it */
  constructor(
    locate: () => Promise<string>,
    { scanId, shard, attempt, key }: QueuedShard,
    requestId: string | null = null,
    send: Fetch = fetch,
  ) {
    this.#locate = locate;
    this.#path = `/internal/shards/${scanId}/${shard}`;
    this.#headers = {
      authorization: `Bearer ${key}`,
      'x-shard-attempt': String(attempt),
      ...(requestId !== null && { 'x-request-id': requestId }),
    };
    this.#fetch = send;
  }

  async rows(): Promise<AsyncIterable<Uint8Array>> {
    const { body } = await this.#send('GET', '/rows');
    return this.#pieces(body ?? new ReadableStream());
  }

  async checkpoint(): Promise<Buffer | null> {
    const response = await this.#send('GET', '/checkpoint');
    return response.status === 204 ? null : await this.#whole(response);
  }

  async putRows(first: number, lines: Buffer): Promise<number> {
    const response = await this.#send('PUT', `/rows/${first}`, lines, 'application/x-ndjson');
    const { rows } = parsed(await this.#whole(response)) as { rows?: unknown };
    if (Number.isSafeInteger(rows)) return rows as number;
    throw new PortolanError('network', `unexpected response from ${this.#url}: not a Portolan server`);
  }

  async putCheckpoint(bytes: Buffer): Promise<void> {
    const response = await this.#send('PUT', '/checkpoint', bytes, 'application/octet-stream');
    await this.#whole(response);
  }

  async #send(method: string, path: string, body?: Buffer, type?: string): Promise<Response> {
    const headers = {
      ...this.#headers,
      ...(body && type
        ? { 'content-type': type, 'x-content-sha256': createHash('sha256').update(body).digest('hex') }
        : {}),
    };
    this.#url ??= await this.#locate();
    const response = await this.#fetch(`${this.#url}${this.#path}${path}`, {
      method,
      headers,
      body: body ? new Uint8Array(body) : null,
      signal: AbortSignal.timeout(answerMs),
      // A redirect could leak the key to another host.
      redirect: 'error',
    }).catch((error: unknown) => this.#broken(error));
    if (response.ok) return response;
    throw await this.#refusalOf(response);
  }

  async #whole(response: Response): Promise<Buffer> {
    const bytes = await response.arrayBuffer().catch((error: unknown) => this.#broken(error));
    return Buffer.from(bytes);
  }

  async *#pieces(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      yield* body;
    } catch (error) {
      this.#broken(error);
    }
  }

  #broken(error: unknown): never {
    const place = this.#url;
    this.#url = null;
    throw new PortolanError('network', `cannot reach the owner server of the scan at ${place}`, {}, error);
  }

  async #refusalOf(response: Response): Promise<PortolanError> {
    const text = (await this.#whole(response)).toString('utf8').slice(0, maxRefusal);
    const { error } = parsed(Buffer.from(text)) as { error?: { message?: unknown; details?: unknown } };
    const message = `the owner server of the scan responded with ${response.status}: ${String(error?.message ?? text)}`;
    const code = refusals.get(response.status) ?? 'network';
    const { rows } = (error?.details ?? {}) as { rows?: unknown };
    return new PortolanError(code, message, Number.isSafeInteger(rows) ? { rows } : {});
  }
}

/** Statuses that are final; every other one is worth a retry. A wrong key is that of an earlier claim. */
const refusals = new Map<number, 'invalid_request' | 'conflict'>([
  [400, 'invalid_request'],
  [401, 'conflict'],
  [404, 'conflict'],
  [409, 'conflict'],
  [413, 'invalid_request'],
  [415, 'invalid_request'],
]);

function parsed(bytes: Buffer): object {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
