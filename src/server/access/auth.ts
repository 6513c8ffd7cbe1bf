import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import {
  allows,
  ownsSecret,
  type TokenScope,
  tokenIdOf,
  verifyToken,
} from '../../actions/access/verify-token.ts';
import { isLoopbackHost, parseEndpoint } from '../../config/endpoint.ts';
import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import type { Store } from '../../store/open.ts';
import type { TokenRecord } from '../../store/tokens.ts';

/**
 * Who may call a route: everybody (`open`), the holder of any good token (`any`), or of a token with one of the
 * scopes.
 */
export type RouteAccess = 'open' | 'any' | readonly TokenScope[];

/** A record read from the store holds for so long, so that a change is seen within 2 s. */
const recordMs = 1000;
/** `last_used_at` is written at most once in this time. */
const lastUsedMs = 60_000;
/** Wrong tokens from one address in a minute. */
export const maxFailedAttempts = 20;
/** Records kept at once; a flood of unknown ids must not fill the memory. */
const maxRecords = 1000;

/** The part of a request that is there before its body, of whatever door. */
export interface RequestHead {
  headers: IncomingHttpHeaders;
  /** Names and values in turn, as they came. */
  rawHeaders: string[];
  url?: string | undefined;
  socket: Socket;
}

export function requiresTokens(config: Config): boolean {
  return config.server.api.auth ?? isOutside(config.server.bind);
}

/** Whether other machines can reach a listener. @param bind as in the settings */
export function isOutside(bind: string): boolean {
  return !isLoopbackHost(parseEndpoint(bind)?.host ?? '');
}

/** Reachable from outside without tokens and without the operator's word for it: only loopback clients are served. */
export function isProtected(config: Config): boolean {
  return isOutside(config.server.bind) && !requiresTokens(config) && !config.server.allow_insecure;
}

/** @throws PortolanError `forbidden_origin` */
export function checkClientAddress(address: string | undefined): void {
  if (address !== undefined && isLoopbackHost(address)) return;
  throw new PortolanError(
    'forbidden_origin',
    'Protected mode: the server is bound to an outside address without tokens, so it serves this machine only. ' +
      'Set server.api.auth: true, or server.allow_insecure: true to serve everybody.',
  );
}

/** The token that a request names. */
export interface TokenClaim {
  record: TokenRecord;
  /** Whether the secret was right, be the token good or over. */
  proven: boolean;
}

const claims = new WeakMap<RequestHead, TokenClaim>();

/** The known token that a request names, once it was checked; null without one. */
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

  /** Whether the token of a request is good still; a store that cannot be asked says nothing against it. */
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

/** A search for `svc_backup` is none. */
const tokenForm = /svc_[a-z0-9]{4,16}_[\w-]{43}/;

/** The token of the one and only Authorization header; null when it is somewhere else or twice. */
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
    'A valid API token is needed: Authorization: Bearer <API_TOKEN>.',
    {
      challenge: tokenSent ? 'Bearer error="invalid_token"' : 'Bearer',
    },
  );
}
