import { byWorst, urgencyOf } from '../../../../src/domain/finding-order.ts';
import type { Data } from '../../api/api-types.ts';
import type { FindingDetail } from '../scan/result-rows.ts';
import { type NotComparable, notComparableLines } from './not-comparable.ts';
import { differenceOf, type PortValues, productText, type ValueChange } from './port-values.ts';

export type Diff = Data<'/api/v1/scans/{scan_id}/diff'>;

export const groups = ['new', 'fixed', 'services', 'hosts', 'not_comparable'] as const;
export type ChangeGroup = (typeof groups)[number];

export const groupNames: Record<ChangeGroup, string> = {
  new: 'New findings',
  fixed: 'Fixed findings',
  services: 'Services changed',
  hosts: 'Hosts new or gone',
  not_comparable: 'Not comparable',
};

/** One change as a row. */
export interface ChangeLine {
  key: string;
  group: ChangeGroup;
  kind: 'new' | 'fixed' | 'changed' | 'not_comparable';
  host: string;
  /** `443/tcp`; empty for a host. */
  port: string;
  text: string;
  /** The reason, in words. */
  note: string;
  /** Before and after, where the row is about a value. */
  change: ValueChange | null;
  finding: FindingDetail | null;
  /** Why it is fixed, in a word: `changed`, `closed`, `gone`; empty where the finding says nothing of it. */
  outcome: string;
  /** The scan that has it, and the key of its drawer. */
  open: { side: 'before' | 'after'; tab: 'findings' | 'services' | 'hosts'; key: string };
}

/** All changes in the order of a reader: new, fixed, services, hosts, not comparable. */
export function changeLines(diff: Diff): ChangeLine[] {
  const causes = causesOf(diff);
  return [
    ...worstFirst(diff.vulnerabilities.new.map((line) => newFinding(line, causes))),
    ...worstFirst(diff.vulnerabilities.resolved.map((line) => fixedFinding(line, causes))),
    ...diff.ports.added.map((line) => portLine(line, 'new', productText(line))),
    ...diff.ports.changed.map(changedPort),
    ...diff.ports.removed.map((line) => portLine(line, 'fixed', `was ${productText(line)}, no longer open`)),
    ...diff.hosts.added.map((host) => hostLine(host, 'new', 'responds now, not before')),
    ...diff.hosts.removed.map((host) => hostLine(host, 'fixed', 'responded before, not now')),
    ...(diff.hosts.moved ?? []).map(movedHost),
    ...notComparableLines(diff).map(notComparable),
  ];
}

/** The order of the scan among equals. */
function worstFirst(lines: ChangeLine[]): ChangeLine[] {
  return lines.sort((a, b) =>
    a.finding && b.finding ? byWorst(urgencyOf(a.finding), urgencyOf(b.finding)) : 0,
  );
}

/** What happened to services and hosts: it explains what happened to their findings. */
interface Causes {
  added: ReadonlyMap<string, PortValues>;
  removed: ReadonlyMap<string, PortValues>;
  changed: ReadonlyMap<string, ValueChange | null>;
  cameHosts: ReadonlySet<string>;
  wentHosts: ReadonlySet<string>;
}

function causesOf({ ports, hosts }: Diff): Causes {
  const place = (line: { host: string; port: number; protocol: string }) =>
    `${line.host} ${line.port}/${line.protocol}`;
  return {
    added: new Map(ports.added.map((line) => [place(line), line])),
    removed: new Map(ports.removed.map((line) => [place(line), line])),
    changed: new Map(ports.changed.map((line) => [place(line), differenceOf(line.before, line.after)])),
    cameHosts: new Set(hosts.added),
    wentHosts: new Set(hosts.removed),
  };
}

type ListedFinding = Diff['vulnerabilities']['new'][number];

function newFinding(line: ListedFinding, causes: Causes): ChangeLine {
  const place = `${line.host} ${placeText(line.port, line.protocol)}`;
  const service = causes.added.get(place);
  const change = causes.changed.get(place) ?? null;
  const note = causes.cameHosts.has(line.host)
    ? 'the host responds since'
    : line.by_new_check
      ? 'new, by a new check'
      : service
        ? `new service: ${productText(service)}`
        : change
          ? ''
          : factOf(line);
  return { ...findingLine(line, 'new'), note, change };
}

function fixedFinding(line: ListedFinding, causes: Causes): ChangeLine {
  const place = `${line.host} ${placeText(line.port, line.protocol)}`;
  const change = causes.changed.get(place) ?? null;
  const found = findingLine(line, 'fixed');
  if (causes.wentHosts.has(line.host))
    return { ...found, note: 'the host does not respond now', outcome: 'gone' };
  if (causes.removed.has(place)) return { ...found, note: 'the port is no longer open', outcome: 'closed' };
  if (change) return { ...found, change, outcome: 'changed' };
  return { ...found, note: factOf(line) === '' ? '' : `before: ${factOf(line)}` };
}

/** What was seen: the version, else the evidence. */
function factOf({ vulnerability }: ListedFinding): string {
  const { detected, evidence } = vulnerability as unknown as FindingDetail;
  return detected ?? evidence ?? '';
}

function findingLine(
  { host, port, protocol, vulnerability }: ListedFinding,
  kind: 'new' | 'fixed',
): ChangeLine {
  const finding = vulnerability as unknown as FindingDetail;
  const place = placeText(port, protocol);
  return {
    key: `${kind} ${host} ${place} ${finding.id}`,
    group: kind,
    kind,
    host,
    port: place,
    text: finding.title,
    note: '',
    change: null,
    finding,
    outcome: '',
    open: {
      side: kind === 'new' ? 'after' : 'before',
      tab: 'findings',
      key: `finding ${host} ${place || 'host'} ${finding.id}`,
    },
  };
}

type ListedPort = Diff['ports']['added'][number];

function portLine(line: ListedPort, kind: 'new' | 'fixed', note: string): ChangeLine {
  const place = `${line.port}/${line.protocol}`;
  return {
    key: `port ${kind} ${line.host} ${place}`,
    group: 'services',
    kind,
    host: line.host,
    port: place,
    text: line.service ?? 'not recognized',
    note,
    change: null,
    finding: null,
    outcome: '',
    open: { side: kind === 'new' ? 'after' : 'before', tab: 'services', key: `port ${line.host} ${place}` },
  };
}

function changedPort({ host, port, protocol, before, after }: Diff['ports']['changed'][number]): ChangeLine {
  const line = portLine({ host, port, protocol, ...after }, 'new', '');
  const text = after.service ?? before.service ?? 'not recognized';
  return {
    ...line,
    key: `port changed ${host} ${port}/${protocol}`,
    kind: 'changed',
    text,
    change: differenceOf(before, after),
  };
}

function hostLine(host: string, kind: ChangeLine['kind'], note: string): ChangeLine {
  return {
    key: `host ${kind} ${host}`,
    group: 'hosts',
    kind,
    host,
    port: '',
    text: 'Host',
    note,
    change: null,
    finding: null,
    outcome: '',
    open: { side: kind === 'fixed' ? 'before' : 'after', tab: 'hosts', key: `host ${host}` },
  };
}

function movedHost({ before, after, by }: NonNullable<Diff['hosts']['moved']>[number]): ChangeLine {
  const note = `known by its ${by.map(({ kind }) => kind.replaceAll('_', ' ')).join(', ')}`;
  const change = { label: 'address', before, after };
  return { ...hostLine(after, 'changed', note), text: 'Host moved', change };
}

function notComparable({ host, items, note, side, key }: NotComparable): ChangeLine {
  return {
    ...hostLine(host, 'not_comparable', note),
    key,
    group: 'not_comparable',
    text: items,
    open: { side, tab: 'hosts', key: `host ${host}` },
  };
}

function placeText(port: number | null, protocol: string | null): string {
  return port === null ? '' : `${port}/${protocol ?? 'tcp'}`;
}
