import {
  addCounts,
  countsByProtocol,
  doubtOf,
  type ErrorRow,
  type HostPortCounts,
  type HostRow,
  type PortRow,
} from '../../../domain/result.ts';
import type { StageRecord } from '../../../domain/scan.ts';
import { unidentifiedTexts } from '../../../domain/text/banner.ts';
import type { ReportFacts } from '../../report-facts.ts';
import { oneLine } from '../bounded.ts';
import type { Coverage, PortSums } from '../report.ts';

/** Warnings, and errors, of the report. */
const maxNotes = 200;
/** Services of the report that were not read to their end. */
const maxUnfinished = 200;
/** Hosts of the report that accept connections on nearly every port. */
const maxTarpits = 100;
/** Longest message, characters. */
const maxMessageLength = 500;

type Unfinished = Coverage['unfinished'][number];
type Note = Coverage['errors'][number];

/** What was looked at, as far as the rows say. */
export class CoverageSums {
  #tcp: HostPortCounts | undefined;
  #udp: HostPortCounts | undefined;
  readonly #errors: Note[] = [];
  #errorsLeft = 0;
  /** By weight: unidentified, in part, truncated. */
  readonly #unfinished: Unfinished[][] = [[], [], []];
  #unfinishedSeen = 0;
  readonly #tarpits: string[] = [];

  addHost(row: HostRow): void {
    const { tcp, udp } = countsByProtocol(row);
    if (tcp) this.#tcp = addCounts(this.#tcp, tcp);
    if (udp) this.#udp = addCounts(this.#udp, udp);
    if (row.all_ports_open === true && this.#tarpits.length < maxTarpits) this.#tarpits.push(row.host);
  }

  addPort(row: PortRow): void {
    const found = missingOf(row);
    if (!found) return;
    this.#unfinishedSeen += 1;
    const list = this.#unfinished[found.weight];
    const { host, port, protocol } = row;
    if (list && list.length < maxUnfinished)
      list.push({ host, port, protocol, stage: found.stage, missing: found.missing });
  }

  addError({ target, code, message, node }: ErrorRow): void {
    if (this.#errors.length >= maxNotes) this.#errorsLeft += 1;
    else this.#errors.push(noteOf(code, target, node, message));
  }

  /**
   * Stages count all planned pairs, also those of hosts that did not respond or were not reached; but a stage may have
   * probed both protocols.
   */
  #ports(stages: readonly StageRecord[]): Coverage['ports'] {
    const ofHosts = portSums(this.#tcp, this.#udp);
    const ofStages = portSums(stageCounts(stages, false), stageCounts(stages, true));
    if (!ofHosts || !ofStages) return ofHosts ?? ofStages;
    return includes(ofStages.tcp, ofHosts.tcp) && includes(ofStages.udp, ofHosts.udp) ? ofStages : ofHosts;
  }

  finish({ summary, warnings, stages }: ReportFacts, hosts: number): Omit<Coverage, 'text'> {
    const excluded = countOf(summary.excluded);
    const scanned = Math.max(countOf(summary.addresses_scanned), hosts);
    return {
      addresses: { requested: scanned + excluded, responded: hosts, silent: scanned - hosts, excluded },
      ports: this.#ports(stages),
      warnings: warnings
        .slice(0, maxNotes)
        .map(({ code, target, node, message }) => noteOf(code, target, node, message)),
      warningsLeft: Math.max(0, warnings.length - maxNotes),
      errors: this.#errors,
      errorsLeft: this.#errorsLeft,
      ...this.#unfinishedParts(),
      allPortsOpen: this.#tarpits,
    };
  }

  #unfinishedParts(): Pick<Coverage, 'unfinished' | 'unfinishedLeft'> {
    const unfinished = this.#unfinished.flat().slice(0, maxUnfinished);
    return { unfinished, unfinishedLeft: this.#unfinishedSeen - unfinished.length };
  }
}

/** Null if nothing was counted. */
export function portSums(
  tcp: HostPortCounts | undefined,
  udp: HostPortCounts | undefined,
): Coverage['ports'] {
  if (!tcp && !udp) return null;
  const [tcpSums, udpSums] = [sumsOf(tcp), sumsOf(udp)];
  return { tcp: tcpSums, udp: udpSums, all: addSums(tcpSums, udpSums) };
}

/** The sum of the scanners of one protocol; a scanner of TCP says so if it is told to send UDP probes. */
function stageCounts(stages: readonly StageRecord[], udp: boolean): HostPortCounts | undefined {
  const counts = stages
    .filter(({ module_type, method }) => /udp/i.test(`${module_type} ${method ?? ''}`) === udp)
    .flatMap(({ coverage }) => coverage ?? []);
  return counts.length === 0 ? undefined : counts.reduce((sum, each) => addCounts(sum, each));
}

function includes(whole: PortSums, part: PortSums): boolean {
  const names = ['open', 'closed', 'filtered', 'planned'] as const;
  return names.every((name) => whole[name] >= part[name]);
}

function countOf(count: unknown): number {
  return typeof count === 'number' && Number.isFinite(count) && count > 0 ? count : 0;
}

function sumsOf(counts: HostPortCounts | undefined): PortSums {
  const { open, closed, filtered, not_tried } = addCounts(counts);
  const [opened, shut, silent, left] = [open, closed, filtered, not_tried].map(countOf) as Four;
  return {
    open: opened,
    closed: shut,
    filtered: silent,
    notTried: left,
    planned: opened + shut + silent + left,
  };
}

type Four = [number, number, number, number];

function addSums(a: PortSums, b: PortSums): PortSums {
  return {
    open: a.open + b.open,
    closed: a.closed + b.closed,
    filtered: a.filtered + b.filtered,
    notTried: a.notTried + b.notTried,
    planned: a.planned + b.planned,
  };
}

function noteOf(
  code: string,
  target: string | null | undefined,
  node: string | null | undefined,
  message: string,
): Note {
  return {
    code: oneLine(String(code ?? ''), maxMessageLength),
    where: oneLine([target, node].filter(Boolean).join(', '), maxMessageLength),
    message: oneLine(String(message ?? ''), maxMessageLength),
  };
}

/** What is missing of a service; null if nothing is. */
export function missingOf(row: PortRow): { weight: number; stage: string; missing: string } | null {
  const { tls, partial, truncated } = row;
  const reason = doubtOf(row);
  if (reason) {
    const known = row.service ? 'More of it' : 'Service, product and findings';
    const missing = `${unidentifiedTexts.get(reason) ?? 'It was not identified.'} ${known} may be missing.`;
    return { weight: 0, stage: 'identification', missing };
  }
  if (tls?.survey === 'partial') {
    const missing = 'The TLS enumeration ended early. More versions and ciphers may be accepted.';
    return { weight: 1, stage: 'TLS', missing };
  }
  if (partial === true)
    return {
      weight: 1,
      stage: 'banner',
      missing: 'The connection was lost before the response was complete.',
    };
  if (truncated === true)
    return {
      weight: 2,
      stage: 'banner',
      missing: 'The response was longer than the limit. Its end was not read.',
    };
  return null;
}
