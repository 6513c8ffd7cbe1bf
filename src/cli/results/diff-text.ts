import type {
  Comparison,
  ListedFinding,
  ListedPort,
  NotComparable,
  PortState,
} from '../../actions/results/compare-scans.ts';
import { printable } from '../terminal/printable.ts';

const reasons: Record<NotComparable['reason'], string> = {
  out_of_scope: 'not among its targets',
  partial: 'not reached',
  port_not_planned: 'not among its ports',
  not_evaluated: 'not evaluated',
  record_damaged: 'its record is damaged',
};

/** A comparison for a person: `+` is new, `-` is gone, `~` changed, `?` cannot be compared. */
export async function* diffText(comparison: Comparison): AsyncGenerator<string> {
  const { scan_id, against, unchanged, list } = comparison;
  let changes = 0;
  yield `${printable(`changes in ${scan_id} since ${against}`)}\n`;
  for await (const line of changeLines(list)) {
    changes++;
    yield `${printable(line)}\n`;
  }
  if (changes === 0) yield 'no change\n';
  if (unchanged > 0) yield `${unchanged} findings unchanged\n`;
  for await (const item of list('not_comparable')) yield `${printable(notComparableLine(item))}\n`;
}

async function* changeLines(list: Comparison['list']): AsyncGenerator<string> {
  for await (const host of list('hosts.added')) yield `+ host ${host}`;
  for await (const host of list('hosts.removed')) yield `- host ${host}`;
  for await (const { before, after, by } of list('hosts.moved'))
    yield `~ host ${before} -> ${after}  same ${by.map(({ kind }) => kind.replaceAll('_', ' ')).join(', ')}`;
  for await (const port of list('ports.added')) yield `+ port ${portLine(port)}`;
  for await (const port of list('ports.removed')) yield `- port ${portLine(port)}`;
  for await (const { before, after, ...place } of list('ports.changed'))
    yield `~ port ${placeText(place)}  ${stateText(before)} -> ${stateText(after)}`;
  for await (const finding of list('vulnerabilities.new')) yield `+ finding ${findingLine(finding)}`;
  for await (const finding of list('vulnerabilities.resolved')) yield `- finding ${findingLine(finding)}`;
}

function portLine(port: ListedPort): string {
  return `${placeText(port)}  ${stateText(port)}`;
}

/** `192.0.2.1 22/tcp`; a host alone without a port. */
function placeText({ host, port, protocol }: { host: string; port: number | null; protocol: string | null }) {
  return port === null ? host : `${host} ${port}/${protocol ?? 'tcp'}`;
}

function stateText({ state, service, product, version }: PortState): string {
  return [state, service, product, version].filter(Boolean).join(' ');
}

function findingLine({ vulnerability, ...place }: ListedFinding): string {
  const { id, severity, title } = vulnerability;
  return `${placeText(place)}  ${id} ${severity}${title === id ? '' : ` ${title}`}`;
}

function notComparableLine({ reason, missing_in, ...place }: NotComparable): string {
  return `? ${placeText(place)}  unknown in ${missing_in}: ${reasons[reason] ?? reason}`;
}
