import type { ProbeErrorKind } from '../../domain/traffic.ts';
import type { SweepOutcome } from '../tcp/sweep-job.ts';
import type { UdpOutcome } from './gate.ts';

/** What an observed port counts as in metrics; null = as no error. */
export function errorKindOf({
  state,
  reason,
}: Pick<UdpOutcome<unknown>, 'state' | 'reason'>): ProbeErrorKind | null {
  if (reason === 'accept-then-reset') return 'reset';
  if (state === 'closed') return 'refused';
  if (state === 'open|filtered') return 'timeout';
  if (state === 'filtered') return reason === 'no-response' ? 'timeout' : 'unreachable';
  return null;
}

/** Ports that a sweep gave up before it came to them; addresses outside the scope are none. */
export function leftOutOf({ not_tried, problem, unsent = 0 }: SweepOutcome): number {
  return problem === null || problem === 'out_of_scope' ? 0 : not_tried - unsent;
}
