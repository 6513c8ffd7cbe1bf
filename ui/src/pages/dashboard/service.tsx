import type { Data } from '../../api/api-types.ts';
import { useGet } from '../../api/use-get.ts';
import { KeyValues } from '../../components/layout/key-values.tsx';
import { Section } from '../../components/layout/section.tsx';
import { StateMark } from '../../components/marks/state-mark.tsx';
import { LoadingRows } from '../../components/states/loading-rows.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { TimeText } from '../../components/text/time-text.tsx';
import { bytes, count } from '../../format/numbers.ts';
import { capitalized } from '../../format/words.ts';
import { useCan } from '../../session/session.ts';
import { Link } from '../../url/link.tsx';
import { jobTitle } from '../jobs/job.ts';
import { VulnerabilityData } from './vulnerability-data.tsx';

type Health = Data<'/api/v1/health'>;

/** In the place of a value that is on its way. */
const awaited = '…';
const mebibyte = 1_048_576;
/** Jobs that are looked through for the next run. */
const readJobs = 200;

/** How the service is, and what it will do next. Lines that the token may not read are left out. */
export function Service() {
  const { data: health, error } = useGet('/api/v1/health', {}, { every: 15_000 });
  const alerts = useFiringAlerts();
  const next = useNextJob();
  if (!health)
    return error ? null : (
      <Section title="Service">
        <LoadingRows rows={7} />
      </Section>
    );
  const { workers, queue, workspace } = health;
  return (
    <Section title="Service" link={{ label: 'Workers', to: '/workers' }}>
      <KeyValues
        rows={[
          { label: 'Health', value: <HealthWord health={health} /> },
          { label: 'Workers', value: `${count(workers.active)} of ${count(workers.total)} busy` },
          { label: 'Queue', value: `${count(queue.pending)} waiting, ${count(queue.failed)} failed` },
          { label: 'Next job', value: next },
          { label: 'Disk', value: `${bytes(workspace.free_space_mb * mebibyte)} free` },
          {
            label: 'Vulnerability data',
            value: <VulnerabilityData />,
          },
          { label: 'Alerts', value: alerts },
        ]}
      />
      {health.checks.length > 0 && (
        <ul className="pt-2 text-size-12 text-text-2">
          {health.checks.slice(0, 3).map(({ name, message }) => (
            <li key={name} className="py-0.5 [overflow-wrap:anywhere]">
              <TargetText text={capitalized(message)} wrap />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

const healthStates = { healthy: 'completed', degraded: 'interrupted', unhealthy: 'failed' } as const;

function HealthWord({ health: { status } }: { health: Health }) {
  return <StateMark state={healthStates[status]} word={capitalized(status)} />;
}

function useFiringAlerts() {
  const mayRead = useCan('metrics:read');
  const { data, error } = useGet('/api/v1/alerts', {}, { enabled: mayRead });
  if (data === undefined) return mayRead && error === null ? awaited : undefined;
  const firing = data.alerts.filter(({ state }) => state === 'firing').length;
  return firing === 0 ? 'none firing' : <Link to="/alerts">{count(firing)} firing</Link>;
}

function useNextJob() {
  const { data, error } = useGet('/api/v1/jobs', { query: { limit: readJobs } });
  if (data === undefined) return error === null ? awaited : undefined;
  const [next] = data.jobs
    .filter(({ next_run_at: at }) => at !== null)
    .sort((a, b) => String(a.next_run_at).localeCompare(String(b.next_run_at)));
  if (next === undefined) return <span className="text-text-2">none scheduled</span>;
  return (
    <>
      <Link to={`/jobs/${next.job_id}`} className="text-text-1">
        <TargetText text={jobTitle(next)} max={40} />
      </Link>{' '}
      <span className="text-text-2">
        <TimeText at={next.next_run_at} relative />
      </span>
    </>
  );
}
