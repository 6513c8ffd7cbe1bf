import type { Config } from '../../config/schema.ts';
import { parsePorts } from '../../domain/port.ts';
import { parseTargets } from '../../domain/target.ts';
import { portCatalog } from '../../knowledge/ports.ts';
import { type Listener, localListeners } from '../../net/local-listeners.ts';

/** A target of more addresses is not this server alone; what of it is gets left out when the scan comes to it. */
const fewAddresses = 64n;

/** What is said of a target that may not be touched because it is this server. */
export const serverTargetHint =
  'it is this server itself; to authorize it, set scanner.scope.protect_self: false';

/**
 * Targets of which every planned port of every address is a listener of this server. Without ports of its own a scan
 * has more in mind than that.
 *
 * @param ports port grammar text, known to be good
 */
export function serverTargets(
  targets: readonly string[],
  ports: string | null,
  { scope }: Config['scanner'],
  listeners: readonly Listener[],
): { index: number; value: string }[] {
  if (!scope.protect_self || listeners.length === 0 || ports === null) return [];
  const isOwn = localListeners(listeners);
  const planned = parsePorts(ports, portCatalog).tcp;
  if (planned.length === 0 || planned.length > listeners.length) return [];
  const allOwn = (value: string) => {
    const { addresses, hostnames } = parseTargets([value]);
    if (hostnames.length > 0 || addresses.size === 0n || addresses.size > fewAddresses) return false;
    return [...addresses].every((address) => planned.every((port) => isOwn(address, port)));
  };
  return targets.flatMap((text, index) =>
    text
      .split(',')
      .map((item) => item.trim())
      .filter(allOwn)
      .map((value) => ({ index, value })),
  );
}
