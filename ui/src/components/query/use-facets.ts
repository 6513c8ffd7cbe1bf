import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ApiError } from '../../api/api-error.ts';
import { requestData } from '../../api/request.ts';
import type { Matches } from '../table/table-props.ts';
import type { FieldValue } from './query-edit.ts';

export interface FacetValue {
  /** Null for rows without one. */
  value: FieldValue;
  count: number;
}

export interface Facet {
  field: string;
  values: readonly FacetValue[];
  /** Values beyond those listed. */
  more: number;
}

export interface FacetList {
  facets: readonly {
    field: string;
    values: readonly FacetValue[];
    more: number | boolean;
  }[];
  matches: Matches;
}

interface Options {
  fields: readonly string[];
  limit: number;
  revision?: number | string;
  enabled?: boolean;
}

/** Values and counts of fields under a query. While another query loads, those of the former stay. */
export function useFacets(
  scanId: string,
  q: string,
  { fields, limit, revision = 0, enabled = true }: Options,
) {
  const { data, error, isPending } = useQuery<FacetList, ApiError>({
    queryKey: ['/api/v1/scans/{scan_id}/facets', { scan_id: scanId }, { q, fields, limit }, revision],
    queryFn: ({ signal }) => fetchFacets(scanId, { q, fields, limit }, signal),
    enabled,
    placeholderData: keepPreviousData,
  });
  return { facets: data?.facets.map(readFacet), matches: data?.matches, error, isPending };
}

/** Values and counts of fields under a query. @throws ApiError */
export function fetchFacets(
  scanId: string,
  { q, fields, limit }: { q: string; fields: readonly string[]; limit: number },
  signal: AbortSignal,
): Promise<FacetList> {
  const query = { ...(q !== '' && { q }), fields: fields.join(','), limit };
  return requestData<FacetList>(
    'GET',
    '/api/v1/scans/{scan_id}/facets',
    { path: { scan_id: scanId }, query },
    signal,
  );
}

function readFacet({ field, values, more }: FacetList['facets'][number]): Facet {
  return { field, values, more: Number(more) };
}
