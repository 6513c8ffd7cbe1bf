import type { PortCounts } from '../../domain/host.ts';

/** A host counts as a tarpit if more than 90 % of at least this many ports are open ... */
const tarpitMinimumPorts = 100;
const tarpitShare = 0.9;

/** ... or if more than this many are open and no port has another state. */
const tarpitOpenPorts = 64;

/** True for a tarpit: a host that accepts (nearly) every port, so that its open ports are no evidence of services. */
export function acceptsEveryPort({ open, closed, filtered, not_tried }: PortCounts): boolean {
  const planned = open + closed + filtered + not_tried;
  if (planned >= tarpitMinimumPorts && open > tarpitShare * planned) return true;
  return open > tarpitOpenPorts && closed + filtered === 0;
}
