import { type ReactNode, useMemo } from 'react';
import { useGet } from '../../api/use-get.ts';
import { LinkButton } from '../../components/controls/link-button.tsx';
import { Select } from '../../components/controls/select.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { StateMark } from '../../components/marks/state-mark.tsx';
import { Boundary } from '../../components/states/boundary.tsx';
import { Empty } from '../../components/states/empty.tsx';
import { DataTable } from '../../components/table/data-table.tsx';
import type { Column } from '../../components/table/table-props.ts';
import { Mono } from '../../components/text/mono.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { TimeText } from '../../components/text/time-text.tsx';
import { plural } from '../../format/words.ts';
import { useGo } from '../../url/link.tsx';
import { useSearchParam } from '../../url/use-search-param.ts';
import { type Job, jobTitle } from './job.ts';
import { NextDay } from './next-day.tsx';
import { RunBars } from './run-bars.tsx';

const statuses = [
  { value: '', label: 'All states' },
  { value: 'pending', label: 'Pending' },
  { value: 'running', label: 'Running' },
  { value: 'completed', label: 'Completed' },
  { value: 'failed', label: 'Failed' },
  { value: 'canceled', label: 'Canceled' },
] as const;

/** Scans that run later or again, with their next and last runs. */
export default function JobsPage() {
  const [status, setStatus] = useSearchParam('status');
  const got = useGet(
    '/api/v1/jobs',
    { query: { limit: 200, ...(status !== '' && { status }) } },
    { keep: true },
  );
  const go = useGo();
  const columns = useMemo(jobColumns, []);
  return (
    <>
      <PageHeader
        title="Jobs"
        meta={got.data && summary(got.data.jobs, got.data.total)}
        actions={
          <LinkButton to="/jobs/new" variant="primary" icon="plus">
            New job
          </LinkButton>
        }
      />
      <div className="pb-3">
        <Select
          label="State"
          width="auto"
          options={statuses}
          value={status as ''}
          onChange={(value) => setStatus(value)}
        />
      </div>
      <Boundary got={got} rows={8}>
        {({ jobs }) => (
          <DataTable<Job>
            label="Jobs"
            columns={columns}
            rows={jobs}
            rowKey={({ job_id }) => job_id}
            dense={false}
            onOpen={({ job_id }) => go(`/jobs/${job_id}`)}
            phoneRow={phoneRow}
            empty={
              <Empty
                title={status === '' ? 'No jobs yet' : 'No job has this state'}
                text="A job scans on a schedule, or once when a worker is free."
                action={<LinkButton to="/jobs/new">New job</LinkButton>}
              />
            }
          />
        )}
      </Boundary>
    </>
  );
}

function summary(jobs: readonly Job[], total: number): string {
  const scheduled = jobs.filter(({ schedule, status }) => schedule !== null && status !== 'canceled').length;
  const running = jobs.filter(({ status }) => status === 'running').length;
  return `${plural(total, 'job')}, ${running} running, ${scheduled} scheduled.`;
}

function jobColumns(): Column<Job>[] {
  return [
    {
      id: 'job',
      head: 'Job',
      width: 130,
      grow: 1,
      priority: 0,
      cell: (job) => <Two first={<TargetText text={jobTitle(job)} max={80} />} second={`pool ${job.pool}`} />,
    },
    {
      id: 'schedule',
      head: 'Schedule',
      width: 120,
      priority: 2,
      cell: ({ schedule }) => (schedule === null ? 'once' : <Mono>{schedule}</Mono>),
    },
    {
      id: 'next',
      head: 'Next run',
      width: 140,
      priority: 1,
      cell: ({ next_run_at }) =>
        next_run_at === null ? (
          '–'
        ) : (
          <Two first={<TimeText at={next_run_at} relative />} second={<TimeText at={next_run_at} />} />
        ),
    },
    {
      id: 'last',
      head: 'Last run',
      width: 140,
      priority: 0,
      cell: (job) => <LastRun job={job} />,
    },
    {
      id: 'day',
      head: 'Next 24 hours',
      width: 200,
      priority: 4,
      cell: ({ next_runs }) => <NextDay runs={next_runs} />,
    },
    {
      id: 'runs',
      head: 'Last 20 runs',
      width: 130,
      priority: 3,
      cell: ({ runs }) => <RunBars runs={runs} />,
    },
  ];
}

function LastRun({ job: { status, last_status: last, last_run_at: at, error } }: { job: Job }) {
  const state = status === 'running' || status === 'canceled' ? status : last;
  if (state === null) return <span className="text-text-2">not yet</span>;
  return (
    <Two
      first={<StateMark state={state as 'completed'} />}
      second={error ? <TargetText text={error.message} max={60} /> : at && <TimeText at={at} relative />}
    />
  );
}

function Two({ first, second }: { first: ReactNode; second: ReactNode }) {
  return (
    <span className="flex min-w-0 flex-col leading-tight">
      <span className="truncate font-medium">{first}</span>
      <span className="truncate text-size-11 text-text-2">{second}</span>
    </span>
  );
}

function phoneRow(job: Job) {
  return (
    <div className="flex flex-col">
      <span className="flex items-center justify-between gap-2 font-medium">
        <TargetText text={jobTitle(job)} max={60} />
        <StateMark state={job.status} />
      </span>
      <span className="text-size-12 text-text-2">
        {job.next_run_at === null ? (
          'no further run'
        ) : (
          <>
            next <TimeText at={job.next_run_at} relative />
          </>
        )}
      </span>
    </div>
  );
}
