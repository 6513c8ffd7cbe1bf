import { type ReactNode, useMemo } from 'react';
import { shownState } from '../../../../src/domain/scan-state.ts';
import type { Data } from '../../api/api-types.ts';
import { useGet } from '../../api/use-get.ts';
import { Section } from '../../components/layout/section.tsx';
import { SeverityCounts } from '../../components/marks/severity-counts.tsx';
import { StateMark } from '../../components/marks/state-mark.tsx';
import { DataTable } from '../../components/table/data-table.tsx';
import type { Column } from '../../components/table/table-props.ts';
import { DurationText } from '../../components/text/duration-text.tsx';
import { TimeText } from '../../components/text/time-text.tsx';
import { plural } from '../../format/words.ts';
import { useCan } from '../../session/session.ts';
import { Link, useGo } from '../../url/link.tsx';
import { searchText } from '../../url/search-text.ts';
import { ChangeCounts } from '../jobs/change-counts.tsx';
import { comparedRun, type Job, tookOf } from '../jobs/job.ts';
import { RunBars } from '../jobs/run-bars.tsx';

type Scan = Data<'/api/v1/scans'>['scans'][number];

/** A run with its scan. */
interface Run {
  run: Job['runs'][number];
  /** Null while it is loaded; undefined after it was deleted. */
  scan: Scan | null | undefined;
  /** Whether a completed run came before. */
  isLater: boolean;
  /** The last one that can be compared: its changes are counted. */
  isLatest: boolean;
}

/** Runs that the API lists. */
const mostRuns = 20;

/** The last runs, each with what it found. */
export function JobRuns({ job: { runs } }: { job: Job }) {
  const scans = useScansOf(runs);
  const go = useGo();
  const columns = useMemo(runColumns, []);
  const latest = comparedRun({ runs });
  const rows = runs.map((run, index) => ({
    run,
    scan: scans === null ? null : scans.get(run.scan_id ?? ''),
    isLater: runs.slice(index + 1).some(({ status }) => status === 'completed'),
    isLatest: run.scan_id === latest,
  }));
  return (
    <Section
      title="Last runs"
      note={
        runs.length === 0
          ? undefined
          : `${plural(runs.length, 'run')}${runs.length < mostRuns ? '' : ', older ones are not shown'}`
      }
      actions={
        runs.length > 1 && (
          <span className="block w-32">
            <RunBars runs={runs} />
          </span>
        )
      }
    >
      {runs.length === 0 ? (
        <p className="pt-2 text-text-2">No run yet.</p>
      ) : (
        <DataTable<Run>
          label="Last runs"
          columns={columns}
          rows={rows}
          rowKey={({ run }) => run.scan_id ?? String(run.started_at)}
          dense={false}
          phoneRow={(row) => <RunPhoneRow row={row} />}
          onOpen={({ run: { scan_id }, scan }) => {
            if (scan_id !== null && scan !== undefined) go(`/scans/${scan_id}`);
          }}
        />
      )}
    </Section>
  );
}

/** The most that a list of scans has. */
const mostScans = 1000;

/** The scans of the runs by id, in one request; null while it is loaded, or where it says nothing about all of them. */
function useScansOf(runs: Job['runs']): ReadonlyMap<string, Scan> | null {
  const mayRead = useCan('scan:read');
  const since = runs.at(-1)?.started_at ?? undefined;
  const { data } = useGet(
    '/api/v1/scans',
    { query: { limit: mostScans, since: since && earlier(since) } },
    { enabled: since !== undefined && mayRead, keep: true },
  );
  return useMemo(() => {
    if (data === undefined || data.total > mostScans) return null;
    return new Map(data.scans.map((scan) => [scan.scan_id, scan]));
  }, [data]);
}

/** A scan is created before it starts: a day is longer than any queue that is looked at here. */
function earlier(time: string): string {
  return new Date(Date.parse(time) - 24 * 60 * 60 * 1000).toISOString();
}

function runColumns(): Column<Run>[] {
  return [
    { id: 'state', head: 'State', width: 108, priority: 0, cell: (row) => <RunState row={row} /> },
    {
      id: 'started',
      head: 'Started',
      width: 152,
      grow: 1,
      priority: 1,
      cell: ({ run }) => <TimeText at={run.started_at} />,
    },
    {
      id: 'took',
      head: 'Took',
      width: 72,
      align: 'right',
      priority: 3,
      cell: ({ run }) => <DurationText ms={tookOf(run)} />,
    },
    { id: 'findings', head: 'Findings', width: 180, priority: 4, cell: (row) => <RunFindings row={row} /> },
    { id: 'changes', head: 'Changes', width: 84, priority: 2, cell: (row) => <RunChanges row={row} /> },
  ];
}

function RunState({ row: { run, scan } }: { row: Run }) {
  return <StateMark state={scan ? shownState(scan) : run.status} />;
}

function RunFindings({ row: { run, scan } }: { row: Run }) {
  if (run.status !== 'completed' && run.status !== 'failed') return '–';
  if (scan === null) return null;
  if (scan === undefined) return <span className="text-text-3">scan deleted</span>;
  const isNone = Object.values(scan.severity_counts).every((number) => number === 0);
  return isNone ? '0' : <SeverityCounts counts={scan.severity_counts} slots />;
}

function RunChanges({ row: { run, isLater, scan, isLatest } }: { row: Run }) {
  if (run.scan_id === null || run.status !== 'completed' || !isLater || scan === undefined) return '–';
  if (isLatest && scan) return <CountedChanges after={run.scan_id} />;
  return <Compare after={run.scan_id} />;
}

function CountedChanges({ after }: { after: string }) {
  const path = { scan_id: after };
  const { data: found } = useGet('/api/v1/scans/{scan_id}/baseline', { path });
  const before = found?.baseline?.scan_id ?? '';
  const { data } = useGet(
    '/api/v1/scans/{scan_id}/diff',
    { path, query: { against: before } },
    { enabled: before !== '' },
  );
  if (data === undefined) return <Compare after={after} />;
  const { vulnerabilities, ports } = data;
  const changes = {
    new: vulnerabilities.new.length,
    fixed: vulnerabilities.resolved.length,
    changed: ports.added.length + ports.removed.length + ports.changed.length,
  };
  return (
    <Compare after={after}>
      <ChangeCounts changes={changes} />
    </Compare>
  );
}

function Compare({ after, children = 'Compare' }: { after: string; children?: ReactNode }) {
  return (
    <Link to={`/compare${searchText({ scan: after })}`} className="text-size-12">
      {children}
    </Link>
  );
}

function RunPhoneRow({ row }: { row: Run }) {
  return (
    <span className="flex flex-col gap-0.5">
      <span className="flex items-center justify-between gap-2">
        <RunState row={row} />
        <RunChanges row={row} />
      </span>
      <span className="flex items-center justify-between gap-2 text-size-12">
        <TimeText at={row.run.started_at} />
        <DurationText ms={tookOf(row.run)} />
      </span>
    </span>
  );
}
