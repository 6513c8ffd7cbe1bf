import { plural } from '../../format/words.ts';
import type { Job } from './job.ts';

type Status = Job['runs'][number]['status'];

/** The last runs, the latest at the right: height and shape say the outcome, not color alone. */
export function RunBars({ runs }: { runs: Job['runs'] }) {
  if (runs.length === 0) return <span className="text-text-3">none yet</span>;
  const title = outcomes(runs);
  return (
    <span
      role="img"
      aria-label={title}
      title={title}
      className="flex h-4 w-full items-end justify-end gap-0.5"
    >
      {runs
        .map(({ scan_id, status, started_at }, index) => (
          <RunBar key={scan_id ?? started_at ?? index} status={status} />
        ))
        .reverse()}
    </span>
  );
}

/** One run. */
export function RunBar({ status }: { status: Status }) {
  return <span className={`w-1 flex-none ${looks[status]}`} />;
}

const looks: Record<Status, string> = {
  completed: 'h-3 bg-state-completed opacity-60 forced-colors:bg-[CanvasText]',
  failed: 'h-4 bg-state-failed forced-colors:bg-[Highlight]',
  running: 'h-3 bg-accent forced-colors:bg-[Highlight]',
  pending: 'h-2 border border-line-control',
};

function outcomes(runs: Job['runs']): string {
  const parts = (['completed', 'failed', 'running', 'pending'] as const)
    .map((status) => ({ status, number: runs.filter((run) => run.status === status).length }))
    .filter(({ number }) => number > 0)
    .map(({ status, number }) => `${number} ${status}`);
  return `Last ${plural(runs.length, 'run')}: ${parts.join(', ')}`;
}
