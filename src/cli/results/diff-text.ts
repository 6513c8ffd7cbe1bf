import type {
  Comparison,
  ListedFinding,
  ListedPort,
  PortState,
} from '../../actions/results/compare-scans.ts';
import { amountText, countText } from '../terminal/draw/amounts.ts';
import { columnsOf, fit, pad, printable } from '../terminal/draw/printable.ts';
import { scanTimeText } from '../terminal/draw/scan-time-text.ts';
import { ellipsisOf, paint, plainStyle, type TerminalStyle, type TextColor } from '../terminal/draw/style.ts';
import { notComparableLines } from './not-comparable-text.ts';
import { placeText } from './place-text.ts';

/** How a comparison is shown. */
export interface DiffView {
  style: TerminalStyle;
  now: number;
  /** Every result that cannot be compared, instead of their numbers. */
  all: boolean;
}

/** `+` is new, `~` changed, `-` is gone. */
interface Change {
  sign: '+' | '~' | '-';
  place: string;
  text: string;
  color?: TextColor | undefined;
}

/** Lines that are aligned with each other; memory does not grow with the comparison. */
const alignedLines = 500;

/** A comparison for people: new, changed, gone, then what cannot be compared, then the counts. */
export async function* diffText(
  comparison: Comparison,
  { style, now, all }: DiffView = { style: plainStyle, now: Date.now(), all: false },
): AsyncGenerator<string> {
  const { scan_id, against, list } = comparison;
  yield `${printable(`${scanTimeText(scan_id, now)} since ${scanTimeText(against, now)}`)}\n`;
  const counts = { '+': 0, '~': 0, '-': 0 };
  let lines: Change[] = [];
  for await (const change of changesOf(list)) {
    counts[change.sign]++;
    lines.push(change);
    if (lines.length < alignedLines) continue;
    yield aligned(lines, style);
    lines = [];
  }
  yield aligned(lines, style);
  let notComparable = 0;
  const items = (async function* () {
    for await (const item of list('not_comparable')) {
      notComparable++;
      yield item;
    }
  })();
  for await (const line of notComparableLines(items, scan_id, all)) yield `? ${printable(line)}\n`;
  yield `${countsText(counts, notComparable, comparison.unchanged)}\n`;
}

async function* changesOf(list: Comparison['list']): AsyncGenerator<Change> {
  const moved = { from: new Set<string>(), to: new Set<string>() };
  for await (const { before, after } of list('hosts.moved')) {
    moved.from.add(before);
    moved.to.add(after);
  }
  for await (const host of list('hosts.added'))
    if (!moved.to.has(host)) yield { sign: '+', place: host, text: 'host' };
  for await (const port of list('ports.added'))
    yield { sign: '+', place: placeText(port), text: portText(port) };
  for await (const finding of list('vulnerabilities.new'))
    yield { sign: '+', ...findingOf(finding), color: 'red' };
  for await (const { before, after, by } of list('hosts.moved')) {
    const same = by.map(({ kind }) => kind.replaceAll('_', ' ')).join(', ');
    yield { sign: '~', place: before, text: `-> ${after}, same ${same}` };
  }
  for await (const { before, after, ...place } of list('ports.changed'))
    yield { sign: '~', place: placeText(place), text: changedText(before, after) };
  for await (const host of list('hosts.removed'))
    if (!moved.from.has(host)) yield { sign: '-', place: host, text: 'host' };
  for await (const port of list('ports.removed'))
    yield { sign: '-', place: placeText(port), text: portText(port) };
  for await (const finding of list('vulnerabilities.resolved'))
    yield { sign: '-', ...findingOf(finding), color: 'green' };
}

function aligned(changes: readonly Change[], style: TerminalStyle): string {
  const width = Math.max(0, ...changes.map(({ place }) => columnsOf(printable(place))));
  const room = style.terminal ? style.columns - 2 : Number.POSITIVE_INFINITY;
  return changes
    .map(({ sign, place, text, color }) => {
      const line = `${pad(printable(place), width)}  ${printable(text)}`.trimEnd();
      return `${paint(style, sign, color ?? null)} ${fit(line, room, ellipsisOf(style))}\n`;
    })
    .join('');
}

/** `http, nginx 1.18.0`; a state other than open comes first. */
function portText(port: ListedPort): string {
  return stateText(port) || port.state;
}

function stateText({ state, service, product, version }: PortState): string {
  const name = [product, version].filter(Boolean).join(' ');
  return [state === 'open' ? null : state, service, name].filter(Boolean).join(', ');
}

/** `nginx 1.16.1 -> 1.18.0`: what both have is said once. */
function changedText(before: PortState, after: PortState): string {
  if (before.state !== after.state) return `${before.state} -> ${stateOrOpen(after)}`;
  if (before.product !== null && before.product === after.product && before.version && after.version)
    return `${before.product} ${before.version} -> ${after.version}`;
  return `${stateOrOpen(before)} -> ${stateOrOpen(after)}`;
}

function stateOrOpen(state: PortState): string {
  return stateText(state) || state.state;
}

function findingOf({ vulnerability, ...place }: ListedFinding): Pick<Change, 'place' | 'text'> {
  const { id, severity, title } = vulnerability;
  const why = place.by_new_check ? ['new, by a new check'] : [];
  const text = [severity.toUpperCase(), id, ...(title === id ? [] : [title]), ...why].join('  ');
  return { place: placeText(place), text };
}

/** `1 new, 1 changed, 1 gone, 43 not comparable`; the changes also when there are none. */
function countsText(
  changes: Record<Change['sign'], number>,
  notComparable: number,
  unchanged: number,
): string {
  const named = [
    [changes['+'], 'new'],
    [changes['~'], 'changed'],
    [changes['-'], 'gone'],
    [notComparable, 'not comparable'],
  ] as const;
  const parts = named.flatMap(([count, name]) => (count > 0 ? [`${amountText(count)} ${name}`] : []));
  const changed = changes['+'] + changes['~'] + changes['-'] > 0;
  const same = unchanged > 0 ? [`${countText(unchanged, 'finding')} unchanged`] : [];
  return [...(changed ? [] : ['no change']), ...parts, ...same].join(', ');
}
