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
  licence: License;
  log: ServerLog;
}

/** What a door wants to do for a client. */
export interface AdmittedClient {
  head: RequestHead;
  /** Address of the client, behind trusted proxies too. */
  client: string;
  /** Null when no tokens are demanded. */
  token: TokenRecord | null;
}

/** A client that has too many event streams open may come again after this, seconds: some may have ended. */
const streamRetrySeconds = '5';

/** Requests that wait have their turn soon, seconds. */
const slotRetrySeconds = '1';

/** Takes headers of an answer. */
export type RejectionReporter = (headers: Record<string, string>) => void;

/** Who may call what: tokens, rates, tenants, scopes and licence, once for all doors, so that they share the buckets. */
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
      input.log.warn({ err }, 'last use of a token was not stored'),
    );
  }

  /**
   * The record of the request's token. A good token always passes: wrong ones from the same address, perhaps that of a
   * proxy, must not shut it out.
   *
   * @throws PortolanError `unauthorized` or `rate_limited`
   */
  async authenticate(head: RequestHead, client: string, tell: RejectionReporter): Promise<TokenRecord> {
    try {
      return await this.#authenticator.authenticate(head);
    } catch (error) {
      // Without credentials nothing was attempted.
      const cost = head.headers.authorization === undefined ? 0 : 1;
      if (isRefusal(error)) charge(this.#failures, client, tell, cost);
      throw error;
    }
  }

  /** Whether the token of a request is good still; a store that cannot be asked says nothing against it. */
  async holds(head: RequestHead): Promise<boolean> {
    return await this.#authenticator.holds(head);
  }

  /**
   * Finds the tenant and takes the request out of its bucket.
   * @param how a route that speaks of the service as a whole needs no tenant; one that is unmetered costs nothing
   * @throws PortolanError `rate_limited`
   */
  meter(
    { head, client, token }: AdmittedClient,
    how: { wholeService: boolean; unmetered: boolean },
    tell: RejectionReporter,
  ): Choice {
    const choice = this.#input.tenants.choose(head, token, how.wholeService);
    const limiter = how.unmetered ? null : this.#currentLimiter();
    if (limiter) charge(limiter, bucketOf(choice, token?.id ?? client), tell);
    return choice;
  }

  /** The space of the request. @throws PortolanError when tenant, scopes or licence do not allow it */
  enter(
    choice: Choice,
    token: TokenRecord | null,
    access: Exclude<RouteAccess, 'open'>,
    feature: LicenseFeature | undefined,
  ): TenantContext {
    if ('refusal' in choice) throw choice.refusal;
    if (token && access !== 'any') checkScopes(token, access);
    if (feature) this.#input.licence.demand(feature);
    return choice.space;
  }

  /**
   * Takes one of the client's places for requests at the same time.
   * @returns null when there was one, else a promise of it
   * @throws PortolanError `rate_limited` when too many requests wait
   */
  takeSlot(
    { client, token }: Omit<AdmittedClient, 'head'>,
    onEnd: OnEnd,
    tell: RejectionReporter,
  ): Promise<void> | null {
    try {
      return this.#slots.enter(token?.id ?? client, onEnd);
    } catch (error) {
      tell({ 'retry-after': slotRetrySeconds });
      throw error;
    }
  }

  /**
   * Counts an event stream.
   * @returns to be called when the stream ends
   * @throws PortolanError `rate_limited`
   */
  openStream({ client, token }: Omit<AdmittedClient, 'head'>, tell: RejectionReporter): () => void {
    try {
      return this.#streams.open(token?.id ?? client);
    } catch (error) {
      tell({ 'retry-after': streamRetrySeconds });
      throw error;
    }
  }

  /**
   * The limiter of the settings, else of the plan, as they are now, null = unlimited; another limit gives every client
   * a full bucket.
   */
  #currentLimiter(): ApiRateLimiter | null {
    const { config, licence } = this.#input;
    const limit = config.server.api.rate_limit ?? licence.requestsPerMinute();
    if (limit !== (this.#limiter?.limit ?? 0)) {
      this.#limiter = limit > 0 ? new ApiRateLimiter('default', limit) : null;
    }
    return this.#limiter;
  }
}

/** A client has a bucket for each of its tenants; made-up names give no further one. */
function bucketOf(choice: Choice, client: string): string {
  const tenant = 'space' in choice ? choice.space.tenant : null;
  return tenant === null ? client : `${tenant}:${client}`;
}

/** Every answer carries the state of the bucket. @throws PortolanError `rate_limited` */
function charge(limiter: ApiRateLimiter, client: string, tell: RejectionReporter, cost: 0 | 1 = 1): void {
  const state = limiter.take(client, cost);
  const headers = rateHeaders(limiter, state);
  tell(headers);
  if (state.allowed) return;
  throw new PortolanError(
    'rate_limited',
    `Too many requests: ${limiter.limit} a minute are allowed (${limiter.policy}); retry in ${headers['retry-after']} s.`,
  );
}

function isRefusal(error: unknown): boolean {
  return error instanceof PortolanError && error.code === 'unauthorized';
}
