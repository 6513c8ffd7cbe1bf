import type { Data } from '../../api/api-types.ts';
import type { FindingDetail } from '../scan/result-rows.ts';

type Diff = Data<'/api/v1/scans/{scan_id}/diff'>;

export const groups = ['new', 'fixed', 'services', 'hosts', 'not_comparable'] as const;
export type ChangeGroup = (typeof groups)[number];

export const groupNames: Record<ChangeGroup, string> = {
  new: 'New findings',
  fixed: 'Fixed findings',
  services: 'Services changed',
  hosts: 'Hosts came or went',
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
  /** Before and after, or the reason. */
  note: string;
  finding: FindingDetail | null;
}

const reasons: Record<string, string> = {
  out_of_scope: 'not among the targets of the other scan: says nothing about it',
  partial: 'the other scan did not reach it',
  port_not_planned: 'the other scan did not try this port',
  not_evaluated: 'the other scan did not evaluate it',
  record_damaged: 'the other scan lost rows',
};

/** All changes in the order of a reader: new, fixed, services, hosts, not comparable. */
export function changeLines(diff: Diff): ChangeLine[] {
  return [
    ...diff.vulnerabilities.new.map((line) => findingLine(line, 'new')),
    ...diff.vulnerabilities.resolved.map((line) => findingLine(line, 'fixed')),
    ...diff.ports.added.map((line) => portLine(line, 'new')),
    ...diff.ports.changed.map(changedLine),
    ...diff.ports.removed.map((line) => portLine(line, 'fixed')),
    ...diff.hosts.added.map((host) => hostLine(host, 'new', 'responds now')),
    ...diff.hosts.removed.map((host) => hostLine(host, 'fixed', 'responded before, not now')),
    ...(diff.hosts.moved ?? []).map(({ before, after, by }) =>
      hostLine(after, 'changed', `was ${before}: same ${by.map(({ kind }) => kind).join(', ')}`),
    ),
    ...diff.not_comparable.map(notComparableLine),
  ];
}

function findingLine(
  { host, port, protocol, vulnerability }: Diff['vulnerabilities']['new'][number],
  kind: 'new' | 'fixed',
): ChangeLine {
  const finding = vulnerability as unknown as FindingDetail;
  return {
    key: `${kind} ${host} ${placeText(port, protocol)} ${finding.id}`,
    group: kind,
    kind,
    host,
    port: placeText(port, protocol),
    text: `${finding.id} ${finding.title}`,
    note: finding.detected ?? finding.evidence ?? '',
    finding,
  };
}

type PortState = { service: string | null; product: string | null; version: string | null; state: string };

function portLine(line: Diff['ports']['added'][number], kind: 'new' | 'fixed'): ChangeLine {
  return {
    key: `port ${kind} ${line.host} ${line.port}/${line.protocol}`,
    group: 'services',
    kind,
    host: line.host,
    port: `${line.port}/${line.protocol}`,
    text: line.service ?? 'not recognized',
    note: kind === 'new' ? productText(line) : 'was open, not now',
    finding: null,
  };
}

function changedLine({ host, port, protocol, before, after }: Diff['ports']['changed'][number]): ChangeLine {
  return {
    key: `port changed ${host} ${port}/${protocol}`,
    group: 'services',
    kind: 'changed',
    host,
    port: `${port}/${protocol}`,
    text: after.service ?? before.service ?? 'not recognized',
    note: `${productText(before)} → ${productText(after)}`,
    finding: null,
  };
}

function hostLine(host: string, kind: ChangeLine['kind'], note: string): ChangeLine {
  return {
    key: `host ${kind} ${host}`,
    group: 'hosts',
    kind,
    host,
    port: '',
    text: host,
    note,
    finding: null,
  };
}

function notComparableLine({
  host,
  port,
  protocol,
  reason,
  missing_in,
}: Diff['not_comparable'][number]): ChangeLine {
  return {
    key: `not comparable ${host} ${placeText(port, protocol)} ${missing_in}`,
    group: 'not_comparable',
    kind: 'not_comparable',
    host,
    port: placeText(port, protocol),
    text: host,
    note: reasons[reason] ?? reason,
    finding: null,
  };
}

function productText({ product, version, state }: PortState): string {
  return [product, version].filter((part) => part !== null && part !== '').join(' ') || state;
}

function placeText(port: number | null, protocol: string | null): string {
  return port === null ? '' : `${port}/${protocol ?? 'tcp'}`;
}
