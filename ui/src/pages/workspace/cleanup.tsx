import { useState } from 'react';
import type { Data } from '../../api/api-types.ts';
import { useSend } from '../../api/use-send.ts';
import { Button } from '../../components/controls/button.tsx';
import { ConfirmDialog } from '../../components/controls/confirm-dialog.tsx';
import { Field } from '../../components/controls/field.tsx';
import { TextInput } from '../../components/controls/text-input.tsx';
import { toast } from '../../components/controls/toasts.tsx';
import { useLack } from '../../components/controls/use-lack.ts';
import { Note } from '../../components/layout/note.tsx';
import { Section } from '../../components/layout/section.tsx';
import { bytes, count } from '../../format/numbers.ts';
import { plural } from '../../format/words.ts';
import { GoingScans } from './going-scans.tsx';

export type Collected = Data<'/api/v1/workspace/gc', 'post'>;

/** What a preview was made with: only the same may be deleted after it. */
interface Criteria {
  olderThan: string;
  keepLast: string;
}

/** Shows which scans would go before any does, and asks once. */
export function Cleanup() {
  const [criteria, setCriteria] = useState<Criteria>({ olderThan: '90d', keepLast: '20' });
  const [preview, setPreview] = useState<{ of: Criteria; found: Collected } | null>(null);
  const [isAsking, setAsking] = useState(false);
  const lack = useLack('workspace:write', 'scan:write');
  const { send, isPending, error } = useSend('post', '/api/v1/workspace/gc', {
    invalidates: ['/api/v1/workspace/info', '/api/v1/scans', '/api/v1/dashboard'],
  });
  const change = (changes: Partial<Criteria>) => {
    setCriteria({ ...criteria, ...changes });
    setPreview(null);
  };
  const show = async () => {
    setPreview(null);
    setPreview({ of: criteria, found: await send({ body: { ...bodyOf(criteria), dry_run: true } }) });
  };
  const remove = async ({ of }: { of: Criteria }) => {
    const done = await send({ body: { ...bodyOf(of), dry_run: false } });
    setPreview(null);
    toast(`${plural(done.deleted_count, 'scan')} deleted, ${bytes(done.freed_bytes)} freed`);
    const [failed] = done.errors;
    if (failed)
      toast(`${plural(done.errors.length, 'scan')} not deleted: ${failed.scan_id}: ${failed.message}`, {
        tone: 'problem',
      });
  };
  return (
    <Section title="Clean up" note="Running and waiting scans always stay" className="mt-6">
      <form
        className="flex max-w-[680px] flex-col gap-5 pt-3"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (lack === null && !isPending) void show().catch(() => undefined);
        }}
      >
        <div className="grid gap-5 tablet:grid-cols-2">
          <Field
            label="Older than"
            hint="For example 30d, 12w, 6mo, 1y. Empty: of any age."
            error={error?.reasonOf('older_than')}
          >
            <TextInput
              value={criteria.olderThan}
              onChange={(olderThan) => change({ olderThan })}
              mono
              maxLength={64}
            />
          </Field>
          <Field
            label="Keep the newest"
            hint="These scans stay, however old they are. Empty: none is kept."
            error={error?.reasonOf('keep_last')}
          >
            <TextInput
              value={criteria.keepLast}
              onChange={(text) => change({ keepLast: text.replace(/\D/g, '').slice(0, 9) })}
              mono
              inputMode="numeric"
            />
          </Field>
        </div>
        {isByRetention(criteria) && (
          <p className="text-text-2">Without either, the retention of the server's configuration applies.</p>
        )}
        <div>
          <Button type="submit" disabledReason={lack} pending={isPending} reasonBeside>
            Preview clean-up
          </Button>
        </div>
      </form>
      {error && error.fields.length === 0 && (
        <div className="max-w-[680px] pt-3">
          <Note tone="problem" title="Nothing was deleted">
            {error.message}
          </Note>
        </div>
      )}
      {preview && (
        <div className="flex flex-col gap-3 pt-5">
          <Verdict found={preview.found} />
          {preview.found.deleted_count > 0 && (
            <>
              <div>
                <Button variant="danger" disabledReason={lack} onClick={() => setAsking(true)}>
                  Delete {plural(preview.found.deleted_count, 'scan')}…
                </Button>
              </div>
              <GoingScans ids={preview.found.deleted_scans} />
            </>
          )}
        </div>
      )}
      {preview && (
        <ConfirmDialog
          open={isAsking}
          onClose={() => setAsking(false)}
          title={`Delete ${plural(preview.found.deleted_count, 'scan')}?`}
          goes={`${bytes(preview.found.freed_bytes)} of results and reports go.`}
          stays={`${plural(preview.found.kept_count, 'scan')} and all jobs stay.`}
          verb={`Delete ${plural(preview.found.deleted_count, 'scan')}`}
          onConfirm={() => remove(preview)}
        />
      )}
    </Section>
  );
}

/** Empty members are left out; without any, the configured retention applies. */
function bodyOf({ olderThan, keepLast }: Criteria): { older_than?: string; keep_last?: number } {
  return {
    ...(olderThan.trim() !== '' && { older_than: olderThan.trim() }),
    ...(keepLast !== '' && { keep_last: Number(keepLast) }),
  };
}

function isByRetention({ olderThan, keepLast }: Criteria): boolean {
  return olderThan.trim() === '' && keepLast === '';
}

function Verdict({ found }: { found: Collected }) {
  const { deleted_count: number, freed_bytes: freed, kept_count: stay, policy } = found;
  return (
    <div role="status">
      <p>
        {number === 0 ? (
          <strong className="font-semibold">No scan would go.</strong>
        ) : (
          <strong className="font-semibold">
            {plural(number, 'scan')} would go, {bytes(freed)}.
          </strong>
        )}{' '}
        <span className="text-text-2">{plural(stay, 'scan')} stay.</span>
      </p>
      <p className="text-size-12 text-text-2">{policyText(policy)}</p>
    </div>
  );
}

/** Which rule chose them, as the server read it. */
function policyText({ older_than: age, keep_last: newest, retention }: Collected['policy']): string {
  if (retention) {
    const limits = [
      retention.max_age !== null && `older than ${retention.max_age}`,
      retention.max_scans !== null && `beyond the newest ${count(retention.max_scans)}`,
      retention.min_free_space !== null && `until ${bytes(retention.min_free_space)} of the disk are free`,
    ].filter(Boolean);
    return limits.length === 0
      ? 'The configuration sets no retention.'
      : `By the configured retention: ${limits.join(', ')}.`;
  }
  const parts = [
    age !== null && `older than ${age}`,
    newest !== null && newest > 0 && `not among the newest ${count(newest)}`,
  ].filter(Boolean);
  return parts.length === 0 ? 'All scans that have ended.' : `Ended scans, ${parts.join(' and ')}.`;
}
