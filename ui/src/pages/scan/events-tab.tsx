import { memo, useCallback, useEffect, useRef, useState } from 'react';
import { Button } from '../../components/controls/button.tsx';
import { Tag } from '../../components/marks/tag.tsx';
import { Empty } from '../../components/states/empty.tsx';
import { DataTable } from '../../components/table/data-table.tsx';
import { useRecordRows } from '../../components/table/use-record-rows.ts';
import { TargetText } from '../../components/text/target-text.tsx';
import { TimeText } from '../../components/text/time-text.tsx';
import { count } from '../../format/numbers.ts';
import { type LiveEvent, serverNow, useScanEvents } from '../../live/live.ts';
import { portText } from './result-rows.ts';
import { hasEnded, useScan } from './use-scan.ts';

interface ShownEvent {
  number: number;
  /** When it came, milliseconds. */
  cameAt: number;
  event: LiveEvent;
}

/** Newest events in the page; older ones are in the records. */
const maxShown = 200;
/** Events come in at this interval, milliseconds: a fast scan has thousands a second, nobody reads so fast. */
const showMs = 1000;

/** What the scan reports while it runs, newest first; of an ended scan, its records in order. */
export default function EventsTab() {
  const { data: scan, scanId } = useScan();
  const [shown, setShown] = useState<readonly ShownEvent[]>([]);
  const [isPaused, setPaused] = useState(false);
  /** Oldest first. */
  const newest = useRef<ShownEvent[]>([]);
  const numbers = useRef(0);
  const onEvent = useCallback((event: LiveEvent) => {
    if (event.event === 'progress') return;
    numbers.current += 1;
    newest.current.push({ number: numbers.current, cameAt: serverNow(), event });
    // In steps: moving the array at each event would cost its length.
    if (newest.current.length >= 2 * maxShown) newest.current = newest.current.slice(-maxShown);
  }, []);
  useScanEvents(scanId, onEvent);
  const show = useCallback(() => {
    const last = newest.current.at(-1)?.number;
    setShown((before) => (before[0]?.number === last ? before : newest.current.slice(-maxShown).reverse()));
  }, []);
  useEffect(() => {
    if (isPaused) return;
    const timer = setInterval(() => !document.hidden && show(), showMs);
    return () => clearInterval(timer);
  }, [isPaused, show]);
  if (!scan) return null;
  // The stream of an ended scan says that it has ended, and nothing else.
  if (hasEnded(scan) && shown.every(({ event: { event } }) => event === 'status' || event === 'end')) {
    return <Recorded scanId={scanId} />;
  }
  return (
    <div className="flex flex-col gap-3">
      <div className="flex items-center gap-3">
        <p className="text-text-2">{count(numbers.current)} events since this page was opened.</p>
        <span className="grow" />
        <Button
          icon={isPaused ? 'play' : 'pause'}
          onClick={() => {
            setPaused(!isPaused);
            show();
          }}
        >
          {isPaused ? 'Go on' : 'Pause'}
        </Button>
      </div>
      {shown.length === 0 ? (
        <Empty
          title="No event yet"
          text="Hosts, ports, findings and warnings appear here as the scan reports them."
        />
      ) : (
        <ol className="border-line border-t" aria-label="Events, newest first">
          {shown.map((each) => (
            <EventLine key={each.number} shown={each} />
          ))}
        </ol>
      )}
    </div>
  );
}

const EventLine = memo(function EventLine({ shown: { cameAt, event } }: { shown: ShownEvent }) {
  const { timestamp } = event.data;
  const at = typeof timestamp === 'string' ? timestamp : cameAt;
  return (
    <li className="flex min-h-7 items-center gap-3 border-line-subtle border-b">
      <span className="mono w-20 text-text-3">
        <TimeText at={at} form="time" />
      </span>
      <span className="w-20">
        <Tag>{event.event}</Tag>
      </span>
      <span className="min-w-0 truncate">
        <TargetText text={textOf(event.data)} />
      </span>
    </li>
  );
});

interface AnyRecord extends Record<string, unknown> {
  type: string;
  timestamp: string;
}

function Recorded({ scanId }: { scanId: string }) {
  const records = useRecordRows<AnyRecord>(scanId, {});
  return (
    <DataTable<AnyRecord>
      label="Records of this scan"
      rowAt={records.rowAt}
      total={records.total}
      rowKey={(row) => `${row.type} ${textOf(row)}`}
      isPending={records.isPending}
      columns={[
        {
          id: 'time',
          head: 'Time',
          width: 90,
          priority: 1,
          cell: ({ timestamp }) => <TimeText at={timestamp} form="time" />,
        },
        { id: 'type', head: 'Record', width: 110, priority: 0, cell: ({ type }) => <Tag>{type}</Tag> },
        {
          id: 'text',
          head: 'What',
          width: 200,
          grow: 1,
          priority: 0,
          cell: (row) => <TargetText text={textOf(row)} />,
        },
      ]}
      empty={<Empty title="No records" text="This scan wrote none." />}
    />
  );
}

function textOf(data: Record<string, unknown>): string {
  const { host, port, protocol, vulnerability, service, message, status, state } = data as Record<
    string,
    never
  > & {
    port?: number;
  };
  const place =
    host === undefined || host === null
      ? ''
      : typeof port === 'number'
        ? `${String(host)} ${portText({ port, protocol: protocol ?? null })}`
        : String(host);
  const parts = [
    place,
    nameIn(vulnerability),
    nameIn(service),
    message,
    status ?? (vulnerability ? undefined : state),
  ];
  return parts.filter((part) => typeof part === 'string' && part !== '').join(' · ');
}

/** ID and title of a finding, product and version of a service. */
function nameIn(value: unknown): string {
  if (typeof value !== 'object' || value === null) return '';
  const { id, title, product, version, name } = value as Record<string, unknown>;
  const parts = id === undefined ? [product ?? name, version] : [id, title];
  return parts.filter((part) => typeof part === 'string').join(' ');
}
