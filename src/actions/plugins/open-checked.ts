import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
import { isPublicAddress } from '../../domain/targets/public-address.ts';
import { NameResolver } from '../../net/resolve.ts';
import { DownloadProblem, type OpenUrl } from '../catalogs/fetch-feed.ts';

/** @throws DownloadProblem */
type ResolveName = (name: string, signal: AbortSignal) => Promise<string[]>;

export interface AddressRules {
  /** Whether the first URL, and redirects within its origin, may lead to private addresses. */
  mayBePrivate: boolean;
  resolve?: ResolveName;
  isPublic?: (address: string) => boolean;
}

/**
 * Requests URLs whose addresses are checked. A name is resolved once, and the connection goes to the addresses that were
 * checked. Redirects lead to https only.
 */
export function openChecked(start: URL, rules: AddressRules): OpenUrl {
  const { mayBePrivate, isPublic = isPublicAddress, resolve = resolveName } = rules;
  return async (target, request, hop) => {
    if (hop > 0 && target.protocol !== 'https:')
      throw new DownloadProblem('the server redirects away from https; not followed', false);
    if (hop > 0 && target.username !== '')
      throw new DownloadProblem('the server redirects to a URL with credentials; not followed', false);
    const host = target.hostname.replace(/^\[|\]$/g, '');
    const addresses = isIP(host) === 0 ? await resolve(host, request.signal) : [host];
    const hidden = addresses.find((address) => !isPublic(address));
    if (hidden && !(mayBePrivate && target.origin === start.origin)) throw isPrivate(host, hidden, hop);
    return send(target, request, lookupOf(addresses));
  };
}

function isPrivate(host: string, address: string, hop: number): DownloadProblem {
  const shown = host === address ? host : `${host} (${address})`;
  return hop > 0
    ? new DownloadProblem(`the server redirects to a private address, ${shown}; not followed`, false)
    : new DownloadProblem(`${shown} is a private address, which only the host of the index may have`, false);
}

async function resolveName(name: string, signal: AbortSignal): Promise<string[]> {
  const resolution = await new NameResolver().resolve(name, signal);
  if ('addresses' in resolution) return resolution.addresses;
  throw new DownloadProblem(`${name}: ${resolution.error}`, true);
}

/** What was resolved, whatever is asked for. */
function lookupOf(addresses: readonly string[]): LookupFunction {
  const known = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_name, { all, family }, callback) => {
    const fitting = known.filter((each) => !family || each.family === family);
    const [first] = fitting;
    if (!first) return callback(new Error('the name has no address'), '');
    return all ? callback(null, fitting) : callback(null, first.address, first.family);
  };
}

function send(
  target: URL,
  { headers, signal }: Parameters<OpenUrl>[1],
  pinned: LookupFunction,
): Promise<Response> {
  const request = target.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    // A connection of its own: one that is kept open went to an address of another check.
    const options = { headers: Object.fromEntries(headers), signal, lookup: pinned, agent: false };
    const sent = request(target, options, (message) => {
      try {
        resolve(responseOf(message));
      } catch (error) {
        message.destroy();
        reject(new DownloadProblem('malformed response', false, { cause: error }));
      }
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** @throws RangeError, TypeError for a status or headers that `Response` refuses */
function responseOf(message: IncomingMessage): Response {
  const { statusCode: status = 0, rawHeaders } = message;
  const pairs = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? '']] : []));
  const withoutBody = [204, 205, 304].includes(status);
  if (withoutBody) message.resume();
  const body = withoutBody ? null : (Readable.toWeb(message) as ReadableStream<Uint8Array>);
  return new Response(body, { status, headers: new Headers(pairs as [string, string][]) });
}
