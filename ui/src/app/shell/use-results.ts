import { useQueries } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { formatQuery } from '../../../../src/domain/query/format-query.ts';
import type { ApiError } from '../../api/api-error.ts';
import { useGet } from '../../api/use-get.ts';
import { clickValue } from '../../components/query/query-edit.ts';
import { type FacetList, fetchFacets } from '../../components/query/use-facets.ts';
import { searchText } from '../../url/search-text.ts';

/** Newest scans with results that are searched: each is one request. */
const searchedScans = 4;
/** Shorter texts are in too many values, characters. */
const shortestText = 2;
/** Values of a field that are listed. */
const shownPerField = 4;
/** Values of a field that a scan is asked for, the most frequent ones of what matches the text. */
const countedValues = 50;

/** A pause in typing, milliseconds. */
const settleMs = 150;

const fields = ['host', 'name', 'product', 'id'] as const;
type Field = (typeof fields)[number];

/** A value in one of the newest scans, and the page that shows it. */
export interface FoundValue {
  field: Field;
  value: string;
  scan: { scan_id: string; name: string | null; targets: string[] };
  path: string;
}

/** Hosts, names, products and finding ids with a text in them, in the newest scans; of several scans the newest. */
export function useResults(typed: string): { found: FoundValue[]; isPending: boolean } {
  const text = useSettled(typed);
  const isSearched = text.length >= shortestText;
  const { data } = useGet('/api/v1/scans', { query: { limit: 20 } }, { enabled: isSearched });
  const scans = (data?.scans ?? []).filter(({ results }) => results.live_hosts > 0).slice(0, searchedScans);
  const q = formatQuery({ kind: 'text', text, from: 0, to: 0 });
  const lists = useQueries({
    queries: scans.map(({ scan_id, status }) => ({
      queryKey: ['/api/v1/scans/{scan_id}/facets', { scan_id }, { q, fields, limit: countedValues }, status],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        fetchFacets(scan_id, { q, fields, limit: countedValues }, signal),
      enabled: isSearched,
    })),
  }) as { data: FacetList | undefined; error: ApiError | null; isPending: boolean }[];
  if (!isSearched) return { found: [], isPending: typed.length >= shortestText };
  const found = lists.flatMap(({ data: list }, at) => {
    const scan = scans[at];
    return scan && list
      ? valuesIn(list, text).map((each) => ({ ...each, scan, path: pathOf(scan, each) }))
      : [];
  });
  return { found: firstOfEach(found), isPending: text !== typed || lists.some(({ isPending }) => isPending) };
}

/** The text as soon as its reader pauses. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), settleMs);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

type Value = Pick<FoundValue, 'field' | 'value'>;

/** A record matches by any of its texts: only values that have the text themselves count. */
function valuesIn({ facets }: FacetList, text: string): Value[] {
  const wanted = text.toLowerCase();
  return facets.flatMap(({ field, values }) =>
    values
      .map(({ value }) => ({ field: field as Field, value: String(value ?? '') }))
      .filter(({ value }) => value.toLowerCase().includes(wanted)),
  );
}

/** Each value once, the first ones of each field. */
function firstOfEach(found: readonly FoundValue[]): FoundValue[] {
  const values = new Map<string, FoundValue>();
  for (const each of found) {
    const key = `${each.field} ${each.value.toLowerCase()}`;
    if (!values.has(key)) values.set(key, each);
  }
  return fields.flatMap((field) =>
    [...values.values()].filter((each) => each.field === field).slice(0, shownPerField),
  );
}

const tabs: Record<Field, string> = { host: 'hosts', name: 'hosts', product: 'services', id: 'findings' };

function pathOf({ scan_id }: { scan_id: string }, { field, value }: Value): string {
  const open = field === 'host' ? { open: `host ${value}` } : {};
  return `/scans/${scan_id}/${tabs[field]}${searchText({ q: clickValue('', field, value), ...open })}`;
}
