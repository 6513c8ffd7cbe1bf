import { type FieldProblem, invalidRequest } from '../../domain/errors.ts';
import { findingClasses, severities } from '../../domain/finding.ts';
import { urgencyRank, urgencyRanks } from '../../domain/finding-order.ts';
import { compareVersions } from '../../domain/version-order.ts';
import { type IndexOrder, type Ranks, sortedByAll } from './index-order.ts';
import type { RecordIndex } from './record-index.ts';

/** Types of records that can be sorted, and by what. */
export const sortFields = {
  host: ['address', 'name', 'findings', 'open_ports', 'os', 'latency'],
  port: ['host', 'port', 'service', 'product', 'version', 'state', 'findings'],
  vulnerability: ['worst', 'severity', 'cvss', 'epss', 'kev', 'host', 'port', 'id', 'title', 'class'],
} as const;

export type SortedType = keyof typeof sortFields;

export interface SortKey {
  field: string;
  descending: boolean;
}

/** Fields of one list, at most. */
const maxKeys = 6;

/**
 * Reads `-severity,host`.
 * @throws PortolanError `invalid_request` that names the fields of the type
 */
export function parseSort(text: string, type: string | undefined): SortKey[] {
  const keys = text.split(',').map((part) => {
    const descending = part.startsWith('-');
    return { field: descending ? part.slice(1) : part, descending };
  });
  const known: readonly string[] = isSorted(type) ? sortFields[type] : [];
  const wrong = keys.find(({ field }) => !known.includes(field));
  const reason = !isSorted(type)
    ? `needs type=${Object.keys(sortFields).join(', type=')}`
    : wrong
      ? `has no field ${JSON.stringify(wrong.field.slice(0, 40))} for ${type}; one of ${known.join(', ')}`
      : keys.length > maxKeys
        ? `has more than ${maxKeys} fields`
        : null;
  if (reason === null) return keys;
  const problem: FieldProblem = { field: 'sort', reason };
  throw invalidRequest(`sort ${reason}`, [problem]);
}

export function isSorted(type: string | undefined): type is SortedType {
  return type !== undefined && Object.hasOwn(sortFields, type);
}

/** All members of a type in the order of some keys, ties in record order. Absent values come last. */
export function sortedMembers(
  index: RecordIndex,
  order: IndexOrder,
  type: SortedType,
  keys: readonly SortKey[],
): Uint32Array {
  const table = type === 'vulnerability' ? 'finding' : type;
  if (keys.length === 0) return order.recordOrder(table);
  const name = `${type} ${keys.map(({ field, descending }) => `${descending ? '-' : ''}${field}`).join()}`;
  return order.order(name, () =>
    sortedByAll(
      order.recordOrder(table),
      keys
        .flatMap(({ field, descending }) =>
          (field === 'worst' ? worstFields : [field]).map((each) => ({ field: each, descending })),
        )
        .map(({ field, descending }) => ({ ranks: ranksOf(index, order, type, field), descending })),
    ),
  );
}

/** The fields of the one order of findings. */
const worstFields = ['worst', 'epss', 'cvss'];

function ranksOf(index: RecordIndex, order: IndexOrder, type: SortedType, field: string): Ranks {
  switch (type) {
    case 'host':
      return hostRanks(index, order, field);
    case 'port':
      return portRanks(index, order, field);
    case 'vulnerability':
      return findingRanks(index, order, field);
  }
}

function hostRanks({ hosts, findings }: RecordIndex, order: IndexOrder, field: string): Ranks {
  const { count, texts, numbers } = hosts;
  switch (field) {
    case 'address':
      return order.hostRanks;
    case 'name':
      return order.textRanks('host name', texts.name, count);
    case 'os':
      return order.textRanks('host os', texts.os, count);
    case 'latency':
      return order.numberRanks('host latency', () => numbers.latency.values, count);
    case 'open_ports':
      return order.numberRanks('host open_ports', () => order.openPortsOfHost, count);
    default:
      return order.numberRanks(
        'host findings',
        () => order.countsOf(findings.numbers.host.values, findings.count, count),
        count,
      );
  }
}

function portRanks({ ports }: RecordIndex, order: IndexOrder, field: string): Ranks {
  const { count, texts, numbers } = ports;
  switch (field) {
    case 'host':
      return order.inherited('port host', numbers.host.values, count, order.hostRanks);
    case 'port':
      return order.portPlaces;
    case 'findings':
      return order.numberRanks('port findings', () => order.findingsOfPort, count);
    case 'version':
      return order.textRanks('port version', texts.version, count, inVersionOrder);
    default:
      return order.textRanks(`port ${field}`, texts[field as 'service'], count);
  }
}

function findingRanks({ findings }: RecordIndex, order: IndexOrder, field: string): Ranks {
  const { count, texts, numbers } = findings;
  switch (field) {
    case 'worst':
      return order.ranks('finding worst', () => worstRanks(numbers, count));
    case 'severity':
      return order.wordRanks('finding severity', numbers.severity.values, severities, count);
    case 'class':
      return order.wordRanks('finding class', numbers.class.values, findingClasses, count);
    case 'cvss':
    case 'epss':
    case 'kev':
      return order.numberRanks(`finding ${field}`, () => numbers[field].values, count);
    case 'host':
      return order.inherited('finding host', numbers.host.values, count, order.hostRanks);
    case 'port':
      return order.inherited('finding place', numbers.port.values, count, order.portPlaces, true);
    case 'title':
      return order.textRanks('finding title', texts.finding, count);
    default:
      return order.textRanks('finding id', texts.id, count);
  }
}

/** The worst has the highest rank. */
function worstRanks(
  { severity, class: classes, kev }: RecordIndex['findings']['numbers'],
  count: number,
): Ranks {
  const ranks = new Uint8Array(count);
  for (let number = 0; number < count; number++) {
    const rank = urgencyRank({
      severity: severities[severity.get(number)] ?? 'info',
      class: findingClasses[classes.get(number)] ?? 'possible',
      exploited: kev.get(number) === 1,
    });
    ranks[number] = urgencyRanks - 1 - rank;
  }
  return { ranks, none: urgencyRanks };
}

/** Versions in their order, then other texts. */
function inVersionOrder(a: string, b: string): number {
  const order = compareVersions(a, b);
  if (order !== null) return order;
  const unreadable = (text: string) => Number(compareVersions(text, text) === null);
  return unreadable(a) - unreadable(b) || (a < b ? -1 : a > b ? 1 : 0);
}
