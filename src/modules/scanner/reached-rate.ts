import { groupedNumber } from '../../domain/text/grouped-number.ts';
import type { ExecContext } from '../../engine/module.ts';

/** Says how a sweep sent once more, with the rates that it reached, where they follow the responses. */
export function reportReachedRate(
  { net: { reached }, method }: Pick<ExecContext, 'net' | 'method'>,
  way: string,
): void {
  if (reached === null) return;
  const [least, most] = [reached.lowest, reached.highest].map((rate) => groupedNumber(Math.round(rate)));
  method(`${way}; ${least === most ? most : `${least} to ${most}`} packets per second, as responses came`);
}
