import type { PortCounts } from '../../domain/host.ts';

/** A host counts as a tarpit if more than 90 % of at least this many ports are open ... */
const tarpitMinimumPorts = 100;
const tarpitShare = 0.9;

/** ... or if more than this many are open and no port has another state ... */
const tarpitOpenPorts = 64;

/** ... or if at least this many ports, or more than have another state, were accepted with window 0. */
const tarpitZeroWindows = 16;

/**
 * Whether a host accepts (nearly) every port, as far as a sweep shows it. It says nothing about the services: the
 * ports asked may be those known to be open. Signs of life decide, where ports are probed (`HostEvidence`).
 * @param zeroWindows open ports whose SYN/ACK had window 0
 */
export function acceptsEveryPort(
  { open, closed, filtered, not_tried }: PortCounts,
  zeroWindows = 0,
): boolean {
  const planned = open + closed + filtered + not_tried;
  if (planned >= tarpitMinimumPorts && open > tarpitShare * planned) return true;
  if (open > tarpitOpenPorts && closed + filtered === 0) return true;
  return 2 * zeroWindows > open && isManyZeroWindows(zeroWindows, closed + filtered);
}

/**
 * Whether the ports accepted with window 0 are more than a device in front of a few services (SYN proxy) explains.
 * @param others ports that are closed or filtered
 */
export function isManyZeroWindows(zeroWindows: number, others: number): boolean {
  return zeroWindows >= tarpitZeroWindows || zeroWindows > others;
}
