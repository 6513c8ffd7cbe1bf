import type { Job } from './job.ts';

/** The last runs, oldest first: height and shape say the outcome, not color alone. */
export function RunBars({ runs }: { runs: Job['runs'] }) {
  const ordered = [...runs].reverse();
  const failed = runs.filter(({ status }) => status === 'failed').length;
  if (ordered.length === 0) return <span className="text-text-2">none yet</span>;
  return (
    <span
      role="img"
      aria-label={`${runs.length} runs, ${failed} failed`}
      className="flex h-4 items-end gap-0.5"
    >
      {ordered.map(({ scan_id, status, started_at }, index) => (
        <span
          key={scan_id ?? started_at ?? index}
          className={`w-1 ${looks[status] ?? 'h-2 border border-state-pending'}`}
        />
      ))}
    </span>
  );
}

const looks: Record<string, string> = {
  completed: 'h-3 bg-state-completed',
  failed: 'h-4 bg-state-failed',
  running: 'h-3 bg-state-running',
};
