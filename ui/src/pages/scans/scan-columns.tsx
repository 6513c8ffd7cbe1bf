import type { ReactNode } from 'react';
import { shownState } from '../../../../src/domain/scan-state.ts';
import type { Data } from '../../api/api-types.ts';
import { serverNow } from '../../api/server-clock.ts';
import { DiffMark } from '../../components/marks/diff-mark.tsx';
import { SeverityCounts } from '../../components/marks/severity-counts.tsx';
import { StateMark } from '../../components/marks/state-mark.tsx';
import type { Column } from '../../components/table/table-props.ts';
import { DurationText } from '../../components/text/duration-text.tsx';
import { useNow } from '../../components/text/now.ts';
import { TargetText } from '../../components/text/target-text.tsx';
import { TimeText } from '../../components/text/time-text.tsx';
import { count, percent } from '../../format/numbers.ts';
import { plural } from '../../format/words.ts';
import { percentTried, scanTitle } from '../scan/use-scan.ts';

export type ListedScan = Data<'/api/v1/scans'>['scans'][number];
export type Changes = NonNullable<Data<'/api/v1/dashboard'>['series'][number]['changes']>;

/** @param changesOf what a run changed, where it is known */
export function scanColumns(changesOf: (scanId: string) => Changes | null): Column<ListedScan>[] {
  return [
    {
      id: 'state',
      head: 'State',
      width: 104,
      priority: 0,
      sort: 'status',
      cell: (scan) => <StateMark state={shownState(scan)} />,
    },
    { id: 'name', head: 'Name, targets', width: 236, grow: 1, priority: 0, sort: 'name', cell: nameCell },
    {
      id: 'started',
      head: 'Started',
      width: 164,
      priority: 1,
      sort: 'created_at',
      descendingFirst: true,
      cell: (scan) => <Started scan={scan} />,
    },
    {
      id: 'took',
      head: 'Took',
      width: 80,
      align: 'right',
      priority: 4,
      sort: 'duration',
      descendingFirst: true,
      cell: ({ started_at, completed_at, status }) => {
        if (started_at === null) return '–';
        const end =
          completed_at === null ? (status === 'running' ? serverNow() : null) : Date.parse(completed_at);
        return end === null ? '–' : <DurationText ms={Math.max(0, end - Date.parse(started_at))} />;
      },
    },
    {
      id: 'hosts',
      head: 'Hosts',
      width: 44,
      align: 'right',
      priority: 5,
      cell: ({ results }) => count(results.live_hosts),
    },
    {
      id: 'services',
      head: 'Services',
      width: 56,
      align: 'right',
      priority: 6,
      cell: ({ results }) => count(results.open_ports),
    },
    {
      id: 'findings',
      head: 'Findings',
      width: 210,
      priority: 2,
      sort: 'findings',
      descendingFirst: true,
      cell: (scan) => <Findings scan={scan} changes={changesOf(scan.scan_id)} />,
    },
  ];
}

/** The name over the targets. Scans without a name have the targets for it: what else tells them apart stands below. */
function nameCell(scan: ListedScan) {
  const isNamed = scan.name !== null && scan.name !== '';
  return (
    <TwoLines
      first={
        <span className="font-medium">
          <TargetText text={scanTitle(scan)} max={80} />
        </span>
      }
      second={
        isNamed ? (
          <TargetText text={targetsText(scan)} mono max={80} />
        ) : (
          <>
            <span className="mono">{scan.scan_id}</span> · {scan.profile}, vulnerabilities{' '}
            {scan.vuln ? 'on' : 'off'}
          </>
        )
      }
    />
  );
}

function Started({ scan: { started_at: started, created_at: created } }: { scan: ListedScan }) {
  const now = useNow();
  if (started === null) return <TwoLines first="queued" second={<TimeText at={created} relative />} />;
  const isRecent = now - Date.parse(started) < saidRelatively;
  return (
    <TwoLines first={<TimeText at={started} />} second={isRecent && <TimeText at={started} relative />} />
  );
}

/** So long a time has an "ago", milliseconds. */
const saidRelatively = 7 * 24 * 3_600_000;

/** Counts, and below what is not complete or what changed. Without findings: 0 if the scan looked for them to its end. */
function Findings({ scan, changes }: { scan: ListedScan; changes: Changes | null }) {
  const { severity_counts: counts, status, vuln } = scan;
  const isFound = Object.values(counts).some((number) => number > 0);
  const note = noteOf(scan);
  return (
    <TwoLines
      first={
        isFound ? (
          <SeverityCounts counts={counts} slots={42} />
        ) : (
          <span className="text-text-3">{vuln && status === 'completed' ? '0' : '–'}</span>
        )
      }
      second={
        note === '' && changes !== null ? (
          <SinceLastRun changes={changes} />
        ) : (
          <TargetText text={note} max={80} />
        )
      }
    />
  );
}

function TwoLines({ first, second }: { first: ReactNode; second: ReactNode }) {
  return (
    <span className="flex min-w-0 flex-col leading-[17px]">
      <span className="truncate">{first}</span>
      <span className="truncate text-size-12 text-text-2">{second}</span>
    </span>
  );
}

function SinceLastRun({ changes }: { changes: Changes }) {
  const { not_comparable: notComparable } = changes;
  if (changes.new + changes.fixed + changes.changed === 0)
    return notComparable === 0
      ? 'no change since the last run'
      : `${plural(notComparable, 'host')} not comparable with the last run`;
  return (
    <span className="inline-flex gap-1.5">
      {(['new', 'fixed', 'changed'] as const).map((kind) => (
        <DiffMark key={kind} kind={kind} count={changes[kind]} />
      ))}
      since the last run
    </span>
  );
}

/** Targets beside the title, which names up to two of them. */
function targetsText({ targets, targets_total: total = targets.length }: ListedScan): string {
  const [first = ''] = targets;
  if (total <= 2 && targets.length === total) return targets.join(', ');
  return `${first}, ${plural(total, 'target')}`;
}

/** How far it is, or why it is not complete. */
function noteOf(scan: ListedScan): string {
  const { progress, error } = scan;
  const { tried, not_tried: notTried, unit } = progress;
  const all = tried + notTried;
  switch (shownState(scan)) {
    case 'running':
      return progress.finishing ?? `${percentTried(progress)} % of ${unit}`;
    case 'paused':
      return `${percentTried(progress)} % of ${unit}`;
    case 'interrupted':
      return scan.status === 'running' ? 'resumes at the next start' : '';
    case 'canceled':
    case 'timed out':
      return notTried > 0 ? `${percent(notTried, all)} of ${unit} not tried` : '';
    case 'failed':
      return error?.code.replaceAll('_', ' ') ?? '';
    default:
      return notTried > 0 ? `partial: ${percent(notTried, all)} of ${unit} not tried` : '';
  }
}

/** Two lines on phones. Where the counts do not fit, those of the lesser severities fall below the line. */
export function phoneRow(scan: ListedScan) {
  return (
    <div className="flex flex-col">
      <span className="flex items-center justify-between gap-2">
        <span className="truncate font-medium">
          <TargetText text={scanTitle(scan)} max={60} />
        </span>
        <StateMark state={shownState(scan)} />
      </span>
      <span className="flex items-center justify-between gap-2 text-size-12 text-text-2">
        <TimeText at={scan.started_at ?? scan.created_at} relative="short" />
        <SeverityCounts counts={scan.severity_counts} oneLine />
      </span>
    </div>
  );
}
