/**
 * Requests per minute and client. No plugin: the contract requires a bucket that refills evenly and both families of
 * headers with exact values, on other rejections too; the usual plugin counts in fixed windows.
 */

/** State of a bucket after a request. */
export interface RateState {
  allowed: boolean;
  /** Remaining whole requests. */
  remaining: number;
  /** Milliseconds until the next request is allowed; 0 = now. */
  nextMs: number;
  /** Milliseconds until the bucket is full again. */
  fullMs: number;
}

const windowMs = 60_000;
/** Maximum number of buckets. The least recently used one is evicted, so that its client starts with a full one. */
const maxClients = 10_000;

/** A token bucket per client: `limit` requests, refilled evenly over a minute. */
export class ApiRateLimiter {
  readonly policy: string;
  readonly limit: number;
  readonly #clock: () => number;
  /** In LRU order, oldest first. */
  readonly #buckets = new Map<string, { requests: number; at: number }>();

  /**
   * @param policy name in the headers, of letters and dashes
   * @param clock monotonic milliseconds
   */
  constructor(policy: string, limit: number, clock: () => number = () => performance.now()) {
    this.policy = policy;
    this.limit = limit;
    this.#clock = clock;
  }

  /** Number of buckets. */
  get clients(): number {
    return this.#buckets.size;
  }

  /** Charges a request; a rejected one is free. @param cost 0 only reads the state */
  take(client: string, cost: 0 | 1 = 1): RateState {
    const held = this.#held(client);
    const allowed = held >= cost;
    const requests = allowed ? held - cost : held;
    this.#remember(client, requests);
    return {
      allowed,
      remaining: Math.floor(requests),
      nextMs: this.#refillMs(1 - requests),
      fullMs: this.#refillMs(this.limit - requests),
    };
  }

  #held(client: string): number {
    const bucket = this.#buckets.get(client);
    if (!bucket) return this.limit;
    return Math.min(this.limit, bucket.requests + ((this.#clock() - bucket.at) * this.limit) / windowMs);
  }

  #remember(client: string, requests: number): void {
    this.#buckets.delete(client);
    this.#buckets.set(client, { requests, at: this.#clock() });
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > maxClients && oldest !== undefined) this.#buckets.delete(oldest);
  }

  #refillMs(requests: number): number {
    return Math.max(0, (requests * windowMs) / this.limit);
  }
}

/**
 * Quota headers: RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers) and the older X-RateLimit
 * family. `t` and the reset are the time until the bucket is full.
 *
 * @param now epoch milliseconds
 */
export function rateHeaders({ policy, limit }: ApiRateLimiter, state: RateState, now = Date.now()) {
  const headers: Record<string, string> = {
    'ratelimit-policy': `"${policy}";q=${limit};w=${windowMs / 1000}`,
    ratelimit: `"${policy}";r=${state.remaining};t=${Math.ceil(state.fullMs / 1000)}`,
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(state.remaining),
    'x-ratelimit-reset': String(Math.ceil((now + state.fullMs) / 1000)),
  };
  if (!state.allowed) headers['retry-after'] = String(Math.max(1, Math.ceil(state.nextMs / 1000)));
  return headers;
}
