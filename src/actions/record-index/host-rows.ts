import type { Query } from '../../domain/query/query.ts';
import type { ResultRow } from '../../domain/result.ts';
import type { Member } from '../../workspace/record-index/record-index.ts';
import type { PortEndpoint } from '../results/explain-port.ts';
import type { OpenIndex } from './open-index.ts';
import type { Turns } from './turns.ts';

interface HostRequest extends PortEndpoint {
  maxPorts: number;
  maxFindings: number;
}

interface HostRows {
  rows: ResultRow[];
  /** Rows beyond the limits. */
  leftOut: number;
}

/** The rows of the first host with an address or name: the host, its ports, its findings, as `explain` reads them. */
export async function rowsOfHost(open: OpenIndex, request: HostRequest, turns: Turns): Promise<HostRows> {
  const { index, order } = open;
  const { hosts } = await open.matched(hostQuery(request.host), turns.next);
  const number = order.recordOrder('host').find((host) => hosts[host] === 1);
  if (number === undefined) return { rows: [], leftOut: 0 };
  const ports = portsOf(open, number, request);
  const findings = findingsOf(open, number, request);
  const members: Member[] = [
    { table: 'host', number },
    ...ports.slice(0, request.maxPorts).map((port): Member => ({ table: 'port', number: port })),
    ...findings
      .slice(0, request.maxFindings)
      .map((finding): Member => ({ table: 'finding', number: finding })),
  ];
  const rows = await open.source.members(members.map((member) => index.placesOf(member)));
  const leftOut =
    Math.max(0, ports.length - request.maxPorts) + Math.max(0, findings.length - request.maxFindings);
  return { rows: rows.filter((row) => row !== null), leftOut };
}

function hostQuery(host: string): Query {
  const value = { kind: 'text', text: host, match: 'whole' } as const;
  return { kind: 'condition', field: 'host', operator: ':', values: [value], from: 0, to: 0 };
}

function portsOf({ index, order }: OpenIndex, host: number, request: HostRequest): number[] {
  const { numbers } = index.ports;
  const found: number[] = [];
  for (let port = 0; port < index.ports.count; port++)
    if (numbers.host.get(port) === host && numbers.present.get(port) === 1 && isMeant(index, port, request))
      found.push(port);
  const { ranks } = order.portPlaces;
  return found.sort((a, b) => (ranks[a] as number) - (ranks[b] as number));
}

function findingsOf({ index }: OpenIndex, host: number, request: HostRequest): number[] {
  const { numbers } = index.findings;
  const found: number[] = [];
  for (let finding = 0; finding < index.findings.count; finding++) {
    if (numbers.host.get(finding) !== host) continue;
    const port = numbers.port.get(finding) - 1;
    if (request.port === null || (port >= 0 && isMeant(index, port, request))) found.push(finding);
  }
  return found;
}

function isMeant({ ports }: OpenIndex['index'], number: number, { port, protocol }: HostRequest): boolean {
  if (port === null) return true;
  const udp = ports.numbers.protocol.get(number) === 1;
  return ports.numbers.port.get(number) === port && (protocol === null || (protocol === 'udp') === udp);
}
