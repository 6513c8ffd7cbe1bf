import { networkInterfaces } from 'node:os';
import { type Address, parseAddress } from '../domain/targets/address.ts';
import { AddressSet, type Interval } from '../domain/targets/address-set.ts';

/** The whole of 127.0.0.0/8 is this machine, whatever its interfaces list (RFC 1122, 3.2.1.3). */
const loopback4: Interval = { family: 4, first: 0x7f00_0000n, last: 0x7fff_ffffn };
const loopback6: Interval = { family: 6, first: 1n, last: 1n };

/** The addresses of this machine, on any interface: read at each call. */
export function localAddresses(): AddressSet {
  const found = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  const addresses = found.flatMap(({ address }) => parseAddress(address) ?? []);
  return AddressSet.of([loopback4, loopback6, ...addresses.map(alone)]);
}

/** Whether all given addresses belong to this machine. */
export function areThisMachine(addresses: AddressSet): boolean {
  return addresses.minus(localAddresses()).size === 0n;
}

function alone({ family, value }: Address): Interval {
  return { family, first: value, last: value };
}
