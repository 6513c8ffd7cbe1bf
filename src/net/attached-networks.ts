import { networkInterfaces } from 'node:os';
import { formatAddress, parseNetwork } from '../domain/targets/address.ts';

/** A network that an interface of this machine is in. */
export interface LocalNetwork {
  interface: string;
  /** CIDR. */
  network: string;
}

/** Prefixes of networks that a person would scan as a whole: a larger one takes days, a smaller one has no hosts. */
const prefixes = { least: 16, most: 30 };
/** Networks of this machine that are offered as targets. */
const maxNetworks = 8;

/** IPv4 networks at this machine, without loopback: read at each call. */
export function attachedNetworks(interfaces = networkInterfaces()): LocalNetwork[] {
  const found = Object.entries(interfaces).flatMap(([name, entries = []]) =>
    entries.flatMap(({ internal, cidr }) => {
      const network = internal || cidr === null ? null : parseNetwork(cidr);
      if (network === null || network.family !== 4) return [];
      const { first, prefix } = network;
      if (prefix < prefixes.least || prefix > prefixes.most) return [];
      const text = `${formatAddress({ family: 4, value: first, zone: null })}/${prefix}`;
      return [{ interface: name, network: text }];
    }),
  );
  const unique = new Map(found.map((each) => [each.network, each]));
  return [...unique.values()].slice(0, maxNetworks);
}
