import { type ReactNode, useState } from 'react';
import { useSend } from '../../api/use-send.ts';
import { Button } from '../../components/controls/button.tsx';
import { ConfirmDialog } from '../../components/controls/confirm-dialog.tsx';
import { toast } from '../../components/controls/toasts.tsx';
import { useLack } from '../../components/controls/use-lack.ts';
import type { PluginRow } from './plugin-words.ts';

/** Switches an installed plugin off or on, returns to its version before, removes it. */
export function ChangePlugin({ plugin, onRemoved }: { plugin: PluginRow; onRemoved: () => void }): ReactNode {
  const { name, version, previous, disabled } = plugin;
  const [isAsking, setAsking] = useState(false);
  const lack = useLack('plugin:manage', 'plugin:write');
  const outdated = { invalidates: ['/api/v1/plugins', '/api/v1/modules'] as const };
  const toggle = useSend('put', '/api/v1/plugins/{name}', outdated);
  const rollBack = useSend('post', '/api/v1/plugins/{name}/rollback', outdated);
  const remove = useSend('delete', '/api/v1/plugins/{name}', outdated);
  const path = { name };
  const failed = (error: Error) => toast(error.message, { tone: 'problem' });
  return (
    <div className="flex flex-wrap gap-2 pb-4">
      <Button
        pending={toggle.isPending}
        disabledReason={lack}
        onClick={() => void toggle.send({ path, body: { disabled: !disabled } }).catch(failed)}
      >
        {disabled ? 'Enable' : 'Disable'}
      </Button>
      {previous !== null && (
        <Button
          pending={rollBack.isPending}
          disabledReason={lack}
          onClick={() => void rollBack.send({ path }).catch(failed)}
        >
          Return to {previous}
        </Button>
      )}
      <Button variant="danger" disabledReason={lack} onClick={() => setAsking(true)}>
        Remove…
      </Button>
      <ConfirmDialog
        open={isAsking}
        onClose={() => setAsking(false)}
        title={`Remove ${name}?`}
        goes={previous === null ? `Version ${version} goes.` : `Versions ${version} and ${previous} go.`}
        stays="Results of earlier scans stay; scans that were accepted keep it."
        verb="Remove plugin"
        onConfirm={async () => {
          await remove.send({ path });
          onRemoved();
        }}
      />
    </div>
  );
}
