import { memo, useCallback, useEffect, useRef, useState } from 'react';
import { serverNow } from '../../api/server-clock.ts';
import { Button } from '../../components/controls/button.tsx';
import { Tag } from '../../components/marks/tag.tsx';
import { Empty } from '../../components/states/empty.tsx';
import { DataTable } from '../../components/table/data-table.tsx';
import { useRecordRows } from '../../components/table/use-record-rows.ts';
import { TargetText } from '../../components/text/target-text.tsx';
import { TimeText } from '../../components/text/time-text.tsx';
import { plural } from '../../format/words.ts';
import { type LiveEvent, useScanEvents } from '../../live/live.ts';
import { eventText, eventWord } from './event-words.ts';
import { hasEnded, useScan } from './use-scan.ts';

interface ShownEvent {
  number: number;
  /** When it came, milliseconds. */
  cameAt: number;
  event: LiveEvent;
}

/** Events that the stream of an ended scan has. */
const ofTheEnd: ReadonlySet<string> = new Set(['status', 'warning', 'end']);
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
  // The stream of an ended scan says that it has ended and its warnings, nothing else.
  if (hasEnded(scan) && shown.every(({ event: { event } }) => ofTheEnd.has(event))) {
    return <Recorded scanId={scanId} />;
  }
  return (
    <div className="flex flex-col gap-3">
      <div className="flex items-center gap-3">
        <p className="text-text-2">
          {plural(numbers.current, 'event')} since this page was opened, the newest first.
        </p>
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
        <Tag>{eventWord(event.event)}</Tag>
      </span>
      <span className="min-w-0 truncate">
        <TargetText text={eventText(event.data)} />
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
    <>
      {records.total > 0 && (
        <p className="pb-3 text-text-2">
          The scan has ended. {plural(records.total, 'record')}: the final state of each host, port and
          finding.
        </p>
      )}
      <DataTable<AnyRecord>
        label="Records of this scan"
        rowAt={records.rowAt}
        total={records.total}
        rowKey={(row) => `${row.type} ${eventText(row)}`}
        isPending={records.isPending}
        columns={[
          {
            id: 'time',
            head: 'Time',
            width: 90,
            priority: 1,
            cell: ({ timestamp }) => <TimeText at={timestamp} form="time" />,
          },
          {
            id: 'type',
            head: 'Record',
            width: 110,
            priority: 0,
            cell: ({ type }) => <Tag>{eventWord(type)}</Tag>,
          },
          {
            id: 'text',
            head: 'What',
            width: 200,
            grow: 1,
            priority: 0,
            cell: (row) => <TargetText text={eventText(row)} />,
          },
        ]}
        phoneRow={(row) => <PhoneRecord row={row} />}
        empty={<Empty title="No records" text="No address responded: there was nothing to record." />}
      />
    </>
  );
}

function PhoneRecord({ row }: { row: AnyRecord }) {
  return (
    <div className="min-w-0">
      <div className="flex items-baseline justify-between gap-3 text-size-12 text-text-3">
        <Tag>{eventWord(row.type)}</Tag>
        <TimeText at={row.timestamp} form="time" />
      </div>
      <div className="truncate text-text-1">
        <TargetText text={eventText(row)} />
      </div>
    </div>
  );
}
