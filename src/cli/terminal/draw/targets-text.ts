import { amountText } from './amounts.ts';
import { columnsOf, fitMiddle, printable } from './printable.ts';
import { ellipsisOf, type TerminalStyle, unknownOf } from './style.ts';

/**
 * As many targets as fit, at least one, and the number of the others: `10.0.0.0/24 +3`.
 * @param shown the first of `total` targets
 */
export function targetsText(
  shown: readonly string[],
  total: number,
  style: TerminalStyle,
  columns = Number.POSITIVE_INFINITY,
): string {
  const [first] = shown;
  if (first === undefined) return unknownOf(style);
  const restAfter = (named: number) => (total > named ? ` +${amountText(total - named)}` : '');
  let text = fitMiddle(printable(first), columns - restAfter(1).length, ellipsisOf(style)) + restAfter(1);
  for (let named = 2; named <= shown.length; named++) {
    const longer = printable(shown.slice(0, named).join(' ')) + restAfter(named);
    if (columnsOf(longer) > columns) break;
    text = longer;
  }
  return text;
}
