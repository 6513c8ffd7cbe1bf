import { onAbort } from '../abort.ts';
import type { PauseGate } from './pause-gate.ts';
import type { PacketRateLimiter } from './rate.ts';

/** A pause suspends the rate, so whatever needs a token waits; the end of the scan closes it for good. */
export function suspendRate(rate: PacketRateLimiter, door: PauseGate, signal: AbortSignal | undefined): void {
  door.onChange((held) => {
    if (held) rate.hold();
    else if (!signal?.aborted) rate.release();
  });
  if (door.held) rate.hold();
  if (signal) onAbort(signal, () => door.hold());
}
