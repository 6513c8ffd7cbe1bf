import type { ReactNode } from 'react';
import { countsAs } from '../../../../src/domain/finding-order.ts';
import { ClassMark } from '../../components/marks/class-mark.tsx';
import { Exploited } from '../../components/marks/exploited.tsx';
import { SeverityCounts } from '../../components/marks/severity-counts.tsx';
import { SeverityMark } from '../../components/marks/severity-mark.tsx';
import { ValueMenu } from '../../components/query/value-menu.tsx';
import type { Column } from '../../components/table/table-props.ts';
import { DurationText } from '../../components/text/duration-text.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { absent, count, cvss, hundredths } from '../../format/numbers.ts';
import { ProductMenus, ProductName } from './product-name.tsx';
import type { HostRecord } from './record-types.ts';
import { kindOf, portText, systemOf } from './result-rows.ts';
import type { ChildRow } from './use-host-children.ts';

/** A row of the tree: a host, or what is below one. */
export type HostTreeRow = { kind: 'host'; record: HostRecord; index: number; isUnfolded: boolean } | ChildRow;

/** Columns of the tree of hosts. */
export function hostColumns(): Column<HostTreeRow>[] {
  return [
    { id: 'what', head: 'Host, service, finding', width: 200, priority: 0, sort: 'address', cell: whatCell },
    {
      id: 'name',
      head: 'Name, product, title',
      width: 220,
      grow: 1,
      priority: 1,
      sort: 'name',
      spills: true,
      cell: nameCell,
    },
    { id: 'system', head: 'System', width: 150, priority: 2, sort: 'os', cell: ofHosts(systemCell) },
    { id: 'kind', head: 'Kind', title: 'Kind of device', width: 96, priority: 4, cell: ofHosts(kindCell) },
    {
      id: 'ports',
      head: 'Open',
      title: 'Open ports',
      width: 44,
      align: 'right',
      priority: 3,
      sort: 'open_ports',
      descendingFirst: true,
      cell: ofHosts(({ totals }) => count(totals?.open_ports ?? 0)),
    },
    {
      id: 'findings',
      head: 'Findings',
      width: 180,
      priority: 1,
      sort: 'findings',
      descendingFirst: true,
      cell: findingsCell,
    },
    {
      id: 'cvss',
      head: 'CVSS',
      width: 48,
      align: 'right',
      priority: 5,
      cell: ofFindings((finding) => cvss(finding.cvss?.score)),
    },
    {
      id: 'epss',
      head: 'EPSS',
      width: 48,
      align: 'right',
      priority: 6,
      cell: ofFindings((finding) => hundredths(finding.epss?.score)),
    },
    { id: 'class', head: 'How sure', width: 96, priority: 7, cell: ofFindings(classCell) },
    {
      id: 'tried',
      head: 'Not tried',
      title: 'Ports not tried',
      width: 72,
      align: 'right',
      priority: 3,
      optional: true,
      cell: ofHosts(({ port_counts: ports }) => (ports ? count(ports.not_tried) : absent)),
    },
    {
      id: 'latency',
      head: 'RTT',
      title: 'Round-trip time',
      width: 64,
      align: 'right',
      priority: 3,
      optional: true,
      sort: 'latency',
      cell: ofHosts(({ latency_ms: ms }) => <DurationText ms={ms} />),
    },
    {
      id: 'mac',
      head: 'MAC',
      title: 'Hardware address',
      width: 170,
      priority: 3,
      optional: true,
      cell: ofHosts(macCell),
    },
  ];
}

/** A cell that other rows leave empty. */
function ofHosts(cell: (host: HostRecord) => ReactNode): (row: HostTreeRow) => ReactNode {
  return (row) => (row.kind === 'host' ? cell(row.record) : null);
}

type Finding = Extract<HostTreeRow, { kind: 'finding' }>['record']['vulnerability'];

function ofFindings(cell: (finding: Finding) => ReactNode): (row: HostTreeRow) => ReactNode {
  return (row) => (row.kind === 'finding' ? cell(row.record.vulnerability) : null);
}

function whatCell(row: HostTreeRow): ReactNode {
  if (row.kind === 'rest') return null;
  if (row.kind === 'host') {
    return (
      <ValueMenu field="host" value={row.record.host}>
        <Address host={row.record} />
      </ValueMenu>
    );
  }
  if (row.kind === 'port') {
    const service = row.record.service?.name;
    return (
      <span className="flex items-center gap-1">
        <ValueMenu field="port" value={row.record.port}>
          <span className="mono">{portText(row.record)}</span>
        </ValueMenu>
        {service && (
          <ValueMenu field="service" value={service}>
            <span className="text-text-2">
              <TargetText text={service} />
            </span>
          </ValueMenu>
        )}
      </span>
    );
  }
  const { id } = row.record.vulnerability;
  const severity = countsAs(row.record.vulnerability);
  return (
    <span className="flex items-center gap-1">
      <SeverityMark severity={severity} bare />
      <ValueMenu field="id" value={id}>
        <TargetText text={id} mono />
      </ValueMenu>
    </span>
  );
}

function Address({ host }: { host: HostRecord }): ReactNode {
  return <TargetText text={host.host} mono cut="middle" max={39} />;
}

function nameCell(row: HostTreeRow): ReactNode {
  if (row.kind === 'rest') return null;
  if (row.kind === 'port') return <ProductMenus record={row.record} />;
  if (row.kind === 'finding') return <FindingTitle finding={row.record.vulnerability} />;
  const [name] = row.record.hostnames ?? [];
  // Blank, and no room for the system: it stands in its own column.
  if (name === undefined) return '';
  return (
    <ValueMenu field="name" value={name}>
      <TargetText text={name} />
    </ValueMenu>
  );
}

function FindingTitle({ finding: { title, kev } }: { finding: Finding }): ReactNode {
  return (
    <span className="flex items-center gap-2">
      <TargetText text={title} />
      {kev && <Exploited />}
    </span>
  );
}

function systemCell(record: HostRecord): ReactNode {
  const system = systemOf(record);
  if (system === null) return '';
  return (
    <ValueMenu field="os" value={system}>
      <TargetText text={system} />
    </ValueMenu>
  );
}

function kindCell(record: HostRecord): ReactNode {
  const kind = kindOf(record);
  if (kind === null) return '';
  return (
    <ValueMenu field="device" value={record.device_type ?? null}>
      <TargetText text={kind} />
    </ValueMenu>
  );
}

function macCell({ mac, vendor }: HostRecord): ReactNode {
  if (!mac) return absent;
  return (
    <ValueMenu field="mac" value={mac}>
      <TargetText text={mac} mono /> {vendor && <TargetText text={vendor} max={40} />}
    </ValueMenu>
  );
}

function findingsCell(row: HostTreeRow): ReactNode {
  if (row.kind !== 'host' && row.kind !== 'port') return null;
  const counts = row.record.totals?.severity_counts;
  return counts ? <SeverityCounts counts={counts} slots /> : null;
}

function classCell({ class: value }: Finding): ReactNode {
  return value ? (
    <ValueMenu field="class" value={value}>
      <ClassMark value={value} />
    </ValueMenu>
  ) : null;
}

/** Two lines that stand for a row on phones, where the sheet of facets filters. */
export function hostPhoneRow(row: HostTreeRow): ReactNode {
  if (row.kind === 'rest') return row.text;
  return (
    <div className="flex flex-col">
      <span className="flex items-center justify-between gap-2">
        <span className="min-w-0 truncate">{phoneWhat(row)}</span>
        {findingsCell(row)}
      </span>
      <span className="truncate text-size-12 text-text-2">{phoneName(row)}</span>
    </div>
  );
}

type NamedRow = Exclude<HostTreeRow, { kind: 'rest' }>;

function phoneWhat(row: NamedRow): ReactNode {
  if (row.kind === 'host') return <Address host={row.record} />;
  if (row.kind === 'port') {
    return (
      <>
        <span className="mono">{portText(row.record)}</span>{' '}
        <span className="text-text-2">
          <TargetText text={row.record.service?.name ?? ''} />
        </span>
      </>
    );
  }
  return (
    <span className="flex items-center gap-1.5">
      <SeverityMark severity={countsAs(row.record.vulnerability)} bare />
      <TargetText text={row.record.vulnerability.id} mono />
    </span>
  );
}

function phoneName(row: NamedRow): ReactNode {
  if (row.kind === 'port') return <ProductName record={row.record} />;
  if (row.kind === 'finding') return <FindingTitle finding={row.record.vulnerability} />;
  const about = [row.record.hostnames?.[0], systemOf(row.record) ?? kindOf(row.record)];
  return <TargetText text={about.filter((text) => text).join(', ')} />;
}
