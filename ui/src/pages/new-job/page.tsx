import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import type { Data } from '../../api/api-types.ts';
import { requestData } from '../../api/request.ts';
import { useSend } from '../../api/use-send.ts';
import { Button } from '../../components/controls/button.tsx';
import { Field } from '../../components/controls/field.tsx';
import { LinkButton } from '../../components/controls/link-button.tsx';
import { Segmented } from '../../components/controls/segmented.tsx';
import { TextArea } from '../../components/controls/text-area.tsx';
import { TextInput } from '../../components/controls/text-input.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Failure } from '../../components/states/failure.tsx';
import { TimeText } from '../../components/text/time-text.tsx';
import { useCan } from '../../session/session.ts';
import { useGo } from '../../url/link.tsx';
import { clearDraft, submissionOf, useDraft } from '../new-scan/draft.ts';

const schedules = [
  { value: '0 2 * * *', label: 'Every night' },
  { value: '0 2 * * 1', label: 'Mondays' },
  { value: '0 2 1 * *', label: 'Monthly' },
  { value: '', label: 'Own' },
] as const;

const crumbs = [{ label: 'Jobs', to: '/jobs' }];

/** A scan on a schedule; the scan itself is the one that the wizard describes. */
export default function NewJobPage() {
  const [draft, change] = useDraft();
  const [schedule, setSchedule] = useState<string>(schedules[0].value);
  const [pool, setPool] = useState('');
  const go = useGo();
  const mayWrite = useCan('job:write', 'scan:write');
  const { send, isPending, error } = useSend('post', '/api/v1/jobs', { invalidates: ['/api/v1/jobs'] });
  const submission = submissionOf(draft);
  const isEmpty = submission.targets.length === 0;
  const create = async () => {
    const { name, ...params } = submission;
    const body = { type: 'scan', params, schedule, ...(name && { name }), ...(pool !== '' && { pool }) };
    const { job_id } = await send({ body: body as never });
    clearDraft();
    go(`/jobs/${job_id}`);
  };
  const problem = (field: string) => error?.fields.find((each) => each.field.endsWith(field))?.reason ?? null;
  const isPreset = schedules.some(({ value }) => value === schedule);
  return (
    <>
      <PageHeader title="New job" crumbs={crumbs} />
      <form
        className="flex max-w-[680px] flex-col gap-5"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void create().catch(() => undefined);
        }}
      >
        <Field
          label="Targets"
          hint="Addresses, CIDR, ranges or names, separated by commas or lines."
          error={problem('targets')}
        >
          <TextArea value={draft.targets} onChange={(targets) => change({ targets })} mono rows={3} />
        </Field>
        <Field label="Name" optional error={problem('name')}>
          <TextInput value={draft.name} onChange={(name) => change({ name })} placeholder="DMZ nightly" />
        </Field>
        <Field label="When">
          <Segmented
            options={schedules}
            value={isPreset ? (schedule as '') : ''}
            onChange={(value) => setSchedule(value === '' ? `${schedule} `.trim() : value)}
          />
        </Field>
        <Field
          label="Schedule"
          hint="Five fields: minute, hour, day of month, month, day of week."
          error={problem('schedule')}
        >
          <TextInput value={schedule} onChange={setSchedule} mono />
        </Field>
        <NextRuns schedule={schedule} />
        <Field label="Pool" optional hint="Empty: default." error={problem('pool')}>
          <TextInput value={pool} onChange={setPool} mono />
        </Field>
        {error && error.fields.length === 0 && <Failure error={error} />}
        <div className="flex flex-wrap items-center gap-2">
          <Button
            type="submit"
            variant="primary"
            disabledReason={
              !mayWrite
                ? 'Needs the scope job:write or scan:write'
                : isEmpty
                  ? 'Name a target first'
                  : isPending
                    ? 'Creating'
                    : undefined
            }
          >
            Create job
          </Button>
          <LinkButton to="/scans/new/profile">Profile and options…</LinkButton>
        </div>
      </form>
    </>
  );
}

type Preview = Data<'/api/v1/schedules/preview', 'post'>;

/** The next five runs, while the schedule is typed. */
function NextRuns({ schedule }: { schedule: string }) {
  const { data, error } = useQuery<Preview, ApiError>({
    queryKey: ['/api/v1/schedules/preview', schedule],
    queryFn: ({ signal }) =>
      requestData<Preview>('POST', '/api/v1/schedules/preview', { body: { schedule, count: 5 } }, signal),
    enabled: schedule.trim() !== '',
    retry: false,
  });
  if (error)
    return (
      <p role="status" className="text-state-failed">
        {error.reasonOf('schedule') ?? error.message}
      </p>
    );
  if (!data) return null;
  return (
    <div role="status">
      <p className="pb-1">
        Runs <strong className="font-medium">{data.in_words}</strong>, next:
      </p>
      <ol className="text-text-2">
        {data.next.map((at) => (
          <li key={at}>
            <TimeText at={at} />
          </li>
        ))}
      </ol>
    </div>
  );
}
