import { PortolanError } from '../../domain/errors.ts';
import { withoutField } from '../../domain/query/query-terms.ts';
import { facetOf } from '../../workspace/record-index/facets.ts';
import { coverageOf, emptyCoverage } from './coverage-sums.ts';
import { explainHost } from './explain-host.ts';
import type { FacetsRequest, FacetsResponse, IndexRequest, IndexResponses } from './index-requests.ts';
import { listRows } from './list-rows.ts';
import type { OpenIndex } from './open-index.ts';
import { rankFixes } from './rank-fixes.ts';
import type { Turns } from './turns.ts';

/** Nothing is recorded yet. */
export function emptyResponse(request: IndexRequest): IndexResponses[keyof IndexResponses] {
  const matches = { hosts: 0, ports: 0, findings: 0, others: 0 };
  switch (request.kind) {
    case 'rows':
      return { records: '[]', total: 0, offset: 0, matches, epoch: '', last: null, share: null };
    case 'facets':
      return { facets: request.fields.map((field) => ({ field, values: [], more: 0 })), matches };
    case 'fixes':
      return { fixes: [], total: 0 };
    case 'explain': {
      const { scanId, endpoint } = request;
      throw new PortolanError('not_found', `The scan ${scanId} has no results of the host ${endpoint.host}.`);
    }
    case 'coverage':
      return emptyCoverage(request);
    case 'prepare':
      return null;
  }
}

/** What an index says to a request. */
export async function respond(
  open: OpenIndex,
  request: IndexRequest,
  turns: Turns,
): Promise<IndexResponses[keyof IndexResponses]> {
  switch (request.kind) {
    case 'rows':
      return await listRows(open, request, turns);
    case 'facets':
      return await listFacets(open, request, turns);
    case 'fixes':
      return await rankFixes(open, request, turns);
    case 'explain':
      return await explainHost(open, request, turns);
    case 'coverage':
      return await coverageOf(open, request, turns);
    case 'prepare':
      return null;
  }
}

async function listFacets(open: OpenIndex, request: FacetsRequest, turns: Turns): Promise<FacetsResponse> {
  const { query, fields, limit } = request;
  const key = JSON.stringify(request);
  const known = open.recall(key) as FacetsResponse | undefined;
  if (known) return known;
  const matched = await open.matched(query, turns.next);
  const response: FacetsResponse = { facets: [], matches: matched.counts };
  for (const field of fields) {
    const own = withoutField(query, field);
    const members = own === query ? matched : await open.matched(own, turns.next);
    response.facets.push(facetOf(open.index, members, field, limit));
    await turns.next();
  }
  open.remember(key, response);
  return response;
}
