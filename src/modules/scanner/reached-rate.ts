import { groupedNumber } from '../../domain/text/grouped-number.ts';
import type { NetworkGate } from '../../net/gate/gate.ts';

/** How a sweep sent, with the rates that it reached where they follow the responses. */
export function withReachedRate(way: string, { reached }: NetworkGate): string {
  if (reached === null) return way;
  const [least, most] = [reached.lowest, reached.highest].map((rate) => groupedNumber(Math.round(rate)));
  const rates = least === most ? most : `${least} to ${most}`;
  return `${way}; ${rates} packets per second, as responses came`;
}
