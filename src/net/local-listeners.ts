import { canonicalAddress } from '../domain/address.ts';
import type { AddressSet } from '../domain/address-set.ts';
import { localAddresses } from './local-addresses.ts';

/** Where a server takes connections; `0.0.0.0` and `::` stand for every address of this machine. */
export interface Listener {
  host: string;
  port: number;
}

type Judge = (address: string, port: number) => boolean;

/** Tells whether a canonical address and port lead to one of the listeners. The machine's addresses are read once. */
export function localListeners(listeners: readonly Listener[]): Judge {
  if (listeners.length === 0) return () => false;
  const own = localAddresses();
  const ports = new Map<number, Judge[]>();
  for (const { host, port } of listeners) {
    ports.set(port, [...(ports.get(port) ?? []), judgeOf(host, own)]);
  }
  return (address, port) => {
    const judges = ports.get(port);
    return judges !== undefined && judges.some((leadsTo) => leadsTo(address, port));
  };
}

function judgeOf(host: string, own: AddressSet): Judge {
  const everywhere = host === '0.0.0.0' || host === '::' || host === '';
  const bound = everywhere || host === 'localhost' ? null : canonicalAddress(host);
  // A name that is bound to leads to one of the addresses of this machine, nobody says which.
  if (bound === null) return (address) => own.has(address);
  return (address) => withoutZone(address) === withoutZone(bound);
}

function withoutZone(address: string): string {
  const end = address.indexOf('%');
  return end < 0 ? address : address.slice(0, end);
}
