import { useEffect, useState } from 'react';
import { download } from '../../api/download.ts';
import { useSend } from '../../api/use-send.ts';
import { Button } from '../../components/controls/button.tsx';
import { ConfirmDialog } from '../../components/controls/confirm-dialog.tsx';
import { toast } from '../../components/controls/toasts.tsx';
import { useLack } from '../../components/controls/use-lack.ts';
import { listed, plural } from '../../format/words.ts';
import { useGo } from '../../url/link.tsx';
import type { ListedScan } from './scan-columns.tsx';

interface SelectionBarProps {
  selected: ReadonlySet<string>;
  /** The loaded ones of them, to say what goes. */
  scans: readonly ListedScan[];
  onDone: () => void;
}

/** What can be done with the selected scans. Escape ends the selection. */
export function SelectionBar({ selected, scans, onDone }: SelectionBarProps) {
  const [isAsking, setAsking] = useState(false);
  const go = useGo();
  const lack = useLack('scan:write');
  const { send } = useSend('delete', '/api/v1/scans/{scan_id}', {
    invalidates: ['/api/v1/scans', '/api/v1/dashboard', '/api/v1/workspace/info'],
  });
  const ids = [...selected].sort();
  const [older = '', newer = ''] = ids;
  const many = plural(ids.length, 'scan');
  useEscape(!isAsking, onDone);
  const exportAll = async () => {
    for (const id of ids) await download(`/api/v1/workspace/scans/${id}/export?format=json`);
  };
  const deleteAll = async () => {
    for (const id of ids) await send({ path: { scan_id: id } });
    onDone();
    toast(`${many} deleted`);
  };
  return (
    <div
      role="region"
      aria-label="Selected scans"
      className="fixed inset-x-3 bottom-6 z-20 mx-auto flex w-fit max-w-full flex-wrap items-center gap-2 rounded-l bg-surface-overlay px-4 py-2 shadow-overlay forced-colors:border"
    >
      <span role="status" className="font-medium">
        {many} selected
      </span>
      <Button
        icon="compare"
        disabledReason={ids.length === 2 ? undefined : 'Select two scans'}
        onClick={() => go(`/compare?scan=${newer}&against=${older}`)}
      >
        Compare
      </Button>
      <Button icon="download" onClick={() => void exportAll().catch((error: Error) => toast(error.message))}>
        Export
      </Button>
      <Button variant="danger" disabledReason={lack} onClick={() => setAsking(true)}>
        Delete…
      </Button>
      <Button variant="ghost" onClick={onDone}>
        Clear
      </Button>
      <ConfirmDialog
        open={isAsking}
        onClose={() => setAsking(false)}
        title={`Delete ${many}?`}
        goes={whatGoes(scans)}
        stays="Jobs and all other scans stay."
        verb={`Delete ${many}`}
        onConfirm={deleteAll}
      />
    </div>
  );
}

function whatGoes(scans: readonly ListedScan[]): string {
  const sum = (member: 'live_hosts' | 'open_ports' | 'vulnerabilities') =>
    scans.reduce((total, { results }) => total + results[member], 0);
  const parts = [
    plural(sum('live_hosts'), 'host'),
    plural(sum('open_ports'), 'service'),
    plural(sum('vulnerabilities'), 'finding'),
  ];
  const running = scans.filter(({ status }) => status === 'running' || status === 'pending').length;
  const stopped = running === 0 ? '' : ` ${plural(running, 'scan')} of them still to end: stopped first.`;
  return `${listed(parts)} go, with all reports of them.${stopped}`;
}

function useEscape(isOn: boolean, onEscape: () => void): void {
  useEffect(() => {
    if (!isOn) return;
    const press = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !event.defaultPrevented) onEscape();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [isOn, onEscape]);
}
