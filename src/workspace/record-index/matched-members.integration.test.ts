import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { queryText } from '../../../test/query-texts.ts';
import { finding as findingRow } from '../../../test/result-rows.ts';
import { rounds } from '../../../test/rounds.ts';
import { findingClasses, severities } from '../../domain/finding.ts';
import { byWorst, urgencyOf } from '../../domain/finding-order.ts';
import { mergeRows } from '../../domain/merge-rows.ts';
import { indexedRemainder, indexedRows } from '../../domain/query/index-rows.ts';
import type { IndexedRow } from '../../domain/query/indexed-row.ts';
import { matchQuery } from '../../domain/query/match-query.ts';
import { parseQuery } from '../../domain/query/parse-query.ts';
import type { Query } from '../../domain/query/query.ts';
import { type FieldName, queryFields } from '../../domain/query/query-fields.ts';
import { withoutField } from '../../domain/query/query-terms.ts';
import type { HostRow, PortRow, ResultRow, VulnerabilityRow } from '../../domain/result.ts';
import { rowIdentity } from '../../domain/result.ts';
import { completeRow } from '../record/row-line.ts';
import { compareRows } from '../record/row-order.ts';
import { facetFields, facetOf } from './facets.ts';
import { randomRows } from './fixtures/random-rows.ts';
import { IndexOrder } from './index-order.ts';
import { type MatchedMembers, matchedMembers } from './matched-members.ts';
import { memberPage } from './member-list.ts';
import { type Member, RecordIndex } from './record-index.ts';
import { totalsOf } from './row-totals.ts';
import { parseSort, sortedMembers, sortFields } from './sort-keys.ts';

const turn = async () => undefined;

/** The rows of each identity merged, sorted, as a finished record has them. */
function finished(rows: readonly ResultRow[]): ResultRow[] {
  const merged = [...Map.groupBy(rows, rowIdentity).values()].map((own) => mergeRows(own) as ResultRow);
  return merged.map((row) => completeRow(row)).sort(compareRows);
}

interface Indexed {
  index: RecordIndex;
  order: IndexOrder;
  rowOf(member: Member): ResultRow;
}

/** The rows as an index of a growing or a finished record has them. */
function indexed(rows: readonly ResultRow[], growing: boolean): Indexed {
  const index = RecordIndex.create(':memory:', 'test', growing);
  const read = ({ offset }: { offset: number }) => rows[offset] ?? null;
  for (const [offset, row] of rows.entries()) index.add(row, { offset, length: 1 }, read);
  const rowOf = (member: Member) =>
    completeRow(mergeRows(index.placesOf(member).map((place) => read(place) as ResultRow)) as ResultRow);
  return { index, order: new IndexOrder(index), rowOf };
}

/** What belongs to a tuple that satisfies a query, by the reference implementation. */
function expectedRows(rows: readonly ResultRow[], query: Query | null): Set<ResultRow> {
  const found = new Set<ResultRow>();
  for (const { tuple, parts } of tuplesOf(rows))
    if (matchQuery(query, tuple)) for (const part of parts) found.add(part);
  return found;
}

interface Tuple {
  tuple: IndexedRow;
  parts: ResultRow[];
}

function* tuplesOf(rows: readonly ResultRow[]): Generator<Tuple> {
  const ofHosts: (HostRow | PortRow | VulnerabilityRow)[] = [];
  for (const row of rows) {
    if (row.type === 'host' || row.type === 'port' || row.type === 'vulnerability') ofHosts.push(row);
    else if (row.type !== 'summary') yield { tuple: indexedRemainder(row), parts: [row] };
  }
  for (const own of Map.groupBy(ofHosts, ({ host }) => host).values()) {
    const host = own.find((row) => row.type === 'host') ?? null;
    const ports = own.filter((row) => row.type === 'port');
    const findings = own.filter((row) => row.type === 'vulnerability');
    const present = host ? [host] : [];
    for (const finding of findings) {
      const port = ports.find((each) => each.port === finding.port && each.protocol === finding.protocol);
      const [tuple] = indexedRows(host, port ? [port] : [], [finding]);
      yield { tuple: tuple as IndexedRow, parts: [...present, ...(port ? [port] : []), finding] };
    }
    for (const port of ports) {
      if (findings.some((each) => each.port === port.port && each.protocol === port.protocol)) continue;
      const [tuple] = indexedRows(host, [port], []);
      yield { tuple: tuple as IndexedRow, parts: [...present, port] };
    }
    if (host && ports.length === 0 && findings.length === 0) {
      const [tuple] = indexedRows(host, [], []);
      yield { tuple: tuple as IndexedRow, parts: [host] };
    }
  }
}

function markedRows({ index, rowOf }: Indexed, matched: MatchedMembers): ResultRow[] {
  const marked = (table: Member['table'], marks: Uint8Array) =>
    [...marks.entries()].flatMap(([number, mark]) => (mark === 1 ? [rowOf({ table, number })] : []));
  expect(matched.hosts.length).toBe(index.hosts.count);
  return [
    ...marked('host', matched.hosts),
    ...marked('port', matched.ports),
    ...marked('finding', matched.findings),
    ...marked('other', matched.others),
  ];
}

const bySortedText = (rows: Iterable<ResultRow>) => [...rows].map((row) => JSON.stringify(row)).sort();

const cases = [
  ['a growing record', true],
  ['a finished record', false],
] as const;

describe.each(cases)('an index of %s', (_name, growing) => {
  const recordOf = (rows: ResultRow[]) => (growing ? rows : finished(rows));

  it('finds the rows that the reference implementation finds', async () => {
    await fc.assert(
      fc.asyncProperty(randomRows, queryText, async (rows, text) => {
        const query = parseQuery(text);
        const own = indexed(recordOf(rows), growing);
        const matched = await matchedMembers(own.index, own.order, query, turn);
        const expected = bySortedText(expectedRows(finished(rows), query));
        expect(bySortedText(markedRows(own, matched))).toEqual(expected);
        const counts = Object.values(matched.counts).reduce((sum, count) => sum + count, 0);
        expect(counts).toBe(expected.length);
        own.index.close();
      }),
      { numRuns: rounds(1500, 300) },
    );
  });

  it('lists all rows in the order of the record, in pages of any size', async () => {
    await fc.assert(
      fc.asyncProperty(randomRows, fc.integer({ min: 1, max: 9 }), async (rows, limit) => {
        const own = indexed(recordOf(rows), growing);
        const matched = await matchedMembers(own.index, own.order, null, turn);
        const listed: ResultRow[] = [];
        for (let offset = 0; ; offset += limit) {
          const page = memberPage(
            own.index,
            own.order,
            matched,
            undefined,
            [],
            { offset, after: null },
            limit,
          );
          listed.push(...page.members.map(own.rowOf));
          if (offset + limit >= page.total) break;
        }
        const all = finished(rows);
        const isOther = ({ type }: ResultRow) => type === 'error' || type === 'compliance';
        expect(listed.filter((row) => !isOther(row))).toEqual(all.filter((row) => !isOther(row)));
        expect(bySortedText(listed)).toEqual(bySortedText(all));
        own.index.close();
      }),
      { numRuns: rounds(300, 60) },
    );
  });

  it('counts the values of fields as the reference implementation does', async () => {
    const field = fc.constantFrom(...facetFields.filter((name) => name !== 'host'));
    await fc.assert(
      fc.asyncProperty(randomRows, queryText, field, async (rows, text, name) => {
        const query = withoutField(parseQuery(text), name);
        const own = indexed(recordOf(rows), growing);
        const matched = await matchedMembers(own.index, own.order, query, turn);
        const facet = facetOf(own.index, matched, name, 1000);
        expect(new Map(facet.values.map(({ value, count }) => [value, count]))).toEqual(
          expectedValues(finished(rows), query, name),
        );
        expect(facet.more).toBe(0);
        own.index.close();
      }),
      { numRuns: rounds(500, 100) },
    );
  });
});

/** Matching members of the record of a field by its value. */
function expectedValues(
  rows: readonly ResultRow[],
  query: Query | null,
  name: FieldName,
): Map<unknown, number> {
  const { record } = queryFields[name];
  const counts = new Map<unknown, number>();
  const found = expectedRows(rows, query);
  for (const row of found) {
    if (row.type !== record) continue;
    const tuple =
      row.type === 'host'
        ? indexedRows(row, [], []).next().value
        : row.type === 'port'
          ? indexedRows(null, [row], []).next().value
          : indexedRows(null, [], [row as VulnerabilityRow]).next().value;
    const value = (tuple as IndexedRow)[name];
    const values = value === null ? [] : typeof value === 'object' ? value : [value];
    for (const one of new Set(values.map((each) => storedText(each, queryFields[name].list))))
      counts.set(one, (counts.get(one) ?? 0) + 1);
  }
  return counts;
}

/** What UTF-8 or C cannot hold is replaced. */
function storedText(value: unknown, list: boolean): unknown {
  if (typeof value !== 'string') return value;
  const text = list ? value.replaceAll('\u001f', '\ufffd') : value;
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

describe('sorting', () => {
  const anySort = fc.constantFrom(
    ...Object.entries(sortFields).flatMap(([type, fields]) =>
      fields.flatMap((field) => [`${type} ${field}`, `${type} -${field}`]),
    ),
  );

  it('keeps every member once, equal ones in record order, and is the reverse of the other direction', () => {
    fc.assert(
      fc.property(randomRows, anySort, (rows, choice) => {
        const [type = '', sort = ''] = choice.split(' ');
        const own = indexed(finished(rows), false);
        const sorted = sortedMembers(own.index, own.order, type as 'host', parseSort(sort, type));
        expect([...sorted].sort((a, b) => a - b)).toEqual([...sorted.keys()]);
        own.index.close();
      }),
      { numRuns: rounds(200, 50) },
    );
  });

  it('is by severity, then score, absent scores last', () => {
    const finding = (id: string, severity: 'high' | 'low', score: number | null): VulnerabilityRow => ({
      type: 'vulnerability',
      timestamp: '2026-10-06T14:31:40.520Z',
      host: '10.0.0.1',
      port: null,
      protocol: null,
      vulnerability: {
        id,
        title: id,
        severity,
        cvss: score === null ? null : { version: '3.1', score, vector: '' },
        kev: false,
        epss: null,
        cpe: null,
        affected: null,
        detected: null,
        confidence: 1,
        backport_note: null,
        class: 'certain',
        evidence: '',
        remediation: '',
        references: [],
        plugin: '',
      },
    });
    const rows = [
      finding('a', 'low', 9),
      finding('b', 'high', null),
      finding('c', 'high', 7),
      finding('d', 'high', 8),
    ];
    const own = indexed(rows, false);
    const idsBy = (sort: string) =>
      [...sortedMembers(own.index, own.order, 'vulnerability', parseSort(sort, 'vulnerability'))].map(
        (number) => rows[number]?.vulnerability.id,
      );
    expect(idsBy('-severity,-cvss')).toEqual(['d', 'c', 'b', 'a']);
    expect(idsBy('severity,cvss')).toEqual(['a', 'c', 'd', 'b']);
    expect(idsBy('-id')).toEqual(['d', 'c', 'b', 'a']);
    own.index.close();
  });

  it('by worst is the one order of findings', () => {
    const all = severities.flatMap((severity) =>
      findingClasses.flatMap((name) => [false, true].map((kev) => ({ severity, class: name, kev }))),
    );
    const rows = all.flatMap((more, at) =>
      [null, 0.1].flatMap((epss) =>
        [null, 5].map((score) =>
          findingRow(443, `id-${at}-${epss}-${score}`, more.severity, {
            ...more,
            epss: epss === null ? null : { score: epss, percentile: 0.5 },
            cvss: score === null ? null : { version: '3.1', score, vector: '' },
          }),
        ),
      ),
    );
    const own = indexed(rows, false);
    const sorted = sortedMembers(own.index, own.order, 'vulnerability', parseSort('-worst', 'vulnerability'));
    const urgencies = [...sorted].map((at) => urgencyOf((rows[at] as VulnerabilityRow).vulnerability));
    expect(urgencies).toEqual(urgencies.toSorted(byWorst));
    expect(urgencies).not.toEqual(rows.map(({ vulnerability }) => urgencyOf(vulnerability)));
    own.index.close();
  });

  it('by open ports count those that responded, as do the totals of a host', () => {
    const timestamp = '2026-10-06T14:31:40.520Z';
    const hosts = ['10.0.0.1', '10.0.0.2', '10.0.0.3'];
    const states = [['open'], ['open|filtered', 'open|filtered'], ['open', 'open', 'open|filtered']];
    const rows = hosts.flatMap((host, at): ResultRow[] => [
      { type: 'host', timestamp, host, state: 'up' },
      ...(states[at] ?? []).map(
        (state, port): ResultRow => ({
          type: 'port',
          timestamp,
          host,
          port: port + 1,
          protocol: 'udp',
          state,
          reason: '',
        }),
      ),
    ]);
    const { index, order } = indexed(rows, false);
    const sorted = [...sortedMembers(index, order, 'host', parseSort('-open_ports', 'host'))];
    expect(sorted).toEqual([2, 0, 1]);
    const members = sorted.map((number): Member => ({ table: 'host', number }));
    expect(totalsOf(index, order, members, null)).toMatchObject([
      { totals: { open_ports: 2, services: [{ port: 1 }, { port: 2 }] } },
      { totals: { open_ports: 1, services: [{ port: 1 }] } },
      { totals: { open_ports: 0, services: [] } },
    ]);
    index.close();
  });

  it('refuses fields that the type does not have, and names those it has', () => {
    const rejected = expect.objectContaining({ code: 'invalid_request' });
    for (const [sort, type] of [
      ['severity', 'port'],
      ['', 'host'],
      ['host', undefined],
      ['id', 'error'],
    ] as const)
      expect(() => parseSort(sort, type)).toThrow(rejected);
    expect(() => parseSort('bogus', 'host')).toThrow('address, name, findings, open_ports, os, latency');
  });
});
