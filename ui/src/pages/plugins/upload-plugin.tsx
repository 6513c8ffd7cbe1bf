import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { useSend } from '../../api/use-send.ts';
import { Button } from '../../components/controls/button.tsx';
import { Dialog } from '../../components/controls/dialog.tsx';
import { Field } from '../../components/controls/field.tsx';
import { Select } from '../../components/controls/select.tsx';
import { toast } from '../../components/controls/toasts.tsx';
import { useLack } from '../../components/controls/use-lack.ts';
import { Note } from '../../components/layout/note.tsx';
import { mayText, runsText } from './plugin-words.ts';

/** What a request has room for, bytes: base64 takes a third more. */
const maxUploadBytes = 1_400_000;

const stages = [
  { value: '', label: 'As the file says', hint: 'else only where a graph names its module' },
  { value: 'discovery', label: 'Discovery' },
  { value: 'scanner', label: 'Scanner' },
  { value: 'parser', label: 'Parser' },
  { value: 'fingerprint', label: 'Fingerprint' },
  { value: 'profiler', label: 'Profiler' },
  {
    value: 'evaluation',
    label: 'Evaluation',
    hint: 'in every builtin profile that looks for vulnerabilities',
  },
] as const;
type Stage = (typeof stages)[number]['value'];

/** A button that opens the dialog. */
export function UploadPlugin(): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const lack = useLack('plugin:manage', 'plugin:write');
  return (
    <>
      <Button variant="primary" disabledReason={lack} onClick={() => setOpen(true)}>
        Upload plugin
      </Button>
      {isOpen && <UploadDialog onClose={() => setOpen(false)} />}
    </>
  );
}

function UploadDialog({ onClose }: { onClose: () => void }): ReactNode {
  const form = useId();
  const [file, setFile] = useState<File | null>(null);
  const [stage, setStage] = useState<Stage>('');
  const { send, isPending, error } = useSend('post', '/api/v1/plugins', {
    invalidates: ['/api/v1/plugins', '/api/v1/modules'],
  });
  const tooLarge = file !== null && file.size > maxUploadBytes;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (file === null || tooLarge) return;
    const content = base64Of(new Uint8Array(await file.arrayBuffer()));
    const body = { file: file.name, content, ...(stage !== '' && { stage }) };
    // The error is shown in the form.
    const plugin = await send({ body }).catch(() => null);
    if (plugin === null) return;
    toast(`${plugin.name} ${plugin.version} installed. Runs in ${runsText(plugin)}. May ${mayText(plugin)}.`);
    onClose();
  };
  return (
    <Dialog
      title="Upload plugin"
      note="It is installed on this server and in force at once. Nothing of it runs until a scan uses it, in the sandbox."
      size="normal"
      sticky
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            form={form}
            variant="primary"
            pending={isPending}
            disabledReason={file === null ? 'Choose a file' : tooLarge && 'Larger than 1.4 MB'}
          >
            Install
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={(event) => void submit(event)} className="flex flex-col gap-5" noValidate>
        {error !== null && <Note tone="problem">{error.message}</Note>}
        {tooLarge && (
          <Note tone="warning">
            Larger packages are installed on the machine of the server: portolan plugin install FILE
          </Note>
        )}
        <label className="flex flex-col gap-1.5">
          <span className="font-medium text-size-12">File</span>
          <input
            type="file"
            accept=".mjs,.cjs,.js,.mts,.ts,.node,.so,.wasm,.yaml,.yml,.gz,.tgz,.zip"
            onChange={(event) => setFile(event.target.files?.[0] ?? null)}
            className="min-w-0"
          />
          <span className="text-size-12 text-text-3">
            A package, a script, WebAssembly, a shared object, or rules.
          </span>
        </label>
        <Field label="Stage" hint="Of a script, WebAssembly or shared object: where its module belongs.">
          <Select<Stage> value={stage} onChange={setStage} options={stages} />
        </Field>
      </form>
    </Dialog>
  );
}

function base64Of(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 8192)
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}
