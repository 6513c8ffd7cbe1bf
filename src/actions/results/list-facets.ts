import type { FieldProblem } from '../../domain/errors.ts';
import type { FieldName } from '../../domain/query/query-fields.ts';
import type { Scan } from '../../domain/scan.ts';
import type { ScanRecord } from '../../workspace/record/scan-record.ts';
import { defaultFacets, type Facet, facetFields } from '../../workspace/record-index/facets.ts';
import { rejectProblems } from '../paging/list-page.ts';
import type { RecordIndexes } from '../record-index/record-indexes.ts';
import { type Matches, readQuery } from './query-records.ts';

export interface FacetsQuery {
  q?: string | undefined;
  /** Comma list; a default selection without it. */
  fields?: string | undefined;
  limit?: number | undefined;
}

export interface FacetList {
  facets: Facet[];
  matches: Matches;
  /** Of the index of an ended scan that is being built; absent = all of it. */
  index_share?: number;
}

/** Values of a field in a response where the client names no limit. */
export const defaultFacetLimit = 20;
/** Maximum number of values of a field in a response. */
export const maxFacetLimit = 200;

/**
 * The most frequent values of some fields among the records that satisfy a query.
 * @throws PortolanError `invalid_request`, `timeout`
 */
export async function listFacets(
  scan: Scan,
  record: ScanRecord,
  query: FacetsQuery,
  indexes: RecordIndexes,
  signal?: AbortSignal,
): Promise<FacetList> {
  const problems: FieldProblem[] = [];
  const parsed = readQuery(query.q, problems);
  const fields = readFields(query.fields, problems);
  rejectProblems(problems);
  const limit = Math.min(query.limit ?? defaultFacetLimit, maxFacetLimit);
  const { facets, matches, share } = await indexes.request(
    indexes.scan(scan.scan_id, record, scan.status),
    { kind: 'facets', query: parsed, fields, limit },
    signal,
  );
  const { hosts, ports, findings } = matches;
  return {
    facets,
    matches: { hosts, ports, findings },
    ...(share !== undefined && { index_share: share }),
  };
}

function readFields(text: string | undefined, problems: FieldProblem[]): readonly FieldName[] {
  if (text === undefined) return defaultFacets;
  const names = [...new Set(text.split(','))] as FieldName[];
  const wrong = names.find((name) => !facetFields.includes(name));
  if (wrong !== undefined)
    problems.push({
      field: 'fields',
      reason: `has no field ${JSON.stringify(wrong.slice(0, 40))}; one of ${facetFields.join(', ')}`,
    });
  return names;
}
