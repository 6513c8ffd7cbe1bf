import createClient, { type Client } from 'openapi-fetch';
import { apiPath } from '../url/paths.ts';
import { ApiError, errorOfResponse, unreachable } from './api-error.ts';
import { accessHeaders } from './credentials.ts';
import type { paths } from './schema.d.ts';
import { noteServerDate } from './server-clock.ts';

/** A request that has no response by then has failed, milliseconds. */
const timeoutMs = 30_000;

export interface RequestParams {
  path?: Record<string, string | number>;
  query?: Record<string, unknown>;
  body?: unknown;
  headers?: Record<string, string>;
}

/** A success. */
export interface Envelope<T> {
  data: T;
  meta?: { warnings?: string[] };
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
type Responses = { data?: unknown; error?: unknown; response: Response };
type Send = (method: Lowercase<Method>, path: string, init: object) => Promise<Responses>;

const client: Client<paths> = createClient<paths>({ baseUrl: apiPath, cache: 'no-store' });
// One place where the types of all paths meet; callers are typed by `useGet` and `useSend`.
const send = client.request as unknown as Send;

let whenRejected: () => void = () => undefined;

/** @param listener called when the server no longer accepts the token */
export function onTokenRejected(listener: () => void): void {
  whenRejected = listener;
}

/** @returns the `data` of the response. @throws ApiError */
export async function requestData<T>(
  method: Method,
  path: string,
  params?: RequestParams,
  signal?: AbortSignal,
): Promise<T> {
  return (await requestEnvelope<T>(method, path, params, signal)).data;
}

/** The same with the server's warnings about it. */
export async function requestEnvelope<T>(
  method: Method,
  path: string,
  { path: places, query, body, headers }: RequestParams = {},
  signal?: AbortSignal,
): Promise<Envelope<T>> {
  const { data, error, response } = await send(method.toLowerCase() as Lowercase<Method>, path, {
    params: { path: places, query },
    body,
    headers: { ...accessHeaders(), ...headers },
    signal: signalOf(signal),
  }).catch((cause: unknown) => {
    if (signal?.aborted) throw cause;
    throw unreachable();
  });
  noteServerDate(response.headers.get('date'));
  if (response.ok && isEnvelope<T>(data)) return data;
  if (response.ok) throw new ApiError({ status: response.status, code: 'bad_response', message: notOurs });
  const failure = errorOfResponse(response, error);
  if (response.status === 401 && path !== '/api/v1/session') whenRejected();
  throw failure;
}

const notOurs = 'Something between this page and the server sent a response that is not the server’s.';

function signalOf(signal: AbortSignal | undefined): AbortSignal {
  const timeout = AbortSignal.timeout(timeoutMs);
  return signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
}

function isEnvelope<T>(value: unknown): value is Envelope<T> {
  return typeof value === 'object' && value !== null && 'data' in value;
}
