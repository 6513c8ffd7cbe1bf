import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import type { LicenseFeature } from '../../domain/license.ts';
import type { Store } from '../../store/open.ts';
import type { TokenRecord } from '../../store/tokens.ts';
import type { License } from '../../workspace/license/read-license.ts';
import type { ServerLog } from '../logging/log.ts';
import { Authenticator, checkScopes, maxFailedAttempts, type RequestHead, type RouteAccess } from './auth.ts';
import { OpenStreams } from './open-streams.ts';
import { ApiRateLimiter, rateHeaders } from './rate-limit.ts';
import { type OnEnd, RequestSlots } from './request-slots.ts';
import type { Choice, TenantContext, Tenants } from './tenants.ts';

export interface AdmissionInput {
  config: Config;
  /** Of all tenants. */
  store: Store;
  tenants: Tenants;
  license: License;
  log: ServerLog;
}

/** A request to admit, REST or gRPC. */
export interface AdmittedClient {
  head: RequestHead;
  /** Address of the client, also behind trusted proxies. */
  client: string;
  /** Null when no tokens are required. */
  token: TokenRecord | null;
}

/** Retry-After of a client with too many event streams, seconds. */
const streamRetrySeconds = '5';

/** Retry-After of a client with too many waiting requests, seconds. */
const slotRetrySeconds = '1';

/** Sets response headers. */
export type RejectionReporter = (headers: Record<string, string>) => void;

/** Admission control for REST and gRPC, which share rate limits: tokens, rates, tenants, scopes and license. */
export class Admission {
  readonly #input: AdmissionInput;
  readonly #authenticator: Authenticator;
  readonly #failures = new ApiRateLimiter('failed-authentication', maxFailedAttempts);
  readonly #streams: OpenStreams;
  readonly #slots = new RequestSlots();
  #limiter: ApiRateLimiter | null = null;

  constructor(input: AdmissionInput) {
    this.#input = input;
    this.#streams = new OpenStreams(input.config.server.streams);
    this.#authenticator = new Authenticator(input.store, (err) =>
      input.log.warn({ err }, 'cannot store the last use of a token'),
    );
  }

  /**
   * The record of the request's token. A valid token always passes: invalid ones from the same address, perhaps that of a
   * proxy, must not lock it out.
   *
   * @throws PortolanError `unauthorized` or `rate_limited`
   */
  async authenticate(head: RequestHead, client: string, report: RejectionReporter): Promise<TokenRecord> {
    try {
      return await this.#authenticator.authenticate(head);
    } catch (error) {
      // A request without credentials is not an attempt.
      const cost = head.headers.authorization === undefined ? 0 : 1;
      if (isRefusal(error)) charge(this.#failures, client, report, cost);
      throw error;
    }
  }

  /** Whether the token of a request is still valid; true while the store is unreachable. */
  async holds(head: RequestHead): Promise<boolean> {
    return await this.#authenticator.holds(head);
  }

  /**
   * Finds the tenant and charges its rate limit.
   * @param how a route about the whole service needs no tenant; an unmetered one is free
   * @throws PortolanError `rate_limited`
   */
  meter(
    { head, client, token }: AdmittedClient,
    how: { wholeService: boolean; unmetered: boolean },
    report: RejectionReporter,
  ): Choice {
    const choice = this.#input.tenants.choose(head, token, how.wholeService);
    const limiter = how.unmetered ? null : this.#currentLimiter();
    if (limiter) charge(limiter, bucketOf(choice, token?.id ?? client), report);
    return choice;
  }

  /** The tenant context of the request. @throws PortolanError if tenant, scopes or license do not allow it */
  enter(
    choice: Choice,
    token: TokenRecord | null,
    access: Exclude<RouteAccess, 'open'>,
    feature: LicenseFeature | undefined,
  ): TenantContext {
    if ('refusal' in choice) throw choice.refusal;
    if (token && access !== 'any') checkScopes(token, access);
    if (feature) this.#input.license.demand(feature);
    return choice.space;
  }

  /**
   * Takes one of the client's slots for concurrent requests.
   * @returns null if one is free, else a promise of it
   * @throws PortolanError `rate_limited` when too many requests are waiting
   */
  takeSlot(
    { client, token }: Omit<AdmittedClient, 'head'>,
    onEnd: OnEnd,
    report: RejectionReporter,
  ): Promise<void> | null {
    try {
      return this.#slots.enter(token?.id ?? client, onEnd);
    } catch (error) {
      report({ 'retry-after': slotRetrySeconds });
      throw error;
    }
  }

  /**
   * Counts an event stream.
   * @returns a function to call when the stream ends
   * @throws PortolanError `rate_limited`
   */
  openStream({ client, token }: Omit<AdmittedClient, 'head'>, report: RejectionReporter): () => void {
    try {
      return this.#streams.open(token?.id ?? client);
    } catch (error) {
      report({ 'retry-after': streamRetrySeconds });
      throw error;
    }
  }

  /**
   * The current limiter, of the settings or else the plan, null = unlimited; a changed limit refills every bucket.
   */
  #currentLimiter(): ApiRateLimiter | null {
    const { config, license } = this.#input;
    const limit = config.server.api.rate_limit ?? license.requestsPerMinute();
    if (limit !== (this.#limiter?.limit ?? 0)) {
      this.#limiter = limit > 0 ? new ApiRateLimiter('default', limit) : null;
    }
    return this.#limiter;
  }
}

/** A client has a bucket per tenant; unknown tenant names create none. */
function bucketOf(choice: Choice, client: string): string {
  const tenant = 'space' in choice ? choice.space.tenant : null;
  return tenant === null ? client : `${tenant}:${client}`;
}

/** Adds the state of the bucket to every response. @throws PortolanError `rate_limited` */
function charge(limiter: ApiRateLimiter, client: string, report: RejectionReporter, cost: 0 | 1 = 1): void {
  const state = limiter.take(client, cost);
  const headers = rateHeaders(limiter, state);
  report(headers);
  if (state.allowed) return;
  throw new PortolanError(
    'rate_limited',
    `Too many requests: ${limiter.limit} a minute are allowed (${limiter.policy}); retry in ${headers['retry-after']} s.`,
  );
}

function isRefusal(error: unknown): boolean {
  return error instanceof PortolanError && error.code === 'unauthorized';
}
