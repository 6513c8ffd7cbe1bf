import { useParams } from '@tanstack/react-router';
import { useGet } from '../../api/use-get.ts';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { StateMark } from '../../components/marks/state-mark.tsx';
import { Boundary } from '../../components/states/boundary.tsx';
import { Mono } from '../../components/text/mono.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { plural, shownState } from '../../format/words.ts';
import { usePageTitle } from '../../url/page-title.ts';
import { type Job, jobTitle } from '../jobs/job.ts';
import { CancelJob } from './cancel-job.tsx';
import { JobFacts } from './job-facts.tsx';
import { JobNotes } from './job-notes.tsx';
import { JobRuns } from './job-runs.tsx';
import { NextRuns } from './next-runs.tsx';
import { RunJob } from './run-job.tsx';

const crumbs = [{ label: 'Jobs', to: '/jobs' }];

/** A job: what it scans, when, and how its runs went. */
export default function JobPage() {
  const { jobId = '' } = useParams({ strict: false }) as { jobId?: string };
  const got = useGet('/api/v1/jobs/{job_id}', { path: { job_id: jobId } });
  usePageTitle(got.data ? jobTitle(got.data) : 'Job', crumbs);
  return (
    <>
      {got.data ? <JobHeader job={got.data} /> : <h1 className="pb-4">Job</h1>}
      <Boundary
        got={got}
        what={`The job ${jobId}`}
        doing="see jobs"
        list={{ to: '/jobs', label: 'All jobs' }}
        rows={8}
        rowHeight={36}
      >
        {(job) => (
          <>
            <JobNotes job={job} />
            <div className="grid items-start gap-8 desk:grid-cols-[minmax(0,1fr)_320px]">
              <div className="flex min-w-0 flex-col gap-8">
                <NextRuns job={job} />
                <JobRuns job={job} />
              </div>
              <JobFacts job={job} />
            </div>
          </>
        )}
      </Boundary>
    </>
  );
}

/** Between two runs of a schedule: nothing is late. */
function isWaiting({ status, schedule }: Job): boolean {
  return status === 'pending' && schedule !== null;
}

function JobHeader({ job }: { job: Job }) {
  return (
    <PageHeader
      title={<TargetText text={jobTitle(job)} />}
      mark={<StateMark state={shownState(job)} word={isWaiting(job) ? 'Scheduled' : undefined} />}
      meta={[
        <Mono key="id">{job.job_id}</Mono>,
        `pool ${job.pool}`,
        job.run_count === 0 ? 'no run yet' : plural(job.run_count, 'run'),
      ]}
      actions={
        <>
          <RunJob job={job} />
          <CancelJob job={job} />
        </>
      }
    />
  );
}
