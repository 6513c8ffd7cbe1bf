import { joinedFindings, portsOf } from '../../workspace/record-index/joined-findings.ts';
import { type MatchCounts, matchedMembers } from '../../workspace/record-index/matched-members.ts';
import { type MemberPage, memberPage } from '../../workspace/record-index/member-list.ts';
import type { Member, RecordIndex } from '../../workspace/record-index/record-index.ts';
import { type RowTotals, totalsOf } from '../../workspace/record-index/row-totals.ts';
import { release } from '../../workspace/record-index/tuple-set.ts';
import type { IndexRequest, RowsRequest, RowsResponse } from './index-requests.ts';
import type { OpenIndex } from './open-index.ts';
import type { Turns } from './turns.ts';

/** A page of the rows that satisfy a query. */
export async function listRows(open: OpenIndex, request: RowsRequest, turns: Turns): Promise<RowsResponse> {
  const { index, order } = open;
  const { query, type, keys, limit } = request;
  const matched = await open.matched(query, turns.next);
  const joined = request.joined && type === 'vulnerability' ? joinedFindings(index, order, matched) : null;
  const page = memberPage(index, order, matched, type, keys, startOf(open, request), limit, joined);
  await turns.next();
  const totals = joined
    ? page.members.map(({ number }) => ({ ports: portsOf(index, joined, number) }))
    : totalsOf(index, order, page.members, query === null ? null : matched);
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
  if (request.kind !== 'rows' || request.query !== null || request.joined) return false;
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
  if (!index.isGrowing) return await firstRows(open, request, share);
  const { type, keys, limit } = request;
  // Nothing here may wait for anything before the rows are read: the index would grow meanwhile.
  const matched = await matchedMembers(index, order, null, async () => undefined);
  const page = memberPage(index, order, matched, type, keys, startOf(open, request), limit);
  const totals = totalsOf(index, order, page.members, null);
  release(matched);
  return await responseOf(open, page, totals, { total: page.total, matches: matched.counts, share });
}

/** A page of a finished record, whose members come in its order. */
async function firstRows(
  open: OpenIndex,
  { type, offset, limit }: RowsRequest,
  share: number,
): Promise<RowsResponse | null> {
  const { index } = open;
  const table = type === 'host' || type === 'port' ? type : 'finding';
  const members: Member[] = [];
  let place = 0;
  for (let number = 0; number < index.tableOf(table).count && members.length < limit; number++) {
    if (!isComplete(index, table, number)) return null;
    if (isRecorded(index, table, number) && place++ >= offset) members.push({ table, number });
  }
  if (members.length < limit) return null;
  const totals = totalsOf(index, open.order, members, null);
  const { hosts, ports, findings } = open.source.expected;
  const ofType = { host: hosts, port: ports, finding: findings }[table];
  const counts = {
    total: Math.max(ofType, offset + limit),
    matches: { ...open.source.expected, others: 0 },
    share,
  };
  return await responseOf(open, { members, offset, total: counts.total }, totals, counts);
}

type Table = 'host' | 'port' | 'finding';

/** Rows of a finished record come host by host: of all hosts but the last one everything is known. */
function isComplete({ hosts, ports, findings }: RecordIndex, table: Table, number: number): boolean {
  const host = table === 'host' ? number : (table === 'port' ? ports : findings).numbers.host.get(number);
  return host < hosts.count - 1;
}

/** Whether a member has a row of its own. */
function isRecorded({ hosts, ports }: RecordIndex, table: Table, number: number): boolean {
  return table === 'finding' || { host: hosts, port: ports }[table].numbers.present.get(number) === 1;
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
