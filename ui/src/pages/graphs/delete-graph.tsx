import type { ReactNode } from 'react';
import { useGet } from '../../api/use-get.ts';
import { useSend } from '../../api/use-send.ts';
import { ConfirmDialog } from '../../components/controls/confirm-dialog.tsx';
import { toast } from '../../components/controls/toasts.tsx';
import { listed, plural } from '../../format/words.ts';
import { useGo } from '../../url/link.tsx';

/** Asks before a graph goes, and names who uses it: the server then keeps it. */
export function DeleteGraph({ name, onClose }: { name: string; onClose(): void }): ReactNode {
  const go = useGo();
  const { data } = useGet('/api/v1/dags/{name}', { path: { name } });
  const { send } = useSend('delete', '/api/v1/dags/{name}', { invalidates: ['/api/v1/dags'] });
  const users = data?.used_by;
  const used = users === undefined ? 0 : users.profiles.length + users.jobs.length;
  return (
    <ConfirmDialog
      title={`Delete the graph ${name}?`}
      goes={
        used > 0
          ? `It is used by ${plural(used, 'profile or job', 'profiles and jobs')} (${listed([...(users?.profiles ?? []), ...(users?.jobs ?? []).map((job) => job.name ?? job.job_id)].slice(0, 5))}), so the server keeps it until they name another one.`
          : 'Its file is deleted. No profile or job uses it.'
      }
      stays="Scans that ran it keep their results."
      verb="Delete graph"
      onConfirm={async () => {
        await send({ path: { name } });
        toast(`Graph ${name} deleted`);
        go('/graphs');
      }}
      onClose={onClose}
    />
  );
}
