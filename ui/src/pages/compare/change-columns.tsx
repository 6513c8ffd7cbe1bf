import type { ReactNode } from 'react';
import { countsAs } from '../../../../src/domain/finding-order.ts';
import { ClassMark } from '../../components/marks/class-mark.tsx';
import { DiffMark } from '../../components/marks/diff-mark.tsx';
import { Exploited } from '../../components/marks/exploited.tsx';
import { SeverityMark } from '../../components/marks/severity-mark.tsx';
import type { Column } from '../../components/table/table-props.ts';
import { Mono } from '../../components/text/mono.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { count } from '../../format/numbers.ts';
import { type ChangeGroup, type ChangeLine, groupNames } from './change-lines.ts';

/** A group's head is a row of its own. */
export interface GroupHead {
  head: ChangeGroup;
  number: number;
}

export type CompareRow = ChangeLine | GroupHead;

export function isHead(row: CompareRow): row is GroupHead {
  return 'head' in row;
}

/** Heads are drawn over all columns. */
function cell(draw: (line: ChangeLine) => ReactNode): Column<CompareRow>['cell'] {
  return (row) => (isHead(row) ? null : draw(row));
}

export function changeColumns(): Column<CompareRow>[] {
  return [
    {
      id: 'kind',
      head: '±',
      title: 'Kind of change',
      width: 24,
      priority: 0,
      cell: cell(({ kind }) => <DiffMark kind={kind} />),
    },
    {
      id: 'what',
      head: 'What',
      width: 200,
      grow: 4,
      priority: 0,
      cell: cell((line) => <What line={line} />),
    },
    {
      id: 'where',
      head: 'Where',
      width: 230,
      grow: 1,
      priority: 1,
      cell: cell((line) => <Where line={line} />),
    },
    {
      id: 'note',
      head: 'Before and after, reason',
      width: 180,
      grow: 3,
      priority: 2,
      cell: cell((line) => <Reason line={line} />),
    },
    {
      id: 'class',
      head: 'How sure',
      title: 'How sure a finding is, or how it was fixed',
      width: 84,
      priority: 3,
      cell: cell(({ finding, kind, outcome }) =>
        kind === 'fixed' ? (
          <span className="text-size-12 text-text-2">{outcome}</span>
        ) : finding?.class ? (
          <ClassMark value={finding.class} />
        ) : null,
      ),
    },
  ];
}

export function GroupName({ head: { head, number } }: { head: GroupHead }) {
  return (
    <span className="flex items-baseline gap-2 text-text-1">
      <span className="font-semibold">{groupNames[head]}</span>
      <span className="text-size-12 text-text-3">{count(number)}</span>
    </span>
  );
}

function What({ line: { finding, text } }: { line: ChangeLine }) {
  return (
    <span className="flex min-w-0 items-center gap-2">
      {finding && <SeverityMark severity={countsAs(finding)} bare />}
      {finding?.kev === true && <Exploited />}
      <span className="line-clamp-1 whitespace-normal leading-[17px] tablet:line-clamp-2" title={text}>
        {finding && isPublicId(finding.id) && <Mono className="pr-2">{finding.id}</Mono>}
        <TargetText text={text} max={160} />
      </span>
    </span>
  );
}

/** Ids of rules say nothing to a reader; those of advisories are what one looks for. */
function isPublicId(id: string): boolean {
  return /^(?:CVE|GHSA|DSA|USN|RHSA)-/.test(id);
}

function Where({ line: { host, port } }: { line: ChangeLine }) {
  return (
    <span className="mono flex min-w-0">
      <span className="truncate">
        <TargetText text={host} mono cut="middle" max={39} />
      </span>
      {port !== '' && <span className="flex-none">:{port}</span>}
    </span>
  );
}

function Reason({ line: { change, note } }: { line: ChangeLine }) {
  if (change === null)
    return (
      <span className="line-clamp-1 whitespace-normal leading-[17px] tablet:line-clamp-2" title={note}>
        <TargetText text={note} max={160} />
      </span>
    );
  const { label, before, after } = change;
  return (
    <span
      className="line-clamp-1 whitespace-normal leading-[17px] tablet:line-clamp-2"
      title={`${label} ${before} → ${after}`}
    >
      <TargetText text={label} max={40} />{' '}
      <span className="text-text-2">
        <TargetText text={before} mono max={60} />
      </span>
      <span aria-hidden> → </span>
      <span className="sr-only"> became </span>
      <span className="font-medium">
        <TargetText text={after} mono max={60} />
      </span>
      {note !== '' && (
        <span className="text-text-2">
          , <TargetText text={note} max={80} />
        </span>
      )}
    </span>
  );
}

export function ChangePhoneRow({ line }: { line: ChangeLine }) {
  return (
    <span className="flex min-w-0 items-start gap-2">
      <span className="flex-none">
        <DiffMark kind={line.kind} />
      </span>
      <span className="flex min-w-0 grow flex-col gap-0.5">
        <span className="text-text-1">
          <What line={line} />
        </span>
        <span className="flex min-w-0 gap-2 text-size-12">
          <span className="flex-none">
            <Where line={line} />
          </span>
          <span className="truncate">
            <Reason line={line} />
          </span>
        </span>
      </span>
    </span>
  );
}
