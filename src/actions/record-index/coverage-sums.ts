import type { HostRow, ResultRow } from '../../domain/result.ts';
import { CoverageSums } from '../../report/model/inventory/coverage.ts';
import { coverageText } from '../../report/model/sentences/leads.ts';
import type { ReportFacts } from '../../report/report-facts.ts';
import { otherTypes } from '../../workspace/record-index/member-table.ts';
import type { Member } from '../../workspace/record-index/record-index.ts';
import type { CoverageRequest, CoverageResponse } from './index-requests.ts';
import type { OpenIndex } from './open-index.ts';
import type { Turns } from './turns.ts';

/** Rows of services and of errors that are read; further ones are counted. */
const maxRead = 1000;
/** Hosts added between two turns. */
const hostsPerTurn = 2000;

/** What a scan has looked at, as a report says it. */
export async function coverageOf(
  open: OpenIndex,
  { summary, warnings, stages }: CoverageRequest,
  turns: Turns,
): Promise<CoverageResponse> {
  const { hosts } = open.index;
  const sums = new CoverageSums();
  let recorded = 0;
  for (let host = 0; host < hosts.count; host++) {
    if (hosts.numbers.present.get(host) === 0) continue;
    recorded += 1;
    sums.addHost(countedHost(open, host));
    if (host % hostsPerTurn === 0) await turns.next();
  }
  const unfinished = await readSome(open, unfinishedPorts(open));
  for (const row of unfinished.rows) if (row?.type === 'port') sums.addPort(row);
  const errors = await readSome(open, errorRows(open));
  for (const row of errors.rows) if (row?.type === 'error') sums.addError(row);
  const coverage = sums.finish({ summary, warnings, stages } as ReportFacts, recorded);
  return {
    ...coverage,
    text: coverageText(coverage),
    unfinishedLeft: coverage.unfinishedLeft + unfinished.left,
    errorsLeft: coverage.errorsLeft + errors.left,
  };
}

/** The same before anything is recorded. */
export function emptyCoverage({ summary, warnings, stages }: CoverageRequest): CoverageResponse {
  const coverage = new CoverageSums().finish({ summary, warnings, stages } as ReportFacts, 0);
  return { ...coverage, text: coverageText(coverage) };
}

/** A host row with the counts of its ports. */
function countedHost({ index }: OpenIndex, number: number): HostRow {
  const { numbers, texts } = index.hosts;
  const count = (name: keyof typeof numbers) => numbers[name].get(number);
  const tcp = {
    open: count('tcpOpen'),
    closed: count('tcpClosed'),
    filtered: count('tcpFiltered'),
    not_tried: count('tcpNotTried'),
  };
  const udp = {
    open: count('udpOpen'),
    closed: count('udpClosed'),
    filtered: count('udpFiltered'),
    not_tried: count('udpNotTried'),
  };
  const hasTcp = Object.values(tcp).some((ports) => ports > 0);
  const hasUdp = Object.values(udp).some((ports) => ports > 0);
  const all = {
    open: tcp.open + udp.open,
    closed: tcp.closed + udp.closed,
    filtered: tcp.filtered + udp.filtered,
    not_tried: tcp.not_tried + udp.not_tried,
  };
  const allOpen = numbers.allOpen.get(number) === 1;
  return {
    type: 'host',
    timestamp: '',
    host: allOpen ? index.pool.text(texts.host.get(number)) : '',
    state: 'up',
    all_ports_open: allOpen,
    ...((hasTcp || hasUdp) && { port_counts: all }),
    ...(hasUdp && { udp_port_counts: udp }),
  };
}

function unfinishedPorts({ index, order }: OpenIndex): Member[] {
  const { unfinished, present } = index.ports.numbers;
  const members: Member[] = [];
  for (const number of order.recordOrder('port'))
    if (unfinished.get(number) === 1 && present.get(number) === 1) members.push({ table: 'port', number });
  return members;
}

function errorRows({ index }: OpenIndex): Member[] {
  const { kind } = index.others.numbers;
  const members: Member[] = [];
  for (let number = 0; number < index.others.count; number++)
    if (otherTypes[kind.get(number)] === 'error') members.push({ table: 'other', number });
  return members;
}

async function readSome(
  { index, source }: OpenIndex,
  members: readonly Member[],
): Promise<{ rows: (ResultRow | null)[]; left: number }> {
  const some = members.slice(0, maxRead);
  const rows = await source.members(some.map((member) => index.placesOf(member)));
  return { rows, left: members.length - some.length };
}
