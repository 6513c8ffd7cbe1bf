import { useState } from 'react';
import { useSend } from '../../api/use-send.ts';
import { Button } from '../../components/controls/button.tsx';
import { ConfirmDialog } from '../../components/controls/confirm-dialog.tsx';
import { toast } from '../../components/controls/toasts.tsx';
import { useLack } from '../../components/controls/use-lack.ts';
import { plural } from '../../format/words.ts';
import { isActive, type Job } from '../jobs/job.ts';

/** Asks once, then ends the job and the scan that runs for it. */
export function CancelJob({ job }: { job: Job }) {
  const [isAsking, setAsking] = useState(false);
  const lack = useLack('job:write', 'scan:write');
  const cancel = useSend('post', '/api/v1/jobs/{job_id}/cancel', {
    invalidates: ['/api/v1/jobs', '/api/v1/jobs/{job_id}', '/api/v1/scans'],
  });
  if (!isActive(job)) return null;
  const confirm = async () => {
    await cancel.send({ path: { job_id: job.job_id } });
    toast('Job canceled');
  };
  return (
    <>
      <Button variant="danger" icon="stop" disabledReason={lack} onClick={() => setAsking(true)}>
        Cancel job…
      </Button>
      <ConfirmDialog
        open={isAsking}
        onClose={() => setAsking(false)}
        title="Cancel this job?"
        goes={goes(job)}
        stays={
          job.run_count === 0
            ? 'The job stays in the list.'
            : `The results of ${plural(job.run_count, 'run')} stay.`
        }
        verb="Cancel job"
        onConfirm={confirm}
      />
    </>
  );
}

function goes({ schedule, status }: Job): string {
  const parts = [
    schedule === null ? '' : 'It has no further runs.',
    status === 'running' ? 'Its running scan is stopped.' : '',
  ].filter(Boolean);
  return parts.length === 0 ? 'Its scan is taken out of the queue.' : parts.join(' ');
}
