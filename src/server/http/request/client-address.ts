import type { Socket } from 'node:net';
import { type Address, formatAddress, parseAddress } from '../../../domain/targets/address.ts';
import { AddressSet } from '../../../domain/targets/address-set.ts';
import { readIntervals } from '../../../domain/targets/target.ts';
import type { RequestHead } from '../../access/auth.ts';

/**
 * Address of a client. X-Forwarded-For counts only on connections from a trusted proxy, and only the entries that trusted
 * proxies added: everything to the left of them can be forged.
 */
export class ClientAddresses {
  readonly #trusted: AddressSet;
  /** Cache: connections whose peer is the client itself. */
  readonly #untrusted = new WeakMap<Socket, string>();

  /** @param proxies addresses, CIDR blocks and ranges (`server.trusted_proxies`) */
  constructor(proxies: readonly string[]) {
    this.#trusted = AddressSet.of(proxies.flatMap((proxy) => readIntervals(proxy) ?? []));
  }

  /** In canonical form. An entry that is not an address stops the search: the proxy that forwarded it is the client. */
  of(request: RequestHead): string {
    const known = this.#untrusted.get(request.socket);
    if (known !== undefined) return known;
    const connected = request.socket.remoteAddress ?? '';
    let client = parseAddress(connected);
    if (client === null) return connected;
    if (!this.#trusted.hasAddress(client)) {
      const address = formatAddress(client);
      this.#untrusted.set(request.socket, address);
      return address;
    }
    for (const entry of forwardedFor(request)) {
      const next = entryAddress(entry);
      if (next === null) break;
      client = next;
      if (!this.#trusted.hasAddress(client)) break;
    }
    return formatAddress(client);
  }
}

/** The entries of all X-Forwarded-For headers, the last one first. */
function forwardedFor(request: RequestHead): string[] {
  const header = request.headers['x-forwarded-for'];
  if (header === undefined) return [];
  return [header].flat().join(',').split(',').reverse();
}

/** Some proxies append the port of the client: `192.0.2.1:5000`, `[2001:db8::1]:5000`. */
function entryAddress(entry: string): Address | null {
  const text = entry.trim();
  const bracketed = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(text)?.[1];
  const quad = /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/.exec(text)?.[1];
  return parseAddress(bracketed ?? quad ?? text);
}
