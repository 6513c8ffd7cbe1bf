import { networkInterfaces } from 'node:os';
import { canonicalAddress, parseAddress } from '../domain/address.ts';

/** Where a server takes connections; `0.0.0.0` and `::` stand for every address of this machine. */
export interface Listener {
  host: string;
  port: number;
}

type Judge = (address: string, port: number) => boolean;

/** Tells whether a canonical address and port lead to one of the listeners. The machine's addresses are read once. */
export function ownListeners(listeners: readonly Listener[]): Judge {
  if (listeners.length === 0) return () => false;
  const local = localAddresses();
  const ports = new Map<number, Judge[]>();
  for (const { host, port } of listeners) {
    ports.set(port, [...(ports.get(port) ?? []), judgeOf(host, local)]);
  }
  return (address, port) => {
    const judges = ports.get(port);
    return judges !== undefined && judges.some((leadsTo) => leadsTo(address, port));
  };
}

function judgeOf(host: string, local: ReadonlySet<string>): Judge {
  const everywhere = host === '0.0.0.0' || host === '::' || host === '';
  if (everywhere) return (address) => isLoopback4(address) || local.has(withoutZone(address));
  const bound = host === 'localhost' ? null : canonicalAddress(host);
  // A name that is bound to leads to one of the addresses of this machine, nobody says which.
  if (bound === null) return (address) => isLoopback4(address) || local.has(withoutZone(address));
  return (address) => withoutZone(address) === withoutZone(bound);
}

/** The whole of 127.0.0.0/8 is this machine, whatever its interfaces list. */
function isLoopback4(address: string): boolean {
  return address.startsWith('127.');
}

function withoutZone(address: string): string {
  const end = address.indexOf('%');
  return end < 0 ? address : address.slice(0, end);
}

function localAddresses(): Set<string> {
  const found = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  const addresses = found.flatMap(({ address }) => {
    const parsed = parseAddress(withoutZone(address));
    return parsed ? (canonicalAddress(withoutZone(address)) ?? []) : [];
  });
  return new Set([...addresses, '::1']);
}
