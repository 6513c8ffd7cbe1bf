import { type ErrorCode, errorCatalog, isErrorCode, PortolanError } from '../../domain/errors.ts';
import { readEvents, type ServerEvent } from './event-stream.ts';
import { requestServer, type ServerReply } from './local-certificate.ts';
import { itemsOf, optional, type Shape, type ShapeOf, text as textShape } from './response-shape.ts';

/** Timeout of a request without a stream, milliseconds. */
const responseMs = 30_000;
/** Maximum size of a response that is read as a whole, characters. */
const maxResponse = 32 * 1024 * 1024;

export interface Server {
  /** Base URL, e.g. `http://127.0.0.1:8080`. */
  url: string;
  token: string | null;
  /** Tenant, on a server with tenants; default: SERVICE_TENANT_ID. */
  tenant?: string | null;
}

/**
 * Client of a Portolan server over REST. Every failure is a PortolanError: `network` when the server is unreachable
 * or the connection breaks, else the code that the server sent.
 */
export class Client {
  readonly url: string;
  readonly #token: string | null;
  readonly #tenant: string | null;

  constructor(server: Server) {
    this.url = checkServerUrl(server.url);
    this.#token = server.token;
    this.#tenant = server.tenant ?? (process.env['SERVICE_TENANT_ID'] || null);
  }

  /** Sends a request and returns the `data` of the response, which has a shape and must arrive within `patienceMs`. */
  async call<T>(
    method: string,
    path: string,
    shape: ShapeOf<T>,
    body?: unknown,
    patienceMs = responseMs,
    headers: Record<string, string> = {},
  ): Promise<T> {
    return (await this.submit(method, path, shape, body, patienceMs, headers)).data;
  }

  /** The same, with the warnings of the server about the request. */
  async submit<T>(
    method: string,
    path: string,
    shape: ShapeOf<T>,
    body?: unknown,
    patienceMs = responseMs,
    headers: Record<string, string> = {},
  ): Promise<{ data: T; warnings: string[] }> {
    const signal = AbortSignal.timeout(patienceMs);
    const response = await this.#fetch(method, path, body, headers, signal);
    const { data, meta } = parseAnswer(await readAll(this.#text(response)));
    if (data === undefined) throw unexpected(`${this.url}: not a Portolan server`);
    const warnings = (meta as { warnings?: unknown } | null | undefined)?.warnings;
    this.#check(warningsShape, warnings, 'meta.warnings');
    this.#check(shape, data, 'data');
    return { data: data as T, warnings: (warnings ?? []) as string[] };
  }

  /** The health object; status 503 of an unhealthy server is not an error here. */
  async health<T>(shape: ShapeOf<T>): Promise<T> {
    const response = await this.#send(
      'GET',
      '/api/v1/health',
      undefined,
      {},
      AbortSignal.timeout(responseMs),
    );
    const text = await readAll(this.#text(response));
    const { data } = parseAnswer(text);
    if (data === undefined || (!isSuccess(response) && response.status !== 503))
      throw this.#errorFrom(response.status, text);
    this.#check(shape, data, 'data');
    return data as T;
  }

  #check(shape: Shape, value: unknown, place: string): void {
    const problem = shape(value, place);
    if (problem !== null) throw unexpected(`${this.url}: ${problem}`);
  }

  /** Text of a download, in chunks. */
  async download(path: string, signal?: AbortSignal): Promise<AsyncIterable<string>> {
    return this.#text(await this.#fetch('GET', path, undefined, {}, signal));
  }

  /** Bytes of a download, in chunks. */
  async downloadBytes(path: string, signal?: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    return this.#bytes(await this.#fetch('GET', path, undefined, {}, signal));
  }

  /** Events after `lastId`, until the server closes the stream. */
  async events(
    path: string,
    lastId: string | null,
    signal: AbortSignal,
  ): Promise<AsyncIterable<ServerEvent>> {
    const headers = { accept: 'text/event-stream', ...(lastId ? { 'last-event-id': lastId } : {}) };
    return readEvents(this.#text(await this.#fetch('GET', path, undefined, headers, signal)));
  }

  /** @throws PortolanError for every response that is not a success */
  async #fetch(
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
    signal?: AbortSignal,
  ): Promise<ServerReply> {
    const response = await this.#send(method, path, body, headers, signal);
    if (isSuccess(response)) return response;
    throw this.#errorFrom(response.status, await readAll(this.#text(response)));
  }

  /** Error of the server, with flags and variables that fix it. */
  #errorFrom(status: number, text: string): PortolanError {
    const { code, message, details } = errorOf(status, text);
    if (code === 'unauthorized') return this.#tokenError(details);
    const isTenantMissing = this.#tenant === null && JSON.stringify(details).includes('"X-Tenant-ID"');
    const advice = isTenantMissing ? ' Set the tenant in SERVICE_TENANT_ID.' : '';
    return new PortolanError(code, message + advice, details);
  }

  #tokenError(details: Record<string, unknown>): PortolanError {
    const source = this.#token === process.env['SERVICE_API_TOKEN'] ? 'SERVICE_API_TOKEN' : '--api-token';
    const message =
      this.#token === null
        ? `${this.url} requires a token`
        : `invalid token (from ${source}) for ${this.url}`;
    const hint =
      this.#token === null
        ? 'SERVICE_API_TOKEN or --api-token; portolan server token create makes one'
        : 'portolan server token create';
    return new PortolanError('unauthorized', message, { ...details, try: hint });
  }

  async #send(
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
    signal?: AbortSignal,
  ): Promise<ServerReply> {
    try {
      return await requestServer(this.url + path, {
        method,
        headers: {
          ...headers,
          ...(this.#token ? { authorization: `Bearer ${this.#token}` } : {}),
          ...(this.#tenant ? { 'x-tenant-id': this.#tenant } : {}),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(signal ? { signal } : {}),
      });
    } catch (error) {
      throw this.#unreachable(error);
    }
  }

  async *#text(response: ServerReply): AsyncIterable<string> {
    const decoder = new TextDecoder();
    for await (const bytes of this.#bytes(response)) yield decoder.decode(bytes, { stream: true });
    const rest = decoder.decode();
    if (rest !== '') yield rest;
  }

  async *#bytes(response: ServerReply): AsyncIterable<Uint8Array> {
    try {
      yield* response.body;
    } catch (error) {
      throw this.#unreachable(error);
    }
  }

  #unreachable(error: unknown): unknown {
    const { name, message, cause } = error as Error & { cause?: { code?: string; message?: string } };
    if (name === 'AbortError') return error;
    const why =
      name === 'TimeoutError' ? `no response within ${responseMs / 1000} s` : networkReason(cause, message);
    return new PortolanError('network', `no connection to ${this.url}: ${why}`, {
      try: 'portolan server status, or the same without --server',
    });
  }
}

function isSuccess({ status }: ServerReply): boolean {
  return status >= 200 && status < 300;
}

const warningsShape = optional(itemsOf(textShape));

/** The envelope of a response; empty for anything else. */
function parseAnswer(text: string): { data?: unknown; meta?: unknown } {
  try {
    return (JSON.parse(text) as { data?: unknown; meta?: unknown } | null) ?? {};
  } catch {
    return {};
  }
}

/** A response that another attempt would not change. */
export function unexpected(problem: string): PortolanError {
  return new PortolanError('network', `unexpected response from ${problem}`, { unexpected: true });
}

export function isUnexpected(error: unknown): boolean {
  return error instanceof PortolanError && error.details['unexpected'] === true;
}

/** @throws PortolanError when the text is not an http(s) URL, or has more parts than a base URL */
export function checkServerUrl(text: string): string {
  const url = URL.parse(text.includes('://') ? text : `http://${text}`);
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    throw new PortolanError('usage', `"${text}" is not a server URL such as http://127.0.0.1:8080`);
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new PortolanError(
      'usage',
      'a server URL has only scheme, host, port and path; pass tokens with --api-token',
    );
  }
  return url.href.replace(/\/(api\/v1\/?)?$/, '');
}

/** Codes of Node.js for a certificate that no trusted authority vouches for. */
const unknownIssuer = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
];
const untrusted =
  'no authority that this machine trusts vouches for its certificate; name the file of the authority (PEM) with --ca-file, or in NODE_EXTRA_CA_CERTS';

function networkReason(cause: { code?: string; message?: string } | undefined, message: string): string {
  const known: Record<string, string> = {
    ECONNREFUSED: 'refused',
    ENOTFOUND: 'unknown host name',
    EAI_AGAIN: 'cannot resolve the host name',
    ECONNRESET: 'reset',
    ETIMEDOUT: 'timed out',
    CERT_HAS_EXPIRED: 'its certificate has expired',
    ...Object.fromEntries(unknownIssuer.map((code) => [code, untrusted])),
  };
  return known[cause?.code ?? ''] ?? cause?.message ?? message;
}

/** Maps an error response: to the code of the server if it sent one, else by status. */
export function errorOf(status: number, text: string): PortolanError {
  const sent = errorBody(text);
  const code = sent && isErrorCode(sent.code) ? sent.code : codeOfStatus(status);
  return new PortolanError(
    code,
    sent?.message ?? `the server responded with status ${status}`,
    sent?.details ?? {},
  );
}

function errorBody(text: string): { code: string; message: string; details: Record<string, unknown> } | null {
  try {
    const { error } = JSON.parse(text) as {
      error?: { code?: unknown; message?: unknown; details?: unknown };
    };
    if (typeof error?.code !== 'string' || typeof error.message !== 'string') return null;
    const details = typeof error.details === 'object' && error.details !== null ? error.details : {};
    return { code: error.code, message: error.message, details: details as Record<string, unknown> };
  } catch {
    return null;
  }
}

function codeOfStatus(status: number): ErrorCode {
  const entries = Object.entries(errorCatalog) as [ErrorCode, { status: number | null }][];
  return entries.find(([, entry]) => entry.status === status)?.[0] ?? 'internal_error';
}

/** Whether a response was refused for its size. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof PortolanError && error.code === 'network' && 'characters' in error.details;
}

async function readAll(chunks: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const chunk of chunks) {
    text += chunk;
    if (text.length > maxResponse)
      throw new PortolanError('network', 'the response is larger than 32 MiB', { characters: maxResponse });
  }
  return text;
}
