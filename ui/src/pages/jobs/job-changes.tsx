import { useGet } from '../../api/use-get.ts';
import { useCan } from '../../session/session.ts';
import { Link } from '../../url/link.tsx';
import { searchText } from '../../url/search-text.ts';
import { ChangeCounts } from './change-counts.tsx';
import { comparedRun, type Job } from './job.ts';

/**
 * What changed with the last completed run. The dashboard has compared the newest series already; for the others a
 * comparison is a click: each of them reads two whole scans.
 */
export function JobChanges({ job }: { job: Job }) {
  const run = comparedRun(job);
  const mayCompare = useCan('scan:read');
  const { data } = useGet('/api/v1/dashboard', {}, { enabled: run !== null && mayCompare });
  if (run === null)
    return (
      <span className="text-size-12 text-text-3">{job.status === 'running' ? 'after this run' : '–'}</span>
    );
  const changes = data?.series.find(({ scan }) => scan.scan_id === run)?.changes;
  const to = `/compare${searchText({ scan: run })}`;
  if (!changes)
    return (
      <Link to={to} className="text-size-12">
        Compare
      </Link>
    );
  return (
    <Link to={to} className="text-size-12">
      <ChangeCounts changes={changes} />
    </Link>
  );
}
