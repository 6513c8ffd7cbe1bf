import { KeyValues } from '../../components/layout/key-values.tsx';
import { Section } from '../../components/layout/section.tsx';
import { Mono } from '../../components/text/mono.tsx';
import { PortList } from '../../components/text/port-list.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { TimeText } from '../../components/text/time-text.tsx';
import { count } from '../../format/numbers.ts';
import { capitalized } from '../../format/words.ts';
import { Link } from '../../url/link.tsx';
import { type Job, paramsOf } from '../jobs/job.ts';
import { JobChannels } from './job-channels.tsx';

/** Targets that are listed; the others are counted. */
const listedTargets = 20;
/** Named on their own above the rest. */
const known = new Set(['targets', 'targets_total', 'profile', 'name', 'options', 'notifications']);

/** Fields whose name is no word for readers. */
const labels: Readonly<Record<string, string>> = {
  vuln: 'Evaluates vulnerabilities',
  dag: 'Graph',
  rate: 'Packets per second',
  min_severity: 'Findings from',
  discover: 'Host discovery',
};

/** What each run scans, as it was ordered, and by whom. */
export function JobFacts({ job }: { job: Job }) {
  const { profile } = paramsOf(job);
  return (
    <div className="flex min-w-0 flex-col gap-8">
      <Section title="What it scans">
        <KeyValues
          form="split"
          rows={[
            { label: 'Targets', value: <Targets job={job} /> },
            {
              label: 'Profile',
              value:
                typeof profile === 'string' ? (
                  <Link to={`/profiles/${encodeURIComponent(profile)}`}>{profile}</Link>
                ) : (
                  'default of the server'
                ),
            },
            ...optionsOf(job).map(([name, value]) => ({
              label: labels[name] ?? capitalized(name.replaceAll('_', ' ')),
              value: name === 'ports' ? <PortList text={value} /> : <TargetText text={value} mono wrap />,
            })),
            { label: 'Schedule', value: job.schedule === null ? 'once' : <Mono>{job.schedule}</Mono> },
            { label: 'Created', value: <TimeText at={job.created_at} /> },
            {
              label: 'By',
              value:
                job.created_by === null ? undefined : (
                  <>
                    token <Mono>{job.created_by}</Mono>
                  </>
                ),
            },
          ]}
        />
      </Section>
      <JobChannels job={job} />
    </div>
  );
}

function Targets({ job }: { job: Job }) {
  const { targets = [], targets_total: total = targets.length } = paramsOf(job);
  return (
    <span className="flex flex-col">
      {targets.slice(0, listedTargets).map((target) => (
        <TargetText key={target} text={target} mono wrap />
      ))}
      {total > listedTargets && <span className="text-text-2">and {count(total - listedTargets)} more</span>}
    </span>
  );
}

/** Members of the request, those of `options` beside the others; texts as the API has them. */
function optionsOf(job: Job): [name: string, value: string][] {
  const params = paramsOf(job);
  const options = (params['options'] ?? {}) as Record<string, unknown>;
  return [...Object.entries(params).filter(([name]) => !known.has(name)), ...Object.entries(options)].map(
    ([name, value]) => [name, textOf(value)],
  );
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  if (value === true) return 'yes';
  if (value === false) return 'no';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
