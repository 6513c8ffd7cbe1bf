import { addressBytes, parseAddress } from '../../domain/targets/address.ts';
import { AddressSet } from '../../domain/targets/address-set.ts';
import type { Egress } from '../egress.ts';
import { localTrouble } from '../failure.ts';
import type { Neighborhood, NeighborResponse, NeighborSweepOptions } from '../gate/gate.ts';
import type { PacketRateLimiter } from '../gate/rate.ts';
import { type NeighborRequest, resolveNeighbors } from '../packets/linux/neighbor.ts';
import { packetSocketProblem } from '../packets/linux/rights.ts';
import { RouteTable } from '../packets/linux/route.ts';

interface NeighborRun extends NeighborSweepOptions {
  egress: Egress;
  rate: PacketRateLimiter;
  /** The canonical address if it may be probed now, else null. */
  admit(host: string): string | null;
  onSent(count: number): void;
  /** Called for each request that could not be sent. */
  onUnsent(reason: string): void;
}

interface HostRequest extends NeighborRequest {
  host: string;
}

/** The part of a set of addresses on directly attached links, or on the named one. */
export function neighborhood(addresses: AddressSet, only: string | null): Neighborhood {
  const found: Neighborhood = { addresses: AddressSet.empty, obstacle: null, dead: [] };
  let table: RouteTable;
  try {
    table = RouteTable.read();
  } catch (error) {
    return { ...found, obstacle: `cannot read the routing table: ${(error as Error).message}` };
  }
  if (only !== null && !table.link(only)) return { ...found, dead: [`no such interface: ${only}`] };
  for (const [link, attached] of table.attached()) {
    const near = only === null || only === link.name ? attached.intersect(addresses) : AddressSet.empty;
    if (near.size === 0n) continue;
    if (link.problem === null) found.addresses = found.addresses.union(near);
    else found.dead.push(`${link.problem}: ${near.size} addresses on it were not probed`);
  }
  if (found.addresses.size > 0n) found.obstacle = packetSocketProblem();
  return found;
}

/** See NetworkGate. */
export async function* sweepNeighbors(
  hosts: Iterable<string>,
  options: NeighborRun,
): AsyncGenerator<NeighborResponse, void, undefined> {
  const { rate, signal, admit, onSent } = options;
  const responses = resolveNeighbors(requestsFor(hosts, options), {
    timeoutMs: options.timeoutMs,
    retries: options.retries,
    signal,
    take: (count) => rate.takeUpTo(count, signal),
    wanted: ({ host }) => admit(host) !== null,
    onSent,
    onUnsent: (reason) => options.onUnsent(localTrouble(reason)),
    onSilent: ({ host }) => options.onSilent?.(host),
  });
  for await (const { question, mac, latencyMs } of responses) {
    yield {
      host: question.host,
      mac: Buffer.from(mac).toString('hex').replace(/..\B/g, '$&:'),
      latencyMs,
      method: question.address.length === 4 ? 'arp' : 'ndp',
    };
  }
}

/** Skips addresses off the link and those of this machine: they would not reply. */
function* requestsFor(hosts: Iterable<string>, options: NeighborRun): Generator<HostRequest> {
  const table = RouteTable.read();
  const { force: chosen } = options.egress;
  const force = { ...chosen, ...(options.interface !== null && { interface: options.interface }) };
  for (const host of hosts) {
    const canonical = options.admit(host);
    const address = canonical === null ? null : parseAddress(canonical);
    const route = address && table.lookup(address, force);
    if (canonical === null || !route || 'problem' in route || route.link !== 'ethernet' || route.gateway) {
      if (route && 'problem' in route) options.onUnsent(route.problem.replaceAll(host, 'the address'));
      options.onSilent?.(host);
      continue;
    }
    yield { host: canonical, link: route, address: addressBytes(address) };
  }
}
