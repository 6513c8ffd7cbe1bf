import type { IncomingHttpHeaders } from 'node:http';
import type { EventRun, ScanEvent } from '../../actions/scans/watch-scan.ts';
import { isErrorCode, PortolanError } from '../../domain/errors.ts';
import type { RouteContext } from '../context.ts';

/** Whose request is forwarded. */
export interface ForwardedClient {
  head: { headers: IncomingHttpHeaders };
  /** Aborted when the client no longer waits for the response. */
  signal: AbortSignal;
  /** Needs more than the rows of the scan. */
  whole?: boolean;
  /** Also when this server has become able to read the scan: it began to read it there. */
  stays?: boolean;
}

/**
 * Forwards a request to the owner of a scan, by the REST API and with the token of the client.
 *
 * @param url path and query
 * @returns null if the scan is on this server
 * @throws PortolanError the error of the other server, or `unavailable`
 */
export async function callOwner(
  { shards }: Pick<RouteContext, 'shards'>,
  { head, signal, stays = false, whole = false }: ForwardedClient,
  scanId: string,
  method: string,
  url: string,
  more: Record<string, string> = {},
): Promise<Response | null> {
  if (!shards) return null;
  const { authorization, 'x-tenant-id': tenant } = head.headers;
  const headers = {
    'accept-encoding': 'identity',
    ...more,
    ...(authorization !== undefined && { authorization }),
    ...(typeof tenant === 'string' && { 'x-tenant-id': tenant }),
  };
  const response = await shards.homes.ask(scanId, { method, url, headers, signal, stays, whole });
  if (!response || response.ok) return response;
  throw await rejectionOf(response);
}

/** Converts the event stream of the REST API to events, those that arrive together as one run. */
export async function* forwardEvents(response: Response): AsyncGenerator<EventRun> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const bytes of bytesOf(response.body)) {
    const blocks = (rest + decoder.decode(bytes, { stream: true })).split('\n\n');
    rest = blocks.pop() ?? '';
    const run = blocks.map(readEvent).filter((event) => event !== null);
    if (run.length > 0) yield run;
  }
}

/** @throws PortolanError `unavailable` if the other server aborts the response */
export async function* bytesOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  try {
    if (body) yield* body;
  } catch (cause) {
    throw new PortolanError('unavailable', 'The server that has the scan closed the connection.', {}, cause);
  }
}

/** Null for a keep-alive comment. */
function readEvent(block: string): ScanEvent | null {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
  const [event, id, data] = [field('event'), field('id'), field('data')];
  if (event === undefined || data === undefined) return null;
  return { event: event as ScanEvent['event'], data, ...(id !== undefined && { id: Number(id) }) };
}

async function rejectionOf(response: Response): Promise<PortolanError> {
  const body = (await response.json().catch(() => null)) as {
    error?: { code?: unknown; message?: unknown };
  } | null;
  const { code, message } = body?.error ?? {};
  return new PortolanError(
    isErrorCode(code) ? code : 'unavailable',
    typeof message === 'string' ? message : `The other server responded with ${response.status}.`,
  );
}
