import { amountText } from '../terminal/draw/amounts.ts';
import { wrapWords } from '../terminal/draw/columns.ts';
import { pad, printable } from '../terminal/draw/printable.ts';
import { paint, type TerminalStyle, type TextColor } from '../terminal/draw/style.ts';
import type { CheckResult } from './doctor-checks.ts';

const order = { fail: 0, warn: 1, ok: 2 };
const colors: Record<CheckResult['status'], TextColor> = { fail: 'red', warn: 'yellow', ok: 'green' };
const statusColumns = 4;
const gap = '  ';
/** Checks that are well and named in the last line. */
const maxNamedChecks = 5;
/** Narrowest column of messages that is still broken between words. */
const leastMessageColumns = 24;

/** What this machine lacks comes first, each with what to try; what is well is one line. @param all whether it has a line each */
export function doctorText(checks: readonly CheckResult[], style: TerminalStyle, all: boolean): string {
  const sorted = checks.toSorted((a, b) => order[a.status] - order[b.status]);
  const shown = all ? sorted : sorted.filter(({ status }) => status !== 'ok');
  const well = all ? [] : sorted.filter(({ status }) => status === 'ok').map(nameOf);
  const total = `${amountText(well.length)}${shown.length > 0 ? ' more' : ' checks'}`;
  const width = Math.max(...shown.map((check) => nameOf(check).length), well.length > 0 ? total.length : 0);
  const left = style.columns - statusColumns - 2 * gap.length - width;
  const room = style.terminal ? Math.max(leastMessageColumns, left) : Number.POSITIVE_INFINITY;
  const lines = shown.flatMap(({ status, message, remedy, ...check }) => [
    ...entry(paint(style, status, colors[status]) + blanks(status), nameOf(check), message, room),
    // A command stays whole, to be copied.
    ...(remedy === null ? [] : entry(blanks(''), 'try', remedy, Number.POSITIVE_INFINITY)),
  ]);
  if (well.length > 0) {
    const more = well.length > maxNamedChecks ? ', ...' : '';
    const named = `${well.slice(0, maxNamedChecks).join(', ')}${more} (-v)`;
    lines.push(...entry(paint(style, 'ok', 'green') + blanks('ok'), total, named, room));
  }
  return lines.map((line) => `${line}\n`).join('');

  function entry(status: string, name: string, text: string, columns: number): string[] {
    return wrapWords(printable(text), columns).map((line, index) =>
      [index === 0 ? status : blanks(''), pad(index === 0 ? name : '', width), line].join(gap),
    );
  }
}

function blanks(word: string): string {
  return ' '.repeat(statusColumns - word.length);
}

function nameOf({ name }: Pick<CheckResult, 'name'>): string {
  return name === 'raw_sockets' ? 'raw packets' : name.replaceAll('_', ' ');
}
