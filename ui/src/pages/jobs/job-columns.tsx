import type { ReactNode } from 'react';
import { StateMark } from '../../components/marks/state-mark.tsx';
import type { Column } from '../../components/table/table-props.ts';
import { Mono } from '../../components/text/mono.tsx';
import { useNow } from '../../components/text/now.ts';
import { TargetText } from '../../components/text/target-text.tsx';
import { TimeText } from '../../components/text/time-text.tsx';
import { duration } from '../../format/durations.ts';
import { percent } from '../../format/numbers.ts';
import { type Job, jobTitle, lastState, targetsText, tookOf } from './job.ts';
import { JobChanges } from './job-changes.tsx';
import { NextDay } from './next-day.tsx';
import { RunBars } from './run-bars.tsx';
import { useSchedule } from './use-schedule.ts';

export function jobColumns(): Column<Job>[] {
  return [
    {
      id: 'job',
      head: 'Job',
      width: 128,
      grow: 2,
      priority: 0,
      cell: (job) => (
        <Two
          first={<TargetText text={jobTitle(job)} max={80} />}
          second={job.name === null ? `pool ${job.pool}` : <Where job={job} />}
        />
      ),
    },
    { id: 'schedule', head: 'Schedule', width: 176, grow: 2, priority: 3, cell: (job) => <When job={job} /> },
    { id: 'next', head: 'Next run', width: 156, priority: 1, cell: (job) => <NextRun job={job} /> },
    { id: 'last', head: 'Last run', width: 140, grow: 1, priority: 0, cell: (job) => <LastRun job={job} /> },
    { id: 'day', head: 'Next 24 hours', width: 116, grow: 1, priority: 4, cell: (job) => <Day job={job} /> },
    {
      id: 'changes',
      head: 'Changes',
      title: 'Findings and services that changed with the last run',
      width: 84,
      priority: 5,
      cell: (job) => <JobChanges job={job} />,
    },
    {
      id: 'runs',
      head: 'Last 20 runs',
      width: 124,
      align: 'right',
      priority: 2,
      cell: ({ runs }) => <RunBars runs={runs} />,
    },
  ];
}

function Where({ job }: { job: Job }) {
  return (
    <>
      <TargetText text={targetsText(job)} mono max={60} />
      {job.pool !== 'default' && `, pool ${job.pool}`}
    </>
  );
}

function When({ job: { schedule } }: { job: Job }) {
  const { preview } = useSchedule(schedule);
  if (schedule === null) return <Two first="once" second="no schedule" />;
  return preview === undefined ? (
    <Mono>{schedule}</Mono>
  ) : (
    <Two first={<span title={preview.in_words}>{preview.in_words}</span>} second={<Mono>{schedule}</Mono>} />
  );
}

const saidRelative = 7 * 24 * 60 * 60 * 1000;

function NextRun({ job: { status, schedule, next_run_at: next, warnings } }: { job: Job }) {
  const now = useNow();
  if (next !== null) {
    const ahead = Date.parse(next) - now;
    // Times further away than this are dates in either line.
    return ahead < saidRelative ? (
      <Two first={<TimeText at={next} relative />} second={<TimeText at={next} />} />
    ) : (
      <Two first={<TimeText at={next} form="date" />} second={`in ${duration(ahead)}`} />
    );
  }
  if (status === 'running') return <Two first="now" second={schedule === null ? 'runs once' : 'runs'} />;
  if (status === 'pending')
    return (
      <Two first="now" second={<TargetText text={warnings?.[0]?.message ?? 'when a worker is free'} />} />
    );
  return <Two first="–" second="no further run" />;
}

function LastRun({ job }: { job: Job }) {
  const state = lastState(job);
  if (state === null) return <span className="text-text-3">not yet</span>;
  return <Two first={<StateMark state={state} />} second={<LastNote job={job} />} indented />;
}

function LastNote({ job: { status, progress, runs, error, last_run_at: at } }: { job: Job }): ReactNode {
  const [last] = runs;
  if (status === 'running') return `${percent(progress, 100)} of the scan`;
  if (error !== null && error.code !== 'canceled')
    return (
      <span title={error.message}>
        <TargetText text={error.message} max={80} />
      </span>
    );
  if (last === undefined) return 'before its first run';
  const took = tookOf(last);
  return (
    <>
      {took !== null && `took ${duration(took)}, `}
      <TimeText at={at} relative />
    </>
  );
}

function Day({ job }: { job: Job }) {
  const isOver = job.next_run_at === null;
  const { preview } = useSchedule(isOver ? null : job.schedule);
  return (
    <NextDay runs={isOver ? [] : (preview?.next ?? job.next_runs)} isRunning={job.status === 'running'} />
  );
}

interface TwoProps {
  first: ReactNode;
  second: ReactNode;
  /** The second line begins where the words of a mark do. */
  indented?: boolean;
}

function Two({ first, second, indented = false }: TwoProps) {
  return (
    <span className="flex min-w-0 flex-col leading-[17px]">
      <span className="truncate font-medium">{first}</span>
      <span className={`truncate text-size-12 text-text-2 ${indented ? 'pl-[22px]' : ''}`}>{second}</span>
    </span>
  );
}

export function JobPhoneRow({ job }: { job: Job }) {
  const { preview } = useSchedule(job.schedule);
  const words = job.schedule === null ? 'once' : (preview?.in_words ?? job.schedule);
  const state = lastState(job);
  return (
    <span className="flex min-w-0 flex-col gap-0.5">
      <span className="flex min-w-0 items-center justify-between gap-2">
        <span className="truncate font-medium text-text-1">
          <TargetText text={jobTitle(job)} max={60} />
        </span>
        {state === null ? (
          <span className="flex-none text-size-12">not yet</span>
        ) : (
          <StateMark state={state} />
        )}
      </span>
      <span className="flex min-w-0 items-center justify-between gap-2 text-size-12">
        <span className="truncate">{words}</span>
        {job.next_run_at !== null && (
          <span className="flex-none">
            <TimeText at={job.next_run_at} relative="short" />
          </span>
        )}
      </span>
    </span>
  );
}
