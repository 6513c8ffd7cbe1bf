import { type ReactNode, useState } from 'react';
import type { Data } from '../../api/api-types.ts';
import { useGet } from '../../api/use-get.ts';
import { Button } from '../../components/controls/button.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Tag } from '../../components/marks/tag.tsx';
import { Boundary } from '../../components/states/boundary.tsx';
import { Empty } from '../../components/states/empty.tsx';
import { DataTable } from '../../components/table/data-table.tsx';
import type { Column } from '../../components/table/table-props.ts';
import { Num } from '../../components/text/num.tsx';
import { plural } from '../../format/words.ts';
import { useCan } from '../../session/session.ts';
import { Link, useGo } from '../../url/link.tsx';
import { NewFile } from './new-file.tsx';
import { sourceWord } from './source-word.ts';

type GraphRow = Data<'/api/v1/dags'>['dags'][number];

/** The graphs that scans run. */
export default function GraphsPage(): ReactNode {
  const got = useGet('/api/v1/dags', {});
  const go = useGo();
  const mayWrite = useCan('admin');
  const [isNaming, setNaming] = useState(false);
  const graphs = got.data?.dags;
  return (
    <>
      <PageHeader
        title="Graphs"
        meta={
          graphs &&
          `${plural(graphs.length, 'graph')}: which modules a scan runs, and what each waits for. A profile names one.`
        }
        actions={
          <Button
            icon="plus"
            disabledReason={!mayWrite && 'Needs the scope admin'}
            onClick={() => setNaming(true)}
          >
            New graph
          </Button>
        }
      />
      <Boundary got={got} what="The graphs" doing="see graphs" rows={8} rowHeight={36}>
        {({ dags }) => (
          <DataTable
            label="Graphs"
            columns={columns}
            rows={dags}
            rowKey={({ name }) => name}
            dense={false}
            onOpen={({ name }) => go(`/graphs/${name}`)}
            phoneRow={phoneRow}
            empty={
              <Empty icon="graph" title="No graphs" text="Graphs lie in the folder of installed graphs." />
            }
          />
        )}
      </Boundary>
      {isNaming && (
        <NewFile
          what="graph"
          existing={graphs?.map(({ name }) => name) ?? []}
          onClose={() => setNaming(false)}
          onName={(name, from) => go(`/graphs/${name}?from=${from ?? '-'}`)}
        />
      )}
    </>
  );
}

const columns: readonly Column<GraphRow>[] = [
  {
    id: 'name',
    head: 'Name',
    width: 180,
    priority: 0,
    cell: ({ name }) => (
      <Link to={`/graphs/${name}`} className="font-medium text-text-1!">
        {name}
      </Link>
    ),
  },
  {
    id: 'description',
    head: 'What it is for',
    width: 260,
    grow: 1,
    priority: 1,
    cell: ({ description }) => description,
  },
  {
    id: 'stages',
    head: 'Stages',
    width: 64,
    align: 'right',
    priority: 2,
    cell: ({ nodes }) => <Num value={nodes} />,
  },
  {
    id: 'source',
    head: 'Origin',
    width: 110,
    priority: 3,
    cell: ({ source }) => <Tag>{sourceWord(source)}</Tag>,
  },
];

function phoneRow({ name, description, nodes }: GraphRow): ReactNode {
  return (
    <>
      <div className="flex justify-between gap-3">
        <span className="truncate font-medium text-text-1">{name}</span>
        <Num value={nodes} unit="stages" />
      </div>
      <div className="truncate text-size-12">{description}</div>
    </>
  );
}
