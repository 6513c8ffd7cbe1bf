import { Note } from '../../components/layout/note.tsx';
import { Progress } from '../../components/layout/progress.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { percent } from '../../format/numbers.ts';
import { Link } from '../../url/link.tsx';
import type { Job } from '../jobs/job.ts';

/** What needs attention: why it failed, why it waits, and what runs now. */
export function JobNotes({ job }: { job: Job }) {
  const { error, warnings = [], status, scan_id: scanId, progress } = job;
  const isRunning = status === 'running';
  if (!isRunning && error === null && warnings.length === 0) return null;
  return (
    <div className="flex max-w-[680px] flex-col gap-3 pb-6">
      {isRunning && (
        <div className="flex flex-col gap-1.5">
          <p className="flex justify-between gap-3">
            <span className="font-medium">{percent(progress, 100)} of the scan that runs now</span>
            {scanId !== null && <Link to={`/scans/${scanId}`}>Open scan</Link>}
          </p>
          <Progress value={progress} max={100} label="Progress of the scan that runs now" />
        </div>
      )}
      {error !== null && error.code !== 'canceled' && !isRunning && (
        <Note tone="warning" title={job.schedule === null ? 'It failed' : 'The last run failed'}>
          <TargetText text={error.message} wrap />
        </Note>
      )}
      {warnings.map(({ code, message }) => (
        <Note key={code} tone="warning" title="Its run is delayed">
          <TargetText text={message} wrap />
        </Note>
      ))}
    </div>
  );
}
