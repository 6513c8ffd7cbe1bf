import { Section } from '../../components/layout/section.tsx';
import { capitalized } from '../../format/words.ts';
import { isActive, type Job } from '../jobs/job.ts';
import { NextDay } from '../jobs/next-day.tsx';
import { NextRunList } from '../jobs/next-run-list.tsx';
import { useSchedule } from '../jobs/use-schedule.ts';

/** The schedule in words, the next 24 hours, and the next five runs. */
export function NextRuns({ job }: { job: Job }) {
  const isOver = job.next_run_at === null;
  const { preview } = useSchedule(job.schedule);
  const runs = isOver ? [] : (preview?.next ?? job.next_runs);
  return (
    <Section title="Next runs" note={preview && `${capitalized(preview.in_words)}, ${preview.zone}`}>
      {isOver ? (
        <p className="pt-2 text-text-2">{noneText(job)}</p>
      ) : (
        <>
          <div className="pt-3">
            <NextDay runs={runs} isRunning={job.status === 'running'} />
            <p aria-hidden className="flex justify-between text-size-11 text-text-3">
              <span>now</span>
              <span>in 12 h</span>
              <span>in 24 h</span>
            </p>
          </div>
          <div className="pt-2">
            <NextRunList runs={runs} server={preview?.zone ?? 'UTC'} />
          </div>
        </>
      )}
    </Section>
  );
}

function noneText(job: Job): string {
  if (!isActive(job)) return job.status === 'canceled' ? 'None: the job was canceled.' : 'None: it ran once.';
  return job.status === 'running' ? 'It runs now.' : 'It runs when a worker is free.';
}
