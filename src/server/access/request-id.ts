import { randomFillSync } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { ScanOrigin } from '../../domain/scan-origin.ts';
import { withoutTokens } from '../../domain/text/secret-text.ts';
import { formatTraceparent, parseTraceparent } from '../../domain/trace-context.ts';

const requestIdForm = /^[A-Za-z0-9._-]{1,128}$/;

/** Random bytes for ids, drawn in batches: a call to the system's generator takes longer than the rest of an id. */
const randomPool = Buffer.alloc(6 * 1024);
let randomUsed = randomPool.length;

/** 48 random bits. */
function randomHex(): string {
  if (randomUsed === randomPool.length) {
    randomFillSync(randomPool);
    randomUsed = 0;
  }
  randomUsed += 6;
  return randomPool.toString('hex', randomUsed - 6, randomUsed);
}

/** The request id of the client, else a new one. */
export function requestId(request?: Pick<IncomingMessage, 'headers'>): string {
  const given = request?.headers['x-request-id'];
  if (typeof given === 'string' && requestIdForm.test(given)) return given;
  return `req_${randomHex()}`;
}

/** The origin of a scan, from the request that submits it. */
export function originOf(id: string, headers: IncomingHttpHeaders): ScanOrigin {
  const parent = parseTraceparent(headers['traceparent']);
  // A client may send its token as an id.
  return { requestId: withoutTokens(id), traceparent: parent && formatTraceparent(parent) };
}
