import { findingClasses, severities } from '../../domain/finding.ts';
import { type FieldName, queryFields } from '../../domain/query/query-fields.ts';
import type { NumberColumn, TextColumn } from './columns.ts';
import { protocolWords } from './compile-query.ts';
import type { MatchedMembers } from './matched-members.ts';
import { listOfText, type RecordIndex } from './record-index.ts';

/** A value of a field, as it is written in a query, and how many matching members have it. */
export interface FacetValue {
  value: string | number | boolean;
  count: number;
}

export interface Facet {
  field: FieldName;
  /** The most frequent ones first. */
  values: FacetValue[];
  /** Number of further values. */
  more: number;
}

/** Fields that have facets: all but scores and times, whose values hardly repeat. */
export const facetFields: readonly FieldName[] = Object.values(queryFields)
  .filter(({ name, kind }) => !['number', 'time'].includes(kind) && !['type', 'banner'].includes(name))
  .map(({ name }) => name);

export const defaultFacets: readonly FieldName[] = [
  'severity',
  'port',
  'product',
  'service',
  'state',
  'os',
  'device',
  'class',
  'kev',
  'host',
];

/** The values of a field among the matching members of its record; a host counts with its matching ports. */
export function facetOf(index: RecordIndex, matched: MatchedMembers, field: FieldName, limit: number): Facet {
  const { values, distinct } = valuesOf(index, matched, field);
  const shown = values.sort((a, b) => b.count - a.count || byValue(a.value, b.value)).slice(0, limit);
  return { field, values: shown, more: distinct - shown.length };
}

/** The most frequent values of a field, and how many different ones there are. */
interface CountedValues {
  values: FacetValue[];
  distinct: number;
}

function valuesOf(index: RecordIndex, matched: MatchedMembers, field: FieldName): CountedValues {
  const { hosts, ports, findings } = index;
  switch (field) {
    case 'host':
      return hostValues(index, matched);
    case 'port':
      return topOf(countsOf(ports.numbers.port.values, matched.ports, 65_536), (value) => value);
    case 'protocol':
      return wordsOf(ports.numbers.protocol, matched.ports, protocolWords);
    case 'severity':
      return wordsOf(findings.numbers.severity, matched.findings, severities);
    case 'class':
      return wordsOf(findings.numbers.class, matched.findings, findingClasses);
    case 'kev':
      return wordsOf(findings.numbers.kev, matched.findings, [false, true]);
  }
  const { record } = queryFields[field];
  if (record === 'host') return textsOf(index, hosts.texts[field as 'os'], matched.hosts, field);
  if (record === 'port') return textsOf(index, ports.texts[field as 'product'], matched.ports, field);
  return textsOf(index, findings.texts[field as 'id'], matched.findings, field);
}

function hostValues({ hosts, ports, pool }: RecordIndex, matched: MatchedMembers): CountedValues {
  const counts = new Uint32Array(hosts.count);
  const owners = ports.numbers.host.values;
  for (let at = 0; at < ports.count; at++)
    counts[owners[at] as number] = (counts[owners[at] as number] as number) + (matched.ports[at] as number);
  return topOf(counts, (host) => pool.text(hosts.texts.host.get(host)));
}

/** Marked members by value. */
function countsOf(values: ArrayLike<number>, marks: Uint8Array, size: number): Uint32Array {
  const counts = new Uint32Array(size);
  for (let at = 0; at < marks.length; at++) {
    const value = values[at] as number;
    counts[value] = (counts[value] as number) + (marks[at] as number);
  }
  return counts;
}

/** Values of which the text is read; a facet shows fewer. */
const maxRead = 2000;

/** The values with the highest counts; of many with equal counts the first ones. */
function topOf(counts: Uint32Array, valueOf: (code: number) => FacetValue['value']): CountedValues {
  const sorted = counts.filter((count) => count > 0).sort();
  const least = sorted[Math.max(0, sorted.length - maxRead)] ?? 1;
  const codes: number[] = [];
  for (let code = 0; code < counts.length; code++) if ((counts[code] as number) > least) codes.push(code);
  for (let code = 0; code < counts.length && codes.length < maxRead; code++)
    if (counts[code] === least) codes.push(code);
  const values = codes.map((code) => ({ value: valueOf(code), count: counts[code] as number }));
  return { values, distinct: sorted.length };
}

function wordsOf<W extends string | boolean>(
  { values }: NumberColumn,
  marks: Uint8Array,
  words: readonly W[],
): CountedValues {
  const counts = countsOf(values, marks, 256);
  const found = words.map((value, place) => ({ value, count: counts[place] as number }));
  const present = found.filter(({ count }) => count > 0);
  return { values: present, distinct: present.length };
}

function textsOf(
  { pool }: RecordIndex,
  { values, dictionary }: TextColumn,
  marks: Uint8Array,
  field: FieldName,
): CountedValues {
  const counts = countsOf(values, marks, dictionary?.length ?? pool.size + 1);
  // The code and the number of an absent text.
  counts[0] = 0;
  const textOf = (code: number) => pool.text(dictionary?.[code] ?? code);
  return queryFields[field].list ? elementsOf(counts, textOf) : topOf(counts, textOf);
}

/** The elements of lists: each list is read. */
function elementsOf(counts: Uint32Array, textOf: (code: number) => string): CountedValues {
  const found = new Map<string, number>();
  for (const [code, count] of counts.entries()) {
    if (count === 0) continue;
    for (const value of new Set(listOfText(textOf(code)))) found.set(value, (found.get(value) ?? 0) + count);
  }
  const values = [...found].map(([value, count]) => ({ value, count }));
  return { values, distinct: values.length };
}

function byValue(a: FacetValue['value'], b: FacetValue['value']): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
