import { type MatchCounts, matchedMembers } from '../../workspace/record-index/matched-members.ts';
import { type MemberPage, memberPage } from '../../workspace/record-index/member-list.ts';
import type { Member, RecordIndex } from '../../workspace/record-index/record-index.ts';
import { type RowTotals, totalsOf } from '../../workspace/record-index/row-totals.ts';
import type { IndexRequest, RowsRequest, RowsResponse } from './index-requests.ts';
import type { OpenIndex } from './open-index.ts';
import type { Turns } from './turns.ts';

/** A page of the rows that satisfy a query. */
export async function listRows(open: OpenIndex, request: RowsRequest, turns: Turns): Promise<RowsResponse> {
  const { index, order } = open;
  const { query, type, keys, limit } = request;
  const matched = await open.matched(query, turns.next);
  const page = memberPage(index, order, matched, type, keys, startOf(open, request), limit);
  await turns.next();
  const totals = totalsOf(index, order, page.members, query === null ? null : matched);
  const counts = { total: page.total, matches: matched.counts, share: null };
  return await responseOf(open, page, totals, counts);
}

/** Fields whose ascending order is that of the record. */
const fieldOfOrder: Partial<Record<string, string>> = {
  host: 'address',
  port: 'host',
  vulnerability: 'host',
};

/** Whether a page is a part of all rows of a type in the order of the record. */
export function isInRecordOrder(request: IndexRequest): request is RowsRequest {
  if (request.kind !== 'rows' || request.query !== null) return false;
  const { type = '', keys } = request;
  const field = fieldOfOrder[type];
  if (field === undefined || keys.length > 1) return false;
  return keys.every((key) => key.field === field && !key.descending);
}

/**
 * A page in the order of the record from an index that is being built.
 * @param share of the record that is in it
 * @returns null if that is too little for the page
 */
export async function earlyRows(
  open: OpenIndex,
  request: RowsRequest,
  share: number,
): Promise<RowsResponse | null> {
  const { index, order } = open;
  const { type, keys, offset, limit } = request;
  const members = type === 'host' ? index.hosts : type === 'port' ? index.ports : index.findings;
  if (!index.isGrowing && members.count < offset + limit) return null;
  // Nothing here may wait for anything before the rows are read: the index would grow meanwhile.
  const matched = await matchedMembers(index, order, null, async () => undefined);
  const page = memberPage(index, order, matched, type, keys, startOf(open, request), limit);
  const totals = totalsOf(index, order, page.members, null);
  if (index.isGrowing)
    return await responseOf(open, page, totals, { total: page.total, matches: matched.counts, share });
  const isWhole = page.members.length === limit && page.members.every((member) => isComplete(index, member));
  if (!isWhole) return null;
  const { hosts, ports, findings } = open.source.expected;
  const ofType = type === 'host' ? hosts : type === 'port' ? ports : findings;
  const total = Math.max(ofType, page.offset + page.members.length);
  const matches = { hosts, ports, findings, others: matched.counts.others };
  return await responseOf(open, page, totals, { total, matches, share });
}

/** Rows of a finished record come host by host: of all hosts but the last one everything is known. */
function isComplete({ hosts, ports, findings }: RecordIndex, { table, number }: Member): boolean {
  const host = table === 'host' ? number : (table === 'port' ? ports : findings).numbers.host.get(number);
  return host < hosts.count - 1;
}

function startOf({ epoch }: OpenIndex, { offset, after }: RowsRequest) {
  return { offset, after: after?.epoch === epoch ? after.member : null };
}

async function responseOf(
  { index, source, epoch }: OpenIndex,
  { members, offset }: MemberPage,
  totals: readonly RowTotals[],
  counts: { total: number; matches: MatchCounts; share: number | null },
): Promise<RowsResponse> {
  const rows = await source.members(members.map((member) => index.placesOf(member)));
  const texts = rows.flatMap((row, at) => (row === null ? [] : JSON.stringify({ ...row, ...totals[at] })));
  return { records: `[${texts.join()}]`, ...counts, offset, epoch, last: members.at(-1) ?? null };
}
