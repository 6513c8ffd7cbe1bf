import type { Query } from '../../domain/query/query.ts';
import { tuplesOf } from './compile-query.ts';
import type { IndexOrder } from './index-order.ts';
import type { RecordIndex } from './record-index.ts';
import { freed } from './tuple-set.ts';

/** Members of a record that belong to a tuple which satisfies a query: marks by number, and how many. */
export interface MatchedMembers {
  hosts: Uint8Array;
  ports: Uint8Array;
  findings: Uint8Array;
  others: Uint8Array;
  counts: MatchCounts;
}

/** Only members with a row of their own. */
export interface MatchCounts {
  hosts: number;
  ports: number;
  findings: number;
  others: number;
}

/** @param turn called between steps of some milliseconds; throws to end the work */
export async function matchedMembers(
  index: RecordIndex,
  order: IndexOrder,
  query: Query | null,
  turn: () => Promise<void>,
): Promise<MatchedMembers> {
  const set = await tuplesOf(index, query, turn);
  const { hosts, ports, findings } = index;
  const { bare } = order;
  const members = {
    hosts: joined(set.hosts, bare.hosts),
    ports: joined(set.ports, bare.ports),
    findings: set.findings,
    others: set.others,
  };
  for (const marks of [set.hosts, set.ports]) freed(marks);
  const [hostOfPort, hostOfFinding] = [ports.numbers.host.values, findings.numbers.host.values];
  const portOfFinding = findings.numbers.port.values;
  for (let at = 0; at < findings.count; at++) {
    if (members.findings[at] === 0) continue;
    members.hosts[hostOfFinding[at] as number] = 1;
    const port = portOfFinding[at] as number;
    if (port > 0) members.ports[port - 1] = 1;
  }
  for (let at = 0; at < ports.count; at++)
    if (members.ports[at] === 1) members.hosts[hostOfPort[at] as number] = 1;
  await turn();
  const recorded = {
    ...members,
    hosts: joined(members.hosts, hosts.numbers.present.values),
    ports: joined(members.ports, ports.numbers.present.values),
  };
  for (const marks of [members.hosts, members.ports]) freed(marks);
  return {
    ...recorded,
    counts: {
      hosts: countOf(recorded.hosts),
      ports: countOf(recorded.ports),
      findings: countOf(recorded.findings),
      others: countOf(recorded.others),
    },
  };
}

function joined(marks: Uint8Array, others: ArrayLike<number>): Uint8Array {
  const both = new Uint8Array(marks.length);
  for (let at = 0; at < both.length; at++) both[at] = (marks[at] as number) & (others[at] as number);
  return both;
}

function countOf(marks: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < marks.length; at++) count += marks[at] as number;
  return count;
}
