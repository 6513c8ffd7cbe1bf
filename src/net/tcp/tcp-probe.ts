import type { PortObservation } from '../gate/gate.ts';
import { type AttemptOptions, attempt } from './attempt.ts';

/**
 * One connection attempt that ends as soon as it is accepted: by a reset, so that no TIME_WAIT blocks a source port, or
 * in order.
 */
export async function probeTcp(
  host: string,
  port: number,
  options: AttemptOptions & { inOrder: boolean },
): Promise<PortObservation> {
  const outcome = await attempt(host, port, options);
  if ('failure' in outcome) return outcome.failure;
  if (options.inOrder) outcome.socket.destroy();
  else outcome.socket.resetAndDestroy();
  return { state: 'open', reason: 'syn-ack', latencyMs: outcome.latencyMs };
}
