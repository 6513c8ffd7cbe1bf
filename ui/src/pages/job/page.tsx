import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { Data } from '../../api/api-types.ts';
import { useGet } from '../../api/use-get.ts';
import { useSend } from '../../api/use-send.ts';
import { Button } from '../../components/controls/button.tsx';
import { ConfirmDialog } from '../../components/controls/confirm-dialog.tsx';
import { KeyValues } from '../../components/layout/key-values.tsx';
import { Note } from '../../components/layout/note.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Section } from '../../components/layout/section.tsx';
import { StateMark } from '../../components/marks/state-mark.tsx';
import { Boundary } from '../../components/states/boundary.tsx';
import { DurationText } from '../../components/text/duration-text.tsx';
import { Mono } from '../../components/text/mono.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { TimeText } from '../../components/text/time-text.tsx';
import { count } from '../../format/numbers.ts';
import { useCan } from '../../session/session.ts';
import { Link } from '../../url/link.tsx';
import { usePageTitle } from '../../url/page-title.ts';
import { searchText } from '../../url/search-text.ts';
import { jobTitle } from '../jobs/job.ts';

type Job = Data<'/api/v1/jobs/{job_id}'>;

/** A job: what it scans, when, and how its runs went. */
export default function JobPage() {
  const { jobId = '' } = useParams({ strict: false }) as { jobId?: string };
  const got = useGet('/api/v1/jobs/{job_id}', { path: { job_id: jobId } });
  usePageTitle(got.data ? jobTitle(got.data) : jobId, [{ label: 'Jobs', to: '/jobs' }]);
  return (
    <Boundary got={got} rows={8}>
      {(job) => <Content job={job} />}
    </Boundary>
  );
}

function Content({ job }: { job: Job }) {
  const params = job.params as { targets?: string[]; profile?: string; vuln?: boolean };
  return (
    <>
      <PageHeader
        title={<TargetText text={jobTitle(job)} />}
        mark={<StateMark state={job.status} />}
        meta={[<Mono key="id">{job.job_id}</Mono>, `pool ${job.pool}`]}
        actions={<Cancel job={job} />}
      />
      <div className="flex max-w-[680px] flex-col gap-8">
        {job.error && (
          <Note tone="problem" title={job.error.code}>
            <TargetText text={job.error.message} wrap />
          </Note>
        )}
        {job.warnings?.map(({ code, message }) => (
          <Note key={code} tone="warning">
            <TargetText text={message} wrap />
          </Note>
        ))}
        <KeyValues
          form="column"
          rows={[
            { label: 'Targets', value: <TargetText text={params.targets?.join(', ') ?? '–'} mono wrap /> },
            { label: 'Profile', value: params.profile ?? 'default' },
            { label: 'Schedule', value: job.schedule === null ? 'once' : <Mono>{job.schedule}</Mono> },
            { label: 'Created', value: <TimeText at={job.created_at} /> },
            { label: 'Runs', value: count(job.run_count) },
          ]}
        />
        <Section title="Next runs">
          {job.next_runs.length === 0 ? (
            <p className="pt-2 text-text-2">No further run.</p>
          ) : (
            <ul>
              {job.next_runs.map((at) => (
                <li key={at} className="flex h-9 items-center gap-3 border-line-subtle border-b">
                  <TimeText at={at} />{' '}
                  <span className="text-text-2">
                    <TimeText at={at} relative />
                  </span>
                </li>
              ))}
            </ul>
          )}
        </Section>
        <Runs runs={job.runs} />
      </div>
    </>
  );
}

function Runs({ runs }: Pick<Job, 'runs'>) {
  return (
    <Section title="Last runs" note={runs.length === 0 ? 'none yet' : `${runs.length} of at most 20`}>
      <ul>
        {runs.map(({ scan_id, status, started_at, completed_at }, index) => {
          const before = runs.slice(index + 1).find((run) => run.status === 'completed')?.scan_id;
          return (
            <li
              key={scan_id ?? index}
              className="flex min-h-9 flex-wrap items-center gap-3 border-line-subtle border-b"
            >
              <span className="w-28">
                <StateMark state={status} />
              </span>
              {started_at && <TimeText at={started_at} />}
              {started_at && completed_at && (
                <span className="text-text-2">
                  took <DurationText ms={Date.parse(completed_at) - Date.parse(started_at)} />
                </span>
              )}
              <span className="grow" />
              {scan_id && status === 'completed' && before && (
                <Link to={`/compare${searchText({ scan: scan_id, against: before })}`}>What changed</Link>
              )}
              {scan_id && <Link to={`/scans/${scan_id}`}>Open scan</Link>}
            </li>
          );
        })}
      </ul>
    </Section>
  );
}

function Cancel({ job }: { job: Job }) {
  const [isAsking, setAsking] = useState(false);
  const mayWrite = useCan('job:write', 'scan:write');
  const cancel = useSend('post', '/api/v1/jobs/{job_id}/cancel', {
    invalidates: ['/api/v1/jobs', '/api/v1/jobs/{job_id}'],
  });
  if (job.status !== 'pending' && job.status !== 'running') return null;
  return (
    <>
      <Button
        variant="danger"
        disabledReason={mayWrite ? undefined : 'Needs the scope job:write or scan:write'}
        onClick={() => setAsking(true)}
      >
        Cancel job…
      </Button>
      <ConfirmDialog
        open={isAsking}
        onClose={() => setAsking(false)}
        title="Cancel this job?"
        goes={
          job.schedule === null
            ? 'Its scan is stopped.'
            : 'It gets no further runs; a running scan is stopped.'
        }
        stays={`The results of its ${count(job.run_count)} runs stay.`}
        verb="Cancel job"
        onConfirm={() => cancel.send({ path: { job_id: job.job_id } })}
      />
    </>
  );
}
