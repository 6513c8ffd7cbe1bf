import { type ReactNode, useMemo } from 'react';
import { useGet } from '../../api/use-get.ts';
import { Button } from '../../components/controls/button.tsx';
import { LinkButton } from '../../components/controls/link-button.tsx';
import { Select } from '../../components/controls/select.tsx';
import { TextInput } from '../../components/controls/text-input.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Boundary } from '../../components/states/boundary.tsx';
import { Empty } from '../../components/states/empty.tsx';
import { DataTable } from '../../components/table/data-table.tsx';
import { Mono } from '../../components/text/mono.tsx';
import { count } from '../../format/numbers.ts';
import { plural } from '../../format/words.ts';
import { useCan } from '../../session/session.ts';
import { useGo } from '../../url/link.tsx';
import { useSearchParam, useSetSearch } from '../../url/use-search-param.ts';
import { comparedRun, type Job, jobMatches } from './job.ts';
import { JobPhoneRow, jobColumns } from './job-columns.tsx';
import { RunBar } from './run-bars.tsx';
import { useSchedule } from './use-schedule.ts';

const statuses = [
  { value: '', label: 'All states' },
  { value: 'pending', label: 'Pending' },
  { value: 'running', label: 'Running' },
  { value: 'completed', label: 'Completed' },
  { value: 'failed', label: 'Failed' },
  { value: 'canceled', label: 'Canceled' },
] as const;

/** The newest that are listed; the state narrows what the server sends. */
const most = 500;

/** Scans that run later or repeatedly, with their next and last runs. */
export default function JobsPage() {
  const [status, setStatus] = useSearchParam('status');
  const [q, setQ] = useSearchParam('q');
  const got = useGet(
    '/api/v1/jobs',
    { query: { limit: most, ...(status !== '' && { status }) } },
    { keep: true },
  );
  useComparisons(got.data?.jobs ?? []);
  const go = useGo();
  const columns = useMemo(jobColumns, []);
  const jobs = useMemo(() => (got.data?.jobs ?? []).filter((job) => jobMatches(job, q)), [got.data, q]);
  return (
    <>
      <PageHeader
        title="Jobs"
        meta={got.data && got.data.jobs.length > 0 && status === '' && <Summary {...got.data} />}
        actions={
          got.error?.code === 'license_required' ? undefined : (
            <LinkButton to="/jobs/new" variant="primary" icon="plus">
              New job
            </LinkButton>
          )
        }
      />
      <Boundary got={got} what="The jobs" doing="see jobs" rows={8} rowHeight={48}>
        {(list) => (
          <>
            {(list.total > 0 || status !== '') && (
              <div className="flex flex-wrap items-center gap-2 pb-3">
                <div className="min-w-0 grow basis-60">
                  <TextInput
                    label="Filter by name, target or pool"
                    placeholder="Name, target or pool"
                    value={q}
                    onChange={(text) => setQ(text, { replace: true })}
                    data-filter=""
                  />
                </div>
                <Select
                  label="State"
                  width="auto"
                  options={statuses}
                  value={status as ''}
                  onChange={(value) => setStatus(value)}
                />
              </div>
            )}
            {list.total === 0 && status === '' ? (
              <NoJobs />
            ) : (
              <DataTable<Job>
                label="Jobs"
                columns={columns}
                rows={jobs}
                rowKey={({ job_id }) => job_id}
                lines={2}
                onOpen={({ job_id }) => go(`/jobs/${job_id}`)}
                phoneRow={(job) => <JobPhoneRow job={job} />}
                isPending={got.isFormer}
                empty={<NoneMatches q={q} />}
              />
            )}
            {jobs.length > 0 && <Legend shown={jobs.length} loaded={list.jobs.length} total={list.total} />}
          </>
        )}
      </Boundary>
    </>
  );
}

/** How often what is being compared is asked for, milliseconds. */
const comparedEvery = 3000;

/** The changes in the rows are computed in the background: they are asked for until they are there. */
function useComparisons(jobs: readonly Job[]): void {
  const mayCompare = useCan('scan:read');
  const enabled = mayCompare && jobs.some((job) => comparedRun(job) !== null);
  const { data } = useGet('/api/v1/dashboard', {}, { enabled });
  useGet('/api/v1/dashboard', {}, { enabled: enabled && data?.pending === true, every: comparedEvery });
}

function Summary({ jobs, total }: { jobs: readonly Job[]; total: number }) {
  const running = jobs.filter(({ status }) => status === 'running').length;
  const scheduled = jobs.filter(({ next_run_at }) => next_run_at !== null).length;
  const failed = jobs.filter(
    ({ status, last_status }) => status !== 'canceled' && last_status === 'failed',
  ).length;
  const parts = [`${count(running)} running`, `${count(scheduled)} scheduled`];
  if (failed > 0) parts.push(`${count(failed)} failed at the last run`);
  const { preview } = useSchedule(jobs.find(({ schedule }) => schedule !== null)?.schedule ?? null);
  return (
    <>
      {plural(total, 'job')}, {parts.join(', ')}.
      {preview && (
        <>
          {' '}
          Schedules are in {preview.zone} (setting <Mono>queue.timezone</Mono>).
        </>
      )}
    </>
  );
}

function NoJobs() {
  return (
    <Empty
      title="No jobs yet"
      icon="job"
      text="A job scans on a schedule, or once when a worker is free, and every run is compared with the one before."
      action={
        <LinkButton to="/jobs/new" icon="plus">
          New job
        </LinkButton>
      }
    />
  );
}

function NoneMatches({ q }: { q: string }) {
  const setSearch = useSetSearch();
  return (
    <Empty
      title="No job matches"
      icon="filter"
      text={q === '' ? 'No job has this state.' : 'No name, target or pool contains this text.'}
      action={<Button onClick={() => setSearch({ q: null, status: null })}>Clear filter</Button>}
    />
  );
}

interface LegendProps {
  shown: number;
  loaded: number;
  total: number;
}

/** How many rows these are, and what their marks mean. */
function Legend({ shown, loaded, total }: LegendProps) {
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-1 py-3 text-size-12 text-text-2">
      <span role="status">
        {shown < loaded ? `${count(shown)} of ${plural(loaded, 'job')}` : plural(loaded, 'job')}
        {loaded < total && `, the newest of ${count(total)}`}
      </span>
      <span aria-hidden className="ml-auto flex flex-wrap items-center gap-x-4 gap-y-1 max-tablet:hidden">
        <Sign text="next run">
          <span className="size-2.5 rounded-[5px] border-2 border-accent" />
        </Sign>
        <Sign text="running">
          <span className="h-2.5 w-1.5 rounded-[1px] bg-accent" />
        </Sign>
        <Sign text="completed">
          <RunBar status="completed" />
        </Sign>
        <Sign text="failed">
          <RunBar status="failed" />
        </Sign>
        <Sign text="waits">
          <RunBar status="pending" />
        </Sign>
      </span>
    </div>
  );
}

function Sign({ text, children }: { text: string; children: ReactNode }) {
  return (
    <span className="inline-flex items-center gap-1.5">
      {children}
      {text}
    </span>
  );
}
