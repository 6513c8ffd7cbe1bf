import type { Config } from '../../config/schema.ts';
import { parsePorts } from '../../domain/port.ts';
import { addressesOf, type TargetItem } from '../../domain/targets/target.ts';
import { portCatalog } from '../../knowledge/ports.ts';
import { type Listener, localListeners } from '../../net/local-listeners.ts';

/** A target of more addresses is not this server alone; its own listeners are skipped during the scan. */
const fewAddresses = 64n;

/** Hint for a target that is rejected because it is this server. */
export const serverTargetHint =
  'it is this server itself; to authorize it, set scanner.scope.protect_self: false';

/**
 * Targets of which every planned port of every address is a listener of this server. Not applied to a scan without
 * ports of its own.
 * @param ports valid port grammar text
 */
export function serverTargets(
  targets: readonly TargetItem[],
  ports: string | null,
  { scope }: Config['scanner'],
  listeners: readonly Listener[],
): { index: number; value: string }[] {
  if (!scope.protect_self || listeners.length === 0 || ports === null) return [];
  const isOwn = localListeners(listeners);
  const planned = parsePorts(ports, portCatalog).tcp;
  if (planned.length === 0 || planned.length > listeners.length) return [];
  const allOwn = (item: TargetItem) => {
    const addresses = addressesOf(item);
    if (addresses.size === 0n || addresses.size > fewAddresses) return false;
    return [...addresses].every((address) => planned.every((port) => isOwn(address, port)));
  };
  return targets.filter(allOwn).map(({ index, value }) => ({ index, value }));
}
