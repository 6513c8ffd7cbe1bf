import type { ReactNode } from 'react';
import { Drawer } from '../../components/controls/drawer.tsx';
import { KeyValues } from '../../components/layout/key-values.tsx';
import { Section } from '../../components/layout/section.tsx';
import { StateMark } from '../../components/marks/state-mark.tsx';
import { Tag } from '../../components/marks/tag.tsx';
import { Empty } from '../../components/states/empty.tsx';
import { DataTable } from '../../components/table/data-table.tsx';
import type { Column } from '../../components/table/table-props.ts';
import { CopyButton } from '../../components/text/copy-button.tsx';
import { DurationText } from '../../components/text/duration-text.tsx';
import { Mono } from '../../components/text/mono.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { TimeText } from '../../components/text/time-text.tsx';
import { count } from '../../format/numbers.ts';
import type { State } from '../../format/words.ts';
import { Link } from '../../url/link.tsx';
import { useSearchParam } from '../../url/use-search-param.ts';
import { type AuditRecord, actionText, actorText, detailText, resourceText } from './audit-record.ts';

interface AuditTableProps {
  records: readonly AuditRecord[];
  /** Records that match, also those that are not loaded. */
  total: number;
  isFiltered: boolean;
}

/** A row per record; the open one is in the URL by its hash. */
export function AuditTable({ records, total, isFiltered }: AuditTableProps): ReactNode {
  const [hash, setHash] = useSearchParam('record');
  const index = hash === '' ? -1 : records.findIndex((record) => record.hash === hash);
  const open = records[index];
  const show = (at: number) => setHash(records[at]?.hash ?? null, { replace: true });
  return (
    <>
      <DataTable
        label="Audit records"
        columns={columns}
        rows={records}
        rowKey={(record) => record.hash}
        onOpen={(record) => setHash(record.hash)}
        openKey={open?.hash ?? null}
        phoneRow={(record) => <PhoneRecord record={record} />}
        empty={isFiltered ? <NothingMatches /> : <NothingRecorded />}
      />
      {open === undefined ? null : (
        <RecordDrawer
          record={open}
          position={`${count(index + 1)} of ${count(Math.max(total, records.length))}`}
          onClose={() => setHash(null)}
          onNext={index < records.length - 1 ? () => show(index + 1) : undefined}
          onPrevious={index > 0 ? () => show(index - 1) : undefined}
        />
      )}
    </>
  );
}

function NothingMatches(): ReactNode {
  return <Empty icon="filter" title="No record matches this filter" />;
}

function NothingRecorded(): ReactNode {
  return (
    <Empty
      icon="audit"
      title="Nothing is recorded yet"
      text={
        <>
          Records begin with <Mono>logging.audit.enabled: true</Mono> in the configuration file.
        </>
      }
    />
  );
}

const columns: readonly Column<AuditRecord>[] = [
  {
    id: 'time',
    head: 'Time',
    width: 240,
    priority: 0,
    cell: ({ timestamp }) => <TimeText at={timestamp} form="exact" />,
  },
  { id: 'outcome', head: 'Outcome', width: 92, priority: 1, cell: (record) => <Outcome record={record} /> },
  {
    id: 'actor',
    head: 'Actor',
    width: 184,
    grow: 1,
    priority: 2,
    cell: (record) => <TargetText text={actorText(record)} />,
  },
  {
    id: 'action',
    head: 'Action',
    width: 230,
    grow: 3,
    priority: 0,
    cell: (record) => <TargetText text={actionText(record)} mono />,
  },
  {
    id: 'resource',
    head: 'Resource',
    width: 160,
    grow: 1,
    priority: 3,
    cell: (record) => <TargetText text={resourceText(record)} cut="middle" mono />,
  },
  {
    id: 'event',
    head: 'Event',
    width: 108,
    priority: 5,
    cell: ({ event }) => <TargetText text={event} mono />,
  },
  {
    id: 'ip',
    head: 'From',
    title: 'Address of the client',
    width: 172,
    priority: 4,
    cell: ({ request }) =>
      request === null ? (
        <span className="text-text-3">–</span>
      ) : (
        <TargetText text={request.ip} cut="middle" max={39} mono />
      ),
  },
];

const outcomeStates: Record<string, State> = { allowed: 'completed', denied: 'canceled', error: 'failed' };

function Outcome({ record: { outcome } }: { record: AuditRecord }): ReactNode {
  const state = Object.hasOwn(outcomeStates, outcome) ? outcomeStates[outcome] : undefined;
  return state === undefined ? <TargetText text={outcome} /> : <StateMark state={state} word={outcome} />;
}

function PhoneRecord({ record }: { record: AuditRecord }): ReactNode {
  return (
    <div className="min-w-0">
      <div className="flex justify-between gap-3">
        <span className="min-w-0 truncate">
          <TargetText text={actionText(record)} mono />
        </span>
        <Outcome record={record} />
      </div>
      <div className="flex justify-between gap-3 text-size-12 text-text-3">
        <span className="min-w-0 truncate">
          <TargetText text={actorText(record)} />
        </span>
        <TimeText at={record.timestamp} relative="short" />
      </div>
    </div>
  );
}

interface RecordDrawerProps {
  record: AuditRecord;
  position: string;
  onClose: () => void;
  onNext: (() => void) | undefined;
  onPrevious: (() => void) | undefined;
}

function RecordDrawer({ record, ...moves }: RecordDrawerProps): ReactNode {
  const { timestamp, event, actor, tenant, request, details, hash, prev_hash } = record;
  const detailRows = Object.entries(details).map(([name, value]) => ({
    label: <Mono>{name}</Mono>,
    key: name,
    value: <TargetText text={detailText(value)} wrap />,
  }));
  return (
    <Drawer
      title={<TargetText text={actionText(record)} />}
      eyebrow={<TimeText at={timestamp} form="exact" />}
      marks={<Outcome record={record} />}
      {...moves}
    >
      <div className="flex flex-col gap-6">
        <KeyValues
          form="column"
          rows={[
            { label: 'Event', value: <TargetText text={event} mono /> },
            {
              label: 'Actor',
              value: (
                <span className="inline-flex flex-wrap items-center gap-2">
                  <TargetText text={actorText(record)} />
                  <Tag>{actor.type}</Tag>
                  {actor.id === null ? null : <Mono className="text-text-3">{actor.id}</Mono>}
                </span>
              ),
            },
            { label: 'Tenant', value: tenant ?? undefined },
            { label: 'Resource', value: <Resource record={record} /> },
          ]}
        />
        {request === null ? null : (
          <Section title="Request">
            <KeyValues
              form="column"
              rows={[
                { label: 'Path', value: <TargetText text={`${request.method} ${request.path}`} mono wrap /> },
                { label: 'Status', value: <Mono>{request.status}</Mono> },
                { label: 'From', value: <TargetText text={request.ip} mono /> },
                {
                  label: 'User agent',
                  value:
                    request.user_agent === null ? undefined : <TargetText text={request.user_agent} wrap />,
                },
                { label: 'Took', value: <DurationText ms={request.duration_ms} /> },
                {
                  label: 'Request ID',
                  value: (
                    <span className="inline-flex items-center gap-1">
                      <Mono>{request.id}</Mono>
                      <CopyButton text={request.id} label="Copy request ID" />
                    </span>
                  ),
                },
              ]}
            />
          </Section>
        )}
        {detailRows.length === 0 ? null : (
          <Section title="Details">
            <KeyValues form="column" rows={detailRows} />
          </Section>
        )}
        <Section title="Chain" note="each record has the hash of the one before: a change shows">
          <KeyValues
            form="column"
            rows={[
              { label: 'Hash', value: <TargetText text={hash} mono wrap /> },
              { label: 'Hash before', value: <TargetText text={prev_hash} mono wrap /> },
            ]}
          />
        </Section>
      </div>
    </Drawer>
  );
}

function Resource({ record }: { record: AuditRecord }): ReactNode {
  const { resource } = record;
  if (resource === null) return 'none';
  const text = <TargetText text={resourceText(record)} mono wrap />;
  return resource.type === 'scan' && resource.id !== null ? (
    <Link to={`/scans/${encodeURIComponent(resource.id)}`}>{text}</Link>
  ) : (
    text
  );
}
