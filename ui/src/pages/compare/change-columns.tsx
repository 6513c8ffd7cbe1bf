import { ClassMark } from '../../components/marks/class-mark.tsx';
import { DiffMark } from '../../components/marks/diff-mark.tsx';
import { SeverityMark } from '../../components/marks/severity-mark.tsx';
import type { Column } from '../../components/table/table-props.ts';
import { TargetText } from '../../components/text/target-text.tsx';
import type { ChangeLine } from './change-lines.ts';

export function changeColumns(): Column<ChangeLine>[] {
  return [
    { id: 'kind', head: 'Change', width: 64, priority: 0, cell: ({ kind }) => <DiffMark kind={kind} /> },
    { id: 'what', head: 'What', width: 220, grow: 2, priority: 0, cell: whatCell },
    {
      id: 'host',
      head: 'Where',
      width: 190,
      priority: 1,
      cell: ({ host, port }) => (
        <span className="mono">
          <TargetText text={host} mono cut="middle" max={39} />
          {port !== '' && `:${port}`}
        </span>
      ),
    },
    {
      id: 'note',
      head: 'Before and after, reason',
      width: 220,
      grow: 2,
      priority: 2,
      cell: ({ note }) => <TargetText text={note} max={160} />,
    },
    {
      id: 'class',
      head: 'Class',
      width: 90,
      priority: 3,
      cell: ({ finding }) => (finding?.class ? <ClassMark value={finding.class} /> : null),
    },
  ];
}

function whatCell({ finding, text }: ChangeLine) {
  return (
    <span className="flex min-w-0 items-center gap-2">
      {finding && <SeverityMark severity={finding.severity} bare />}
      <span className="truncate">
        <TargetText text={text} />
      </span>
    </span>
  );
}

export function changePhoneRow(line: ChangeLine) {
  return (
    <div className="flex flex-col">
      <span className="flex min-w-0 items-center gap-2">
        <DiffMark kind={line.kind} /> {whatCell(line)}
      </span>
      <span className="mono truncate text-text-2">
        {line.host} {line.port}
      </span>
    </div>
  );
}
