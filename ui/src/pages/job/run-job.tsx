import type { ReactNode } from 'react';
import { useSend } from '../../api/use-send.ts';
import { Button } from '../../components/controls/button.tsx';
import { LinkButton } from '../../components/controls/link-button.tsx';
import { toast } from '../../components/controls/toasts.tsx';
import { useLack } from '../../components/controls/use-lack.ts';
import { searchText } from '../../url/search-text.ts';
import { isActive, type Job } from '../jobs/job.ts';

/** Of a recurring job: its next run at once, and the form with what it is. */
export function RunJob({ job }: { job: Job }): ReactNode {
  const lack = useLack('job:write', 'scan:write');
  const run = useSend('post', '/api/v1/jobs/{job_id}/run', {
    invalidates: ['/api/v1/jobs', '/api/v1/jobs/{job_id}'],
  });
  if (!isActive(job) || job.next_run_at === null) return null;
  const start = () =>
    run.send({ path: { job_id: job.job_id } }).then(
      () => toast('The job runs now'),
      (error: Error) => toast(error.message, { tone: 'problem' }),
    );
  return (
    <>
      <Button
        icon="play"
        pending={run.isPending}
        disabledReason={lack ?? (job.status === 'running' && 'It runs now')}
        onClick={() => void start()}
      >
        Run now
      </Button>
      {lack === null ? (
        <LinkButton to={`/jobs/new${searchText({ edit: job.job_id })}`}>Edit</LinkButton>
      ) : (
        <Button disabledReason={lack}>Edit</Button>
      )}
    </>
  );
}
