import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import {
  allows,
  ownsSecret,
  type TokenScope,
  tokenIdOf,
  verifyToken,
} from '../../actions/access/verify-token.ts';
import { isLoopbackHost } from '../../config/endpoint.ts';
import { isOutside, requiresTokens } from '../../config/required-tokens.ts';
import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import type { Store } from '../../store/open.ts';
import type { TokenRecord } from '../../store/tokens.ts';

/**
 * Who may call a route: everybody (`open`), any valid token (`any`), or a token with one of the scopes.
 */
export type RouteAccess = 'open' | 'any' | readonly TokenScope[];

/** How long a token record is cached, milliseconds: changes take effect within 2 s. */
const recordMs = 1000;
/** Minimum interval between updates of `last_used_at`, milliseconds. */
const lastUsedMs = 60_000;
/** Maximum number of invalid tokens per address and minute. */
export const maxFailedAttempts = 20;
/** Maximum number of cached records: unknown ids must not exhaust memory. */
const maxRecords = 1000;

/** The headers of a request, REST or gRPC. */
export interface RequestHead {
  headers: IncomingHttpHeaders;
  /** Names and values alternating, in order of arrival. */
  rawHeaders: string[];
  url?: string | undefined;
  socket: Socket;
}

/** Protected mode: non-loopback without tokens and without server.allow_insecure serves only loopback clients. */
export function isProtected(config: Config): boolean {
  return isOutside(config.server.bind) && !requiresTokens(config) && !config.server.allow_insecure;
}

/** @throws PortolanError `forbidden_origin` */
export function checkClientAddress(address: string | undefined): void {
  if (address !== undefined && isLoopbackHost(address)) return;
  throw new PortolanError(
    'forbidden_origin',
    'Protected mode: the server listens on a non-loopback address without tokens, so it serves only this machine. ' +
      'Set server.api.auth: true to require tokens, or server.allow_insecure: true to serve every client.',
  );
}

/** The token of a request. */
export interface TokenClaim {
  record: TokenRecord;
  /** Whether the secret is correct, even if the token is expired or revoked. */
  proven: boolean;
}

const claims = new WeakMap<RequestHead, TokenClaim>();

/** The known token of a request, after the check; null without one. */
export function claimOf(request: RequestHead): TokenClaim | null {
  return claims.get(request) ?? null;
}

/** Checks bearer tokens against the store. */
export class Authenticator {
  readonly #store: Store;
  readonly #onFault: (error: unknown) => void;
  readonly #records = new Map<string, { record: TokenRecord | null; readAt: number }>();
  readonly #used = new Map<string, number>();

  constructor(store: Store, onFault: (error: unknown) => void) {
    this.#store = store;
    this.#onFault = onFault;
  }

  /** The record of the request's token. @throws PortolanError `unauthorized`, with one text for every cause */
  async authenticate(request: RequestHead): Promise<TokenRecord> {
    const token = bearerToken(request);
    const id = token === null ? null : tokenIdOf(token);
    const record = id === null ? null : await this.#find(id);
    const now = new Date();
    const good = verifyToken(token ?? '', record, now);
    const proven = ownsSecret(token ?? '', record) || good;
    if (record) claims.set(request, { record, proven });
    if (!good || record === null) throw unauthorized(token !== null);
    this.#markUsed(record);
    return record;
  }

  /** Whether the token of a request is still valid; true while the store is unreachable. */
  async holds(request: RequestHead): Promise<boolean> {
    try {
      await this.authenticate(request);
      return true;
    } catch (error) {
      return !(error instanceof PortolanError && error.code === 'unauthorized');
    }
  }

  async #find(id: string): Promise<TokenRecord | null> {
    const now = performance.now();
    const known = this.#records.get(id);
    if (known && now - known.readAt < recordMs) return known.record;
    const record = await this.#store.tokens.find(id);
    if (this.#records.size >= maxRecords) this.#records.clear();
    this.#records.set(id, { record, readAt: now });
    return record;
  }

  #markUsed({ id }: TokenRecord): void {
    const now = Date.now();
    if (now - (this.#used.get(id) ?? 0) < lastUsedMs) return;
    this.#used.set(id, now);
    this.#store.tokens.update(id, { last_used_at: new Date(now).toISOString() }).catch(this.#onFault);
  }
}

/** @throws PortolanError `insufficient_scope` */
export function checkScopes(record: TokenRecord, required: readonly TokenScope[]): void {
  if (allows(record.scopes, required)) return;
  throw new PortolanError('insufficient_scope', `The token needs the scope ${required.join(' or ')}.`, {
    required_scopes: required,
  });
}

/** Does not match words such as `svc_backup`. */
const tokenForm = /svc_[a-z0-9]{4,16}_[\w-]{43}/;

/** The token of the Authorization header; null if missing, repeated or in another header. */
function bearerToken(request: RequestHead): string | null {
  const headers = request.rawHeaders.filter(
    (name, index) => index % 2 === 0 && name.toLowerCase() === 'authorization',
  );
  const [, ...query] = (request.url ?? '').split('?');
  if (headers.length !== 1 || tokenForm.test(query.join('?'))) return null;
  return /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1] ?? null;
}

function unauthorized(tokenSent: boolean): PortolanError {
  return new PortolanError(
    'unauthorized',
    'Missing or invalid API token; send Authorization: Bearer <API_TOKEN>.',
    {
      challenge: tokenSent ? 'Bearer error="invalid_token"' : 'Bearer',
    },
  );
}
