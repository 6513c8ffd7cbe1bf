import type { IndexOrder } from './index-order.ts';
import type { JoinedFindings } from './joined-findings.ts';
import type { MatchedMembers } from './matched-members.ts';
import { otherTypes } from './member-table.ts';
import type { Member, RecordIndex } from './record-index.ts';
import { isSorted, type SortKey, sortedMembers } from './sort-keys.ts';

/** What a page begins with: a place, or the member behind another one. */
export interface PageStart {
  offset: number;
  /** Last member of the page before; null = begin at the offset. */
  after: Member | null;
}

/** A part of a list of members. */
export interface MemberPage {
  members: Member[];
  /** Place of the first. */
  offset: number;
  total: number;
}

/** @param type absent = all types, in record order @param joined of findings: equal ones are one */
export function memberPage(
  index: RecordIndex,
  order: IndexOrder,
  matched: MatchedMembers,
  type: string | undefined,
  keys: readonly SortKey[],
  start: PageStart,
  limit: number,
  joined: JoinedFindings | null = null,
): MemberPage {
  if (type === undefined) return recordPage(index, order, matched, start.offset, limit);
  if (isSorted(type)) {
    const table = type === 'vulnerability' ? 'finding' : type;
    const marks = { host: matched.hosts, port: matched.ports, finding: joined?.marks ?? matched.findings }[
      table
    ];
    return pageOf(table, sortedMembers(index, order, type, keys), marks, start, limit);
  }
  const { kind } = index.others.numbers;
  const code = otherTypes.indexOf(type as (typeof otherTypes)[number]);
  const marks = matched.others.map((mark, number) => (kind.get(number) === code ? mark : 0));
  return pageOf('other', Uint32Array.from(marks.keys()), marks, start, limit);
}

/** The marked members of an order from a place on. */
function pageOf(
  table: Member['table'],
  order: Uint32Array,
  marks: Uint8Array,
  { offset, after }: PageStart,
  limit: number,
): MemberPage {
  const members: Member[] = [];
  let total = 0;
  let first = offset;
  for (const number of order) {
    // The member behind which the page begins may no longer belong to the list.
    if (after?.table === table && after.number === number) {
      first = total + (marks[number] as number);
      members.length = 0;
    }
    if (marks[number] === 0) continue;
    if (total >= first && members.length < limit) members.push({ table, number });
    total += 1;
  }
  return { members, offset: Math.min(first, total), total };
}

/** All rows as the record has them: other rows, then each host with its ports and their findings. */
function recordPage(
  index: RecordIndex,
  order: IndexOrder,
  matched: MatchedMembers,
  offset: number,
  limit: number,
): MemberPage {
  const { counts } = matched;
  const total = counts.hosts + counts.ports + counts.findings + counts.others;
  const members = otherMembers(index, matched).slice(offset, offset + limit);
  const first = Math.max(0, offset - counts.others);
  const wanted = limit - members.length;
  if (wanted > 0) members.push(...hostMembers(index, order, matched, first, wanted));
  return { members, offset: Math.min(offset, total), total };
}

function otherMembers({ others }: RecordIndex, matched: MatchedMembers): Member[] {
  return otherTypes.flatMap((_type, code) => {
    const members: Member[] = [];
    for (let number = 0; number < others.count; number++)
      if (matched.others[number] === 1 && others.numbers.kind.get(number) === code)
        members.push({ table: 'other', number });
    return members;
  });
}

/** The matching rows of hosts from a place on. */
function hostMembers(
  index: RecordIndex,
  order: IndexOrder,
  matched: MatchedMembers,
  offset: number,
  limit: number,
): Member[] {
  const perHost = rowsPerHost(index, matched);
  const groups = new Map<number, PlacedMember[]>();
  let [before, counted] = [0, 0];
  for (const host of order.recordOrder('host')) {
    const rows = perHost[host] as number;
    if (rows === 0) continue;
    if (groups.size === 0 && counted + rows <= offset) {
      counted += rows;
      continue;
    }
    if (groups.size === 0) before = counted;
    if (counted >= offset + limit) break;
    counted += rows;
    groups.set(
      host,
      matched.hosts[host] === 1 ? [{ place: 0, member: { table: 'host', number: host } }] : [],
    );
  }
  gatherRows(index, matched, groups);
  const rows = [...groups.values()].flatMap((group) => group.toSorted((a, b) => compare(index, a, b)));
  return rows.slice(offset - before, offset - before + limit).map(({ member }) => member);
}

/** A member and its place within its host. */
interface PlacedMember {
  place: number;
  member: Member;
}

/** Behind all ports. */
const withoutPort = 2 * 65_536 + 2;

function rowsPerHost({ hosts, ports, findings }: RecordIndex, matched: MatchedMembers): Uint32Array {
  const rows = new Uint32Array(hosts.count);
  for (let host = 0; host < rows.length; host++) rows[host] = matched.hosts[host] as number;
  const [ofPort, ofFinding] = [ports.numbers.host.values, findings.numbers.host.values];
  for (let at = 0; at < ports.count; at++)
    rows[ofPort[at] as number] = (rows[ofPort[at] as number] as number) + (matched.ports[at] as number);
  for (let at = 0; at < findings.count; at++)
    rows[ofFinding[at] as number] =
      (rows[ofFinding[at] as number] as number) + (matched.findings[at] as number);
  return rows;
}

function gatherRows(
  { hosts, ports, findings }: RecordIndex,
  matched: MatchedMembers,
  groups: ReadonlyMap<number, PlacedMember[]>,
): void {
  const wanted = new Uint8Array(hosts.count);
  for (const host of groups.keys()) wanted[host] = 1;
  const placeOf = (port: number) => (ports.numbers.port.get(port) + 1) * 2 + ports.numbers.protocol.get(port);
  for (let number = 0; number < ports.count; number++) {
    const host = ports.numbers.host.get(number);
    if (matched.ports[number] === 1 && wanted[host] === 1)
      groups.get(host)?.push({ place: placeOf(number), member: { table: 'port', number } });
  }
  for (let number = 0; number < findings.count; number++) {
    const host = findings.numbers.host.get(number);
    if (matched.findings[number] === 0 || wanted[host] === 0) continue;
    const port = findings.numbers.port.get(number);
    const place = port === 0 ? withoutPort : placeOf(port - 1);
    groups.get(host)?.push({ place, member: { table: 'finding', number } });
  }
}

/** A host, its ports, each followed by its findings by their ID. */
function compare({ findings, pool }: RecordIndex, a: PlacedMember, b: PlacedMember): number {
  if (a.place !== b.place) return a.place - b.place;
  const isFinding = (placed: PlacedMember) => Number(placed.member.table === 'finding');
  const order = isFinding(a) - isFinding(b);
  if (order !== 0 || isFinding(a) === 0) return order;
  const idOf = ({ member }: PlacedMember) => pool.text(findings.texts.id.get(member.number));
  const [first, second] = [idOf(a), idOf(b)];
  return first < second ? -1 : first > second ? 1 : 0;
}
