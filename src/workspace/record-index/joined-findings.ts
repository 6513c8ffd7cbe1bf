import { protocolWords } from './compile-query.ts';
import type { IndexOrder } from './index-order.ts';
import type { MatchedMembers } from './matched-members.ts';
import type { RecordIndex } from './record-index.ts';

/** Equal findings of a host: one ID, severity and class, each at a port. */
export interface JoinedFindings {
  /** The first of each kind and host. */
  marks: Uint8Array;
  /** By finding: the next equal one and 1 more; 0 = none. */
  next: Uint32Array;
}

export function joinedFindings(
  { findings }: RecordIndex,
  order: IndexOrder,
  matched: MatchedMembers,
): JoinedFindings {
  const { count, numbers, texts } = findings;
  const [marks, next] = [new Uint8Array(count), new Uint32Array(count)];
  const last = new Map<number, number>();
  let host = -1;
  // Findings of one host follow each other.
  for (const number of order.recordOrder('finding')) {
    if (matched.findings[number] === 0) continue;
    if (numbers.host.get(number) !== host) last.clear();
    host = numbers.host.get(number);
    const hasPort = numbers.port.get(number) === 0 ? 0 : 1;
    const kind = (numbers.severity.get(number) * 8 + numbers.class.get(number)) * 2 + hasPort;
    const key = texts.id.get(number) * 256 + kind;
    const before = last.get(key);
    if (before === undefined) marks[number] = 1;
    else next[before] = number + 1;
    last.set(key, number);
  }
  return { marks, next };
}

/** Ports of a finding and of those that are equal; empty for one of the host itself. */
export function portsOf(
  { findings, ports }: RecordIndex,
  { next }: JoinedFindings,
  first: number,
): { port: number; protocol: string }[] {
  const found: { port: number; protocol: string }[] = [];
  for (let at = first; at >= 0; at = (next[at] as number) - 1) {
    const port = findings.numbers.port.get(at) - 1;
    if (port < 0) break;
    const { port: number, protocol } = ports.numbers;
    found.push({ port: number.get(port), protocol: protocolWords[protocol.get(port)] ?? 'tcp' });
  }
  return found;
}
