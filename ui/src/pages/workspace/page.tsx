import { useState } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import type { Data } from '../../api/api-types.ts';
import { useGet } from '../../api/use-get.ts';
import { useSend } from '../../api/use-send.ts';
import { Button } from '../../components/controls/button.tsx';
import { ConfirmDialog } from '../../components/controls/confirm-dialog.tsx';
import { Field } from '../../components/controls/field.tsx';
import { LinkButton } from '../../components/controls/link-button.tsx';
import { TextInput } from '../../components/controls/text-input.tsx';
import { toast } from '../../components/controls/toasts.tsx';
import { Note } from '../../components/layout/note.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Section } from '../../components/layout/section.tsx';
import { Strip } from '../../components/layout/strip.tsx';
import { Boundary } from '../../components/states/boundary.tsx';
import { BytesText } from '../../components/text/bytes-text.tsx';
import { Mono } from '../../components/text/mono.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { TimeText } from '../../components/text/time-text.tsx';
import { bytes, count } from '../../format/numbers.ts';
import { plural } from '../../format/words.ts';
import { useCan } from '../../session/session.ts';
import { Link } from '../../url/link.tsx';

type Collected = Data<'/api/v1/workspace/gc', 'post'>;

/** How much is stored, and what old scans would free. */
export default function WorkspacePage() {
  const got = useGet('/api/v1/workspace/info', {});
  return (
    <>
      <PageHeader title="Workspace" actions={<LinkButton to="/scans">All scans</LinkButton>} />
      <Boundary got={got} rows={4}>
        {(info) => (
          <>
            <div className="border-line border-y">
              <Strip
                label="Workspace"
                numbers={[
                  { key: 'size', label: 'Size', value: <BytesText bytes={info.size_bytes} /> },
                  { key: 'scans', label: 'Scans', value: count(info.scan_count) },
                  {
                    key: 'oldest',
                    label: 'Oldest',
                    value: info.oldest_scan === null ? '–' : <TimeText at={info.oldest_scan} relative />,
                  },
                  {
                    key: 'newest',
                    label: 'Newest',
                    value: info.newest_scan === null ? '–' : <TimeText at={info.newest_scan} relative />,
                  },
                ]}
              />
            </div>
            <p className="py-3 text-text-2">
              Folder <TargetText text={info.path} mono />
            </p>
          </>
        )}
      </Boundary>
      <Cleanup />
    </>
  );
}

const listed = 50;

/** Shows what would go before anything does. */
function Cleanup() {
  const [olderThan, setOlderThan] = useState('90d');
  const [keepLast, setKeepLast] = useState('20');
  const [preview, setPreview] = useState<Collected | null>(null);
  const [isAsking, setAsking] = useState(false);
  const mayWrite = useCan('workspace:write', 'scan:write');
  const { send, isPending, error } = useSend('post', '/api/v1/workspace/gc', {
    invalidates: ['/api/v1/workspace/info', '/api/v1/scans'],
  });
  const criteria = {
    ...(olderThan !== '' && { older_than: olderThan }),
    ...(keepLast !== '' && { keep_last: Number(keepLast) }),
  };
  const show = () =>
    void send({ body: { ...criteria, dry_run: true } }).then(setPreview, () => setPreview(null));
  const remove = async () => {
    const done = await send({ body: { ...criteria, dry_run: false } });
    setPreview(null);
    toast(`${plural(done.deleted_count, 'scan')} deleted, ${bytes(done.freed_bytes)} freed`);
  };
  return (
    <Section title="Clean up" className="max-w-[680px]">
      <form
        className="flex flex-col gap-5 pt-3"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          show();
        }}
      >
        <Field label="Older than" hint="For example 30d, 12w, 6mo." error={error?.reasonOf('older_than')}>
          <TextInput value={olderThan} onChange={setOlderThan} mono />
        </Field>
        <Field
          label="Keep the newest"
          hint="These scans stay whatever their age."
          error={error?.reasonOf('keep_last')}
        >
          <TextInput
            value={keepLast}
            onChange={(text) => setKeepLast(text.replace(/\D/g, ''))}
            mono
            inputMode="numeric"
          />
        </Field>
        <div>
          <Button
            type="submit"
            disabledReason={
              mayWrite ? (isPending ? 'Looking' : undefined) : 'Needs the scope workspace:write or scan:write'
            }
          >
            Show what would go
          </Button>
        </div>
      </form>
      {error && error.fields.length === 0 && <GcFailure error={error} />}
      {preview && <Preview preview={preview} onDelete={() => setAsking(true)} />}
      <ConfirmDialog
        open={isAsking}
        onClose={() => setAsking(false)}
        title={`Delete ${plural(preview?.deleted_count ?? 0, 'scan')}?`}
        goes={`${bytes(preview?.freed_bytes ?? 0)} of results and reports go. This cannot be undone.`}
        stays={`${plural(preview?.kept_count ?? 0, 'scan')} stay.`}
        verb={`Delete ${plural(preview?.deleted_count ?? 0, 'scan')}`}
        onConfirm={remove}
      />
    </Section>
  );
}

function GcFailure({ error }: { error: ApiError }) {
  return (
    <Note tone="problem" title={error.code}>
      {error.message}
    </Note>
  );
}

function Preview({ preview, onDelete }: { preview: Collected; onDelete: () => void }) {
  const { deleted_scans: scans, deleted_count: number, freed_bytes: freed, kept_count: kept } = preview;
  return (
    <div className="flex flex-col gap-3 pt-5" role="status">
      <p>
        <strong className="font-semibold">
          {plural(number, 'scan')} would go, {bytes(freed)}.
        </strong>{' '}
        <span className="text-text-2">{plural(kept, 'scan')} stay.</span>
      </p>
      <ul
        className="max-h-72 overflow-y-auto border-line border-t"
        tabIndex={0}
        aria-label="Scans that would go"
      >
        {scans.slice(0, listed).map((id) => (
          <li key={id} className="flex h-7 items-center border-line-subtle border-b">
            <Link to={`/scans/${id}`}>
              <Mono>{id}</Mono>
            </Link>
          </li>
        ))}
        {scans.length > listed && <li className="py-1 text-text-2">{count(scans.length - listed)} more</li>}
      </ul>
      {number > 0 && (
        <div>
          <Button variant="danger" onClick={onDelete}>
            Delete {plural(number, 'scan')}…
          </Button>
        </div>
      )}
    </div>
  );
}
