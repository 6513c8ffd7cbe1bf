import { create } from '@bufbuild/protobuf';
import type { ScanEvent } from '../../actions/scans/watch-scan.ts';
import { isErrorCode, PortolanError } from '../../domain/errors.ts';
import type { RouteContext } from '../context.ts';
import type { AdmittedCall } from './call.ts';
import { chunkPieces } from './file-chunks.ts';
import { type Chunk, ChunkSchema } from './gen/service_pb.ts';

type Homes = Pick<RouteContext, 'shards'>;

/**
 * Forwards a call to the owner of a scan, by the REST API and with the token of the call.
 *
 * @param url path and query
 * @returns null if the scan is on this server
 * @throws PortolanError the error of the other server, or `unavailable`
 */
export async function callOwner(
  { shards }: Homes,
  call: Pick<AdmittedCall, 'head' | 'signal'>,
  scanId: string,
  method: string,
  url: string,
  more: Record<string, string> = {},
): Promise<Response | null> {
  if (!shards) return null;
  const { authorization, 'x-tenant-id': tenant } = call.head.headers;
  const headers = {
    'accept-encoding': 'identity',
    ...more,
    ...(authorization !== undefined && { authorization }),
    ...(typeof tenant === 'string' && { 'x-tenant-id': tenant }),
  };
  const response = await shards.homes.ask(scanId, { method, url, headers, signal: call.signal });
  if (!response || response.ok) return response;
  throw await rejectionOf(response);
}

/** Converts a file of the REST API to messages. */
export async function* forwardChunks({ headers, body }: Response): AsyncGenerator<Chunk> {
  let facts: Partial<Pick<Chunk, 'contentType' | 'filename' | 'scanStatus'>> = {
    contentType: headers.get('content-type') ?? '',
    filename: /filename="([^"]*)"/.exec(headers.get('content-disposition') ?? '')?.[1] ?? '',
    scanStatus: headers.get('x-scan-status') ?? '',
  };
  for await (const data of chunkPieces(bytesOf(body))) {
    yield create(ChunkSchema, { data, ...facts });
    facts = {};
  }
}

/** Converts the event stream of the REST API to events. */
export async function* forwardEvents(response: Response | null): AsyncGenerator<ScanEvent> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const bytes of bytesOf(response?.body ?? null)) {
    const blocks = (rest + decoder.decode(bytes, { stream: true })).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = readEvent(block);
      if (event) yield event;
    }
  }
}

/** @throws PortolanError `unavailable` if the other server aborts the response */
async function* bytesOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
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
