import type { Resolver } from 'node:dns/promises';
import { canonicalAddress } from '../domain/targets/address.ts';
import { onAbort } from './abort.ts';
import { errorCode } from './failure.ts';
import { PauseGate } from './gate/pause-gate.ts';

/** Loaded for the first name: most scans name none. */
const dns = () => process.getBuiltinModule('node:dns/promises');

/** Maximum number of addresses scanned per name. */
export const maxAddressesPerName = 16;

export type Resolution = { addresses: string[]; dropped: number } | { error: string };

/** Resolves host names with one absolute deadline per name; each name once. */
export class NameResolver {
  #timeoutMs: number;
  #servers: readonly string[];
  #door: PauseGate;
  #ipv6Only: boolean;
  #resolutions = new Map<string, Promise<Resolution>>();

  /**
   * @param options.servers DNS servers as `address` or `address:port`; empty = the system resolver
   * @param options.door no query starts while it is closed
   * @param options.ipv6Only IPv4 addresses of names are left out
   */
  constructor(
    options: {
      timeoutMs?: number;
      servers?: readonly string[];
      door?: PauseGate;
      ipv6Only?: boolean;
    } = {},
  ) {
    this.#door = options.door ?? new PauseGate();
    this.#ipv6Only = options.ipv6Only ?? false;
    this.#timeoutMs = options.timeoutMs ?? 5000;
    this.#servers = options.servers ?? [];
  }

  /** Canonical addresses in the order of the response, or why there are none. Never throws. */
  resolve(name: string, signal: AbortSignal): Promise<Resolution> {
    const known = this.#resolutions.get(name);
    if (known) return known;
    const resolution = this.#bounded(name, signal);
    this.#resolutions.set(name, resolution);
    return resolution;
  }

  async #bounded(name: string, signal: AbortSignal): Promise<Resolution> {
    await this.#door.released(signal);
    return await new Promise((resolve) => {
      if (signal.aborted) return resolve({ error: 'canceled' });
      const resolver = new (dns().Resolver)({ timeout: this.#timeoutMs, tries: 2 });
      const settle = (resolution: Resolution) => {
        clearTimeout(timer);
        forget();
        resolver.cancel();
        resolve(resolution);
      };
      const timer = setTimeout(() => {
        settle({ error: `no response from the name server within ${this.#timeoutMs} ms` });
      }, this.#timeoutMs);
      const forget = onAbort(signal, () => settle({ error: 'canceled' }));
      const query =
        this.#servers.length > 0 ? queryServers(resolver, this.#servers, name) : querySystem(name);
      query.then(
        (addresses) => settle(choose(addresses, this.#ipv6Only)),
        (error) => settle({ error: explain(error) }),
      );
    });
  }
}

async function querySystem(name: string): Promise<string[]> {
  const addresses = await dns().lookup(name, { all: true, verbatim: true });
  return addresses.map((resolution) => resolution.address);
}

async function queryServers(resolver: Resolver, servers: readonly string[], name: string): Promise<string[]> {
  resolver.setServers([...servers]);
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const found = [v4, v6].flatMap((resolution) => (resolution.status === 'fulfilled' ? resolution.value : []));
  if (found.length === 0 && v4.status === 'rejected') throw v4.reason;
  return found;
}

function choose(addresses: readonly string[], ipv6Only: boolean): Resolution {
  const unique = new Set<string>();
  for (const address of addresses) {
    const canonical = canonicalAddress(address);
    if (canonical && (!ipv6Only || canonical.includes(':'))) unique.add(canonical);
  }
  if (unique.size === 0) return { error: `the name has no ${ipv6Only ? 'IPv6 ' : ''}address` };
  const all = [...unique];
  return {
    addresses: all.slice(0, maxAddressesPerName),
    dropped: Math.max(0, all.length - maxAddressesPerName),
  };
}

const explanations: Record<string, string> = {
  ENOTFOUND: 'the name does not exist',
  ENODATA: 'the name has no address',
  EAI_AGAIN: 'the name server does not respond',
  ETIMEOUT: 'the name server does not respond',
  ECONNREFUSED: 'the name server refuses queries',
  ESERVFAIL: 'the name server failed',
};

function explain(error: unknown): string {
  const code = errorCode(error);
  return explanations[code] ?? `cannot resolve the name (${code})`;
}
