import type { PortCounts } from '../../domain/host.ts';
import type { SweepOutcome } from '../../net/tcp/sweep-job.ts';

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

/** Open ports in a row at the end of a random order, after closed ones, that show that a device began to accept everything. */
const tarpitOpenRun = 64;

/**
 * Whether a host began to accept every port in the middle of a sweep, as by a protection against SYN floods.
 * @param openRun ports that were open since the last closed one responded
 */
export function beganToAccept({
  open,
  closed,
  openRun = 0,
}: Pick<SweepOutcome, 'open' | 'closed' | 'openRun'>): boolean {
  // By chance it happens to one in 800 hosts of which nine in ten ports are open, and to none with half of them.
  return openRun >= tarpitOpenRun && open <= tarpitShare * (open + closed);
}

/**
 * Whether the ports accepted with window 0 are more than a device in front of a few services (SYN proxy) explains.
 * @param others ports that are closed or filtered
 */
export function isManyZeroWindows(zeroWindows: number, others: number): boolean {
  return zeroWindows >= tarpitZeroWindows || zeroWindows > others;
}
