import type { PortObservation } from '../gate/gate.ts';
import { type AttemptOptions, attempt } from './attempt.ts';

/** One connection attempt that is reset as soon as it is accepted, so no TIME_WAIT blocks a source port. */
export async function probeTcp(
  host: string,
  port: number,
  options: AttemptOptions,
): Promise<PortObservation> {
  const outcome = await attempt(host, port, options);
  if ('failure' in outcome) return outcome.failure;
  outcome.socket.resetAndDestroy();
  return { state: 'open', reason: 'syn-ack', latencyMs: outcome.latencyMs };
}
