import type { RecordIndex } from './record-index.ts';

/**
 * Marks (1 or 0) for tuples of a record: those with a finding by the finding, those of a port without findings by the
 * port, those of a host alone by the host, and the other rows. Ports and hosts that are part of another tuple have a
 * mark too, without a meaning.
 */
export interface TupleSet {
  findings: Uint8Array;
  ports: Uint8Array;
  hosts: Uint8Array;
  others: Uint8Array;
}

type Part = keyof TupleSet;
const parts: readonly Part[] = ['findings', 'ports', 'hosts', 'others'];

/** A set with the same mark everywhere. */
export function uniformSet(index: RecordIndex, mark: 0 | 1): TupleSet {
  const filled = (count: number) => new Uint8Array(count).fill(mark);
  return {
    findings: filled(index.findings.count),
    ports: filled(index.ports.count),
    hosts: filled(index.hosts.count),
    others: filled(index.others.count),
  };
}

/** Frees the memory of a set that nobody uses any more: waiting for its collection, a thread grows to a multiple. */
export function release(set: TupleSet): void {
  for (const part of parts) freed(set[part]);
}

/** Frees the memory of an array that nobody uses any more. */
export function freed({ buffer }: Uint8Array | Uint32Array): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}

/** Changes the first set to those in both. */
export function intersect(into: TupleSet, other: TupleSet): void {
  for (const part of parts) {
    const [marks, others] = [into[part], other[part]];
    for (let at = 0; at < marks.length; at++) marks[at] = (marks[at] as number) & (others[at] as number);
  }
}

/** Changes the first set to those in one of the two. */
export function unite(into: TupleSet, other: TupleSet): void {
  for (const part of parts) {
    const [marks, others] = [into[part], other[part]];
    for (let at = 0; at < marks.length; at++) marks[at] = (marks[at] as number) | (others[at] as number);
  }
}

/** Changes the set to those that were not in it. */
export function complement(set: TupleSet): void {
  for (const part of parts) {
    const marks = set[part];
    for (let at = 0; at < marks.length; at++) marks[at] = 1 - (marks[at] as number);
  }
}

/** The tuples whose host is marked. */
export function setOfHosts(index: RecordIndex, hosts: Uint8Array): TupleSet {
  const { findings, ports, others } = index;
  return {
    hosts,
    ports: marksOfOwners(hosts, ports.numbers.host.values, ports.count),
    findings: marksOfOwners(hosts, findings.numbers.host.values, findings.count),
    others: new Uint8Array(others.count),
  };
}

/** The tuples whose port is marked. @param absent mark of those without a port */
export function setOfPorts(index: RecordIndex, ports: Uint8Array, absent: 0 | 1): TupleSet {
  const { findings, hosts, others } = index;
  const owner = findings.numbers.port.values;
  const marks = new Uint8Array(findings.count);
  for (let at = 0; at < marks.length; at++) {
    const port = owner[at] as number;
    marks[at] = port === 0 ? absent : (ports[port - 1] as number);
  }
  return {
    ports,
    findings: marks,
    hosts: new Uint8Array(hosts.count).fill(absent),
    others: new Uint8Array(others.count),
  };
}

/** The tuples whose finding is marked. @param absent mark of those without a finding */
export function setOfFindings(index: RecordIndex, findings: Uint8Array, absent: 0 | 1): TupleSet {
  const { ports, hosts, others } = index;
  return {
    findings,
    ports: new Uint8Array(ports.count).fill(absent),
    hosts: new Uint8Array(hosts.count).fill(absent),
    others: new Uint8Array(others.count),
  };
}

function marksOfOwners(owners: Uint8Array, ownerOf: ArrayLike<number>, count: number): Uint8Array {
  const marks = new Uint8Array(count);
  for (let at = 0; at < count; at++) marks[at] = owners[ownerOf[at] as number] as number;
  return marks;
}
