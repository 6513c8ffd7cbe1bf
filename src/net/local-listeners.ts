import { canonicalAddress } from '../domain/targets/address.ts';
import type { AddressSet } from '../domain/targets/address-set.ts';
import { localAddresses } from './local-addresses.ts';

/** A listening endpoint of a server; `0.0.0.0` and `::` mean every address of this machine. */
export interface Listener {
  host: string;
  port: number;
}

type ListenerTest = (address: string, port: number) => boolean;

/** Tests whether a canonical address and port belong to one of the listeners. Reads the machine's addresses once. */
export function localListeners(listeners: readonly Listener[]): ListenerTest {
  if (listeners.length === 0) return () => false;
  const own = localAddresses();
  const ports = new Map<number, ListenerTest[]>();
  for (const { host, port } of listeners) {
    ports.set(port, [...(ports.get(port) ?? []), testOf(host, own)]);
  }
  return (address, port) => {
    const tests = ports.get(port);
    return tests !== undefined && tests.some((leadsTo) => leadsTo(address, port));
  };
}

function testOf(host: string, own: AddressSet): ListenerTest {
  const everywhere = host === '0.0.0.0' || host === '::' || host === '';
  const bound = everywhere || host === 'localhost' ? null : canonicalAddress(host);
  // A listener bound to a name may be on any address of this machine.
  if (bound === null) return (address) => own.has(address);
  return (address) => withoutZone(address) === withoutZone(bound);
}

function withoutZone(address: string): string {
  const end = address.indexOf('%');
  return end < 0 ? address : address.slice(0, end);
}
