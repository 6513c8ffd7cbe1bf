import { Section } from '../../components/layout/section.tsx';
import { TimeText } from '../../components/text/time-text.tsx';
import { capitalized } from '../../format/words.ts';
import { isActive, type Job } from '../jobs/job.ts';
import { NextDay } from '../jobs/next-day.tsx';
import { useSchedule } from '../jobs/use-schedule.ts';

const shown = 5;

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
          <ol className="pt-2">
            {runs.slice(0, shown).map((at) => (
              <li key={at} className="flex h-7 items-center gap-3 border-line-subtle border-b">
                <TimeText at={at} />
                <span className="ml-auto text-text-2">
                  <TimeText at={at} relative />
                </span>
              </li>
            ))}
          </ol>
        </>
      )}
    </Section>
  );
}

function noneText(job: Job): string {
  if (!isActive(job)) return job.status === 'canceled' ? 'None: the job was canceled.' : 'None: it ran once.';
  return job.status === 'running' ? 'It runs now.' : 'It runs when a worker is free.';
}
