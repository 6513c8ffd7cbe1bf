import type { ReactNode } from 'react';
import { Button } from '../../components/controls/button.tsx';
import { Select } from '../../components/controls/select.tsx';
import { TextInput } from '../../components/controls/text-input.tsx';
import { Note } from '../../components/layout/note.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Boundary } from '../../components/states/boundary.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { count } from '../../format/numbers.ts';
import { useSearchParam, useSetSearch } from '../../url/use-search-param.ts';
import { eventOptions, outcomeOptions, periodOptions, useAuditFilter } from './audit-filter.ts';
import { AuditTable } from './audit-table.tsx';
import { useAuditRecords } from './use-audit-records.ts';

/** Who did what, newest first. */
export default function AuditPage(): ReactNode {
  const filter = useAuditFilter();
  const got = useAuditRecords(filter.query);
  return (
    <>
      <PageHeader
        title="Audit"
        meta={
          got.data === undefined
            ? undefined
            : `${got.data.isMinimum ? 'At least ' : ''}${count(got.data.total)} records${filter.isActive ? ' match' : ''}. Reading them is recorded too.`
        }
      />
      <Filters />
      <Boundary got={got} what="The audit log" doing="read the audit log" rows={12}>
        {(data) => (
          <>
            <Warnings texts={data.warnings} />
            <AuditTable records={data.records} total={data.total} isFiltered={filter.isActive} />
            {data.hasMore ? (
              <div className="flex items-center gap-3 pt-3">
                <Button pending={got.isLoadingMore} onClick={got.loadMore}>
                  Load older records
                </Button>
                <span className="text-size-12 text-text-3">
                  {count(data.records.length)} of {data.isMinimum ? 'at least ' : ''}
                  {count(data.total)}
                </span>
              </div>
            ) : null}
          </>
        )}
      </Boundary>
    </>
  );
}

/** What the server says about the log itself: lines that cannot be read, a chain of hashes that is broken. */
function Warnings({ texts }: { texts: readonly string[] }): ReactNode {
  if (texts.length === 0) return null;
  return (
    <div className="pb-3">
      <Note tone="warning" title="This log may be incomplete or changed">
        <ul>
          {texts.map((text) => (
            <li key={text}>
              <TargetText text={text} wrap />
            </li>
          ))}
        </ul>
      </Note>
    </div>
  );
}

function Filters(): ReactNode {
  const [event, setEvent] = useSearchParam('event');
  const [outcome, setOutcome] = useSearchParam('outcome');
  const [since, setSince] = useSearchParam('since');
  const [actor] = useSearchParam('actor');
  const [resource] = useSearchParam('resource');
  const setAll = useSetSearch();
  const isActive = [event, outcome, since, actor, resource].some((text) => text !== '');
  return (
    <search className="no-print mb-3 grid grid-cols-2 gap-2 tablet:flex tablet:flex-wrap">
      <div className="tablet:w-44">
        <Select label="Event" value={event} onChange={setEvent} options={eventOptions} />
      </div>
      <div className="tablet:w-36">
        <Select label="Outcome" value={outcome} onChange={setOutcome} options={outcomeOptions} />
      </div>
      <div className="max-tablet:col-span-2 tablet:w-36">
        <Select label="Period" value={since} onChange={setSince} options={periodOptions} />
      </div>
      <TextFilter name="actor" label="Actor" placeholder="Name or id of a token" />
      <TextFilter name="resource" label="Resource" placeholder="Resource, such as scan:…" />
      {isActive ? (
        <Button
          variant="ghost"
          onClick={() =>
            setAll({ event: null, outcome: null, since: null, actor: null, resource: null, record: null })
          }
        >
          Clear filter
        </Button>
      ) : null}
    </search>
  );
}

function TextFilter({
  name,
  label,
  placeholder,
}: {
  name: string;
  label: string;
  placeholder: string;
}): ReactNode {
  const [text, setText] = useSearchParam(name);
  return (
    <div className="min-w-0 max-tablet:col-span-2 tablet:w-52">
      <TextInput
        type="search"
        label={label}
        placeholder={placeholder}
        maxLength={256}
        data-filter={name === 'actor' ? true : undefined}
        value={text}
        onChange={(next) => setText(next, { replace: true })}
      />
    </div>
  );
}
