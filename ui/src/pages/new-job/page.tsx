import { useEffect, useState } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import { useGet } from '../../api/use-get.ts';
import { useSend } from '../../api/use-send.ts';
import { ChannelsField } from '../../components/channels/channels-field.tsx';
import { Button } from '../../components/controls/button.tsx';
import { Field } from '../../components/controls/field.tsx';
import { LinkButton } from '../../components/controls/link-button.tsx';
import { TextInput } from '../../components/controls/text-input.tsx';
import { useLack } from '../../components/controls/use-lack.ts';
import { Note } from '../../components/layout/note.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Boundary, ErrorState } from '../../components/states/boundary.tsx';
import { LoadingRows } from '../../components/states/loading-rows.tsx';
import { NoLicense } from '../../components/states/no-license.tsx';
import { Link, useGo } from '../../url/link.tsx';
import { useSearchParam } from '../../url/use-search-param.ts';
import type { Job } from '../jobs/job.ts';
import {
  changeDraft,
  clearDraft,
  type Draft,
  draftOf,
  furtherText,
  type Submission,
  submissionOf,
  useDraft,
} from '../new-scan/draft.ts';
import { useStartFrom } from '../new-scan/use-start-from.ts';
import { ScanFields } from './scan-fields.tsx';
import { incompleteReason, nightly, typed } from './schedule-choice.ts';
import { ScheduleFields } from './schedule-fields.tsx';

const crumbs = [{ label: 'Jobs', to: '/jobs' }];

/** A scan on a schedule; the scan itself is the draft that "New scan" has too. */
export default function NewJobPage() {
  const [edited] = useSearchParam('edit');
  return edited === '' ? <NewJob /> : <EditJob jobId={edited} />;
}

function NewJob() {
  const isFilling = useStartFrom();
  const { data: license } = useGet('/api/v1/license', {});
  const isLicensed = license === undefined || license.features.includes('jobs');
  return (
    <>
      <PageHeader title="New job" crumbs={crumbs} meta="A scan that runs on a schedule, or once." />
      {!isLicensed ? <NoLicense feature="jobs" /> : isFilling ? <LoadingRows rows={6} /> : <JobForm />}
    </>
  );
}

/** The same form, filled with what a recurring job is. */
function EditJob({ jobId }: { jobId: string }) {
  const got = useGet('/api/v1/jobs/{job_id}', { path: { job_id: jobId } });
  const [job, setJob] = useState<Job | null>(null);
  useEffect(() => {
    if (got.data === undefined || job?.job_id === jobId) return;
    const { params, name } = got.data;
    // The draft of "New scan" is the state of the form.
    changeDraft({ ...draftOf(params as never), ...(name !== null && { name }) });
    setJob(got.data);
  }, [got.data, job, jobId]);
  return (
    <>
      <PageHeader
        title="Edit job"
        crumbs={crumbs}
        meta="Its runs so far stay; the next ones are as written here."
      />
      <Boundary got={got} what={`The job ${jobId}`} doing="see jobs" rows={6}>
        {() => (job === null ? <LoadingRows rows={6} /> : <JobForm key={job.job_id} job={job} />)}
      </Boundary>
    </>
  );
}

function JobForm({ job }: { job?: Job }) {
  const [draft, change] = useDraft();
  const [schedule, setSchedule] = useState(job?.schedule ? typed(job.schedule) : nightly);
  const [pool, setPool] = useState(job === undefined ? draft.pool : job.pool === 'default' ? '' : job.pool);
  const go = useGo();
  const lack = useLack('job:write', 'scan:write');
  const posted = useSend('post', '/api/v1/jobs', { invalidates: ['/api/v1/jobs', '/api/v1/scans'] });
  const put = useSend('put', '/api/v1/jobs/{job_id}', {
    invalidates: ['/api/v1/jobs', '/api/v1/jobs/{job_id}'],
  });
  const { isPending, error } = job === undefined ? posted : put;
  const submission = submissionOf({ ...draft, pool: '' });
  const create = async () => {
    const body = jobOf(submission, schedule.text.trim(), pool.trim());
    const { job_id } =
      job === undefined
        ? await posted.send({ body: body as never })
        : await put.send({
            path: { job_id: job.job_id },
            body: { ...body, priority: job.priority } as never,
          });
    clearDraft();
    go(`/jobs/${job_id}`);
  };
  const refusalOf = (field: string) =>
    error?.fields.find((each) => each.field.replace(/^params\./, '').split(/[.[]/)[0] === field)?.reason ??
    null;
  const isIncomplete = schedule.choice !== '' && incompleteReason(schedule.text) !== null;
  const reason =
    lack ??
    (submission.targets.length === 0
      ? 'Name a target first'
      : isIncomplete
        ? 'The schedule is incomplete'
        : null);
  return (
    <form
      className="flex max-w-[680px] flex-col gap-5"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (reason === null && !isPending) void create().catch(() => undefined);
      }}
    >
      <ScanFields refusalOf={refusalOf} />
      <Further draft={draft} />
      <ScheduleFields
        value={schedule}
        onChange={setSchedule}
        refusal={refusalOf('schedule')}
        recurs={job !== undefined}
      />
      <Field
        label="Pool"
        optional
        hint="Workers that take its runs. Empty: default."
        error={refusalOf('pool')}
      >
        <TextInput value={pool} onChange={setPool} mono maxLength={64} className="max-w-72" />
      </Field>
      <ChannelsField
        value={draft.notifications}
        onChange={(notifications) => change({ notifications })}
        error={refusalOf('notifications')}
      />
      {error && <Refusal error={error} />}
      <div className="flex flex-wrap items-center gap-2 border-line border-t pt-3">
        <LinkButton to={job === undefined ? '/jobs' : `/jobs/${job.job_id}`} variant="ghost">
          Back
        </LinkButton>
        <span className="grow" />
        <Button type="submit" variant="primary" disabledReason={reason} reasonBeside pending={isPending}>
          {job !== undefined ? 'Save job' : schedule.choice === '' ? 'Start job' : 'Create job'}
        </Button>
      </div>
    </form>
  );
}

/** The body of the request. The runs have the name of the job: runs of one name are a series. */
function jobOf(params: Submission, schedule: string, pool: string): Record<string, unknown> {
  const { name } = params;
  return {
    type: 'scan',
    params,
    ...(schedule !== '' && { schedule }),
    ...(name !== undefined && { name }),
    ...(pool !== '' && { pool }),
  };
}

/** What the draft has beside the fields of this page: nothing is sent that is not shown. */
function Further({ draft }: { draft: Draft }) {
  const parts = [
    draft.rate !== '' && `${draft.rate} packets per second`,
    draft.scanType !== 'auto' && `${draft.scanType} scan`,
    !draft.discover && 'no discovery',
    draft.intrusive && 'intrusive checks',
    draft.maxDuration !== '' && `at most ${draft.maxDuration}`,
    draft.minSeverity !== '' && `findings from ${draft.minSeverity}`,
    draft.tags !== '' && `tags ${draft.tags}`,
    ...furtherText({ ...draft, pool: '' }),
  ].filter(Boolean);
  return (
    <p className="text-size-12 text-text-2">
      {parts.length === 0 ? 'Usual rate and checks. ' : `Further: ${parts.join(', ')}. `}
      <Link to="/scans/new/options" className="underline">
        Change options
      </Link>
    </p>
  );
}

/** What no field of the form shows. */
function Refusal({ error }: { error: ApiError }) {
  if (error.code === 'license_required' || error.code === 'insufficient_scope')
    return <ErrorState error={error} doing="create jobs" />;
  return (
    <Note tone="problem" title="The job was not saved">
      {error.message}
    </Note>
  );
}
