import type { ReactNode } from 'react';
import { useGet } from '../../api/use-get.ts';
import { useSend } from '../../api/use-send.ts';
import { ConfirmDialog } from '../../components/controls/confirm-dialog.tsx';
import { toast } from '../../components/controls/toasts.tsx';
import { listed, plural } from '../../format/words.ts';
import { useGo } from '../../url/link.tsx';

/** Jobs that are named; more are counted. */
const mostNamed = 5;

/** Asks before a profile goes, and names the jobs that use it: the server then keeps it. */
export function DeleteProfile({ name, onClose }: { name: string; onClose(): void }): ReactNode {
  const go = useGo();
  const { data } = useGet('/api/v1/profiles/{name}', { path: { name } });
  const { send } = useSend('delete', '/api/v1/profiles/{name}', { invalidates: ['/api/v1/profiles'] });
  const jobs = data?.used_by.jobs ?? [];
  const names = listed(jobs.slice(0, mostNamed).map((job) => job.name ?? job.job_id));
  return (
    <ConfirmDialog
      title={`Delete the profile ${name}?`}
      goes={
        jobs.length > 0
          ? `It is used by ${plural(jobs.length, 'job')} (${names}), so the server keeps it until they name another one.`
          : 'Its file is deleted. No job uses it.'
      }
      stays="Scans that ran it keep their results."
      verb="Delete profile"
      onConfirm={async () => {
        await send({ path: { name } });
        toast(`Profile ${name} deleted`);
        go('/profiles');
      }}
      onClose={onClose}
    />
  );
}
