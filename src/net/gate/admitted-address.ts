import { type Address, formatAddress, parseAddress } from '../../domain/targets/address.ts';
import type { AddressSet } from '../../domain/targets/address-set.ts';
import type { Scope } from '../../domain/targets/scope.ts';

/** The canonical text of an address that may be probed now, else null. The checked address is the one connected to. */
export function admittedAddress(
  host: string,
  admitted: AddressSet,
  options: { scope: Scope; blocklist?: AddressSet },
): string | null {
  const address: Address | null = parseAddress(host);
  if (!address || !admitted.hasAddress(address)) return null;
  if (options.blocklist?.hasAddress(address)) return null;
  return options.scope.permits(address) ? formatAddress(address) : null;
}
