import { noFindings, type SeverityCounts, severities } from '../../domain/finding.ts';
import { protocolWords } from './compile-query.ts';
import type { IndexOrder } from './index-order.ts';
import type { MatchedMembers } from './matched-members.ts';
import type { Member, RecordIndex } from './record-index.ts';

/** A service of a host in a list of hosts. */
export interface ListedService {
  port: number;
  protocol: string;
  service?: string;
}

/** Sums of a host, of all its rows. */
export interface ListedHostTotals {
  open_ports: number;
  /** The first ones. */
  services: ListedService[];
  severity_counts: SeverityCounts;
  /** Open ports without a row: the host accepts connections on nearly every port. */
  hidden_ports?: number;
}

export interface ListedPortTotals {
  severity_counts: SeverityCounts;
}

/** What a list adds to a row. */
export interface RowTotals {
  totals?: ListedHostTotals | ListedPortTotals;
  /** Of a host: its ports and findings that satisfy the query. */
  matching?: { ports: number; findings: number };
  /** Of joined findings. */
  ports?: { port: number; protocol: string }[];
}

/** Services of a host in a list. */
const maxServices = 8;

/** The totals of the hosts and ports of a page. @param matched null without a query */
export function totalsOf(
  index: RecordIndex,
  order: IndexOrder,
  members: readonly Member[],
  matched: MatchedMembers | null,
): RowTotals[] {
  const hosts = members.filter(({ table }) => table === 'host').map(({ number }) => number);
  const ports = members.filter(({ table }) => table === 'port').map(({ number }) => number);
  const ofHosts = hosts.length > 0 ? hostTotals(index, order, hosts, matched) : new Map<number, RowTotals>();
  const ofPorts = ports.length > 0 ? portTotals(index, ports) : new Map<number, RowTotals>();
  return members.map(({ table, number }) => {
    if (table === 'host') return ofHosts.get(number) ?? {};
    return table === 'port' ? (ofPorts.get(number) ?? {}) : {};
  });
}

function hostTotals(
  index: RecordIndex,
  order: IndexOrder,
  wanted: readonly number[],
  matched: MatchedMembers | null,
): Map<number, RowTotals> {
  const { hosts, ports, findings } = index;
  const sums = new Map(
    wanted.map((host) => [
      host,
      { ports: [] as number[], severities: noFindings(), matching: { ports: 0, findings: 0 } },
    ]),
  );
  const isWanted = new Uint8Array(hosts.count);
  for (const host of wanted) isWanted[host] = 1;
  const [ofPort, ofFinding] = [ports.numbers.host.values, findings.numbers.host.values];
  const present = ports.numbers.present.values;
  for (let at = 0; at < ports.count; at++) {
    if (isWanted[ofPort[at] as number] === 0 || present[at] === 0) continue;
    const own = sums.get(ofPort[at] as number);
    own?.ports.push(at);
    if (own && matched?.ports[at] === 1) own.matching.ports += 1;
  }
  for (let at = 0; at < findings.count; at++) {
    if (isWanted[ofFinding[at] as number] === 0) continue;
    const own = sums.get(ofFinding[at] as number);
    if (!own) continue;
    count(own.severities, findings.numbers.severity.get(at));
    if (matched?.findings[at] === 1) own.matching.findings += 1;
  }
  const openPorts = order.openPortsOfHost;
  return new Map(
    [...sums].map(([host, own]) => {
      const open = openPorts[host] as number;
      const recorded = own.ports.filter((port) => isOpen(index, port));
      const hidden = open - recorded.length;
      const totals: ListedHostTotals = {
        open_ports: open,
        services: servicesOf(index, recorded),
        severity_counts: own.severities,
        ...(hidden > 0 && { hidden_ports: hidden }),
      };
      return [host, { totals, ...(matched && { matching: own.matching }) }];
    }),
  );
}

function isOpen({ ports, pool }: RecordIndex, port: number): boolean {
  return pool.text(ports.texts.state.get(port)) === 'open';
}

function servicesOf({ ports, pool }: RecordIndex, own: readonly number[]): ListedService[] {
  const { port, protocol } = ports.numbers;
  const place = (number: number) => port.get(number) * 2 + protocol.get(number);
  return own
    .toSorted((a, b) => place(a) - place(b))
    .slice(0, maxServices)
    .map((number) => {
      const service = pool.text(ports.texts.service.get(number));
      return {
        port: port.get(number),
        protocol: protocolWords[protocol.get(number)] ?? 'tcp',
        ...(service !== '' && { service }),
      };
    });
}

function portTotals({ ports, findings }: RecordIndex, wanted: readonly number[]): Map<number, RowTotals> {
  const sums = new Map(wanted.map((port) => [port, noFindings()]));
  const isWanted = new Uint8Array(ports.count);
  for (const port of wanted) isWanted[port] = 1;
  const ofFinding = findings.numbers.port.values;
  for (let at = 0; at < findings.count; at++) {
    const port = (ofFinding[at] as number) - 1;
    if (port < 0 || isWanted[port] === 0) continue;
    const own = sums.get(port);
    if (own) count(own, findings.numbers.severity.get(at));
  }
  return new Map([...sums].map(([port, severity_counts]) => [port, { totals: { severity_counts } }]));
}

function count(counts: SeverityCounts, place: number): void {
  const severity = severities[place];
  if (severity) counts[severity] += 1;
}
