import type { ReactNode } from 'react';
import type { Data } from '../../api/api-types.ts';
import { useGet } from '../../api/use-get.ts';
import { Drawer } from '../../components/controls/drawer.tsx';
import { KeyValues } from '../../components/layout/key-values.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Progress } from '../../components/layout/progress.tsx';
import { StateMark } from '../../components/marks/state-mark.tsx';
import { Tag } from '../../components/marks/tag.tsx';
import { Boundary } from '../../components/states/boundary.tsx';
import { Empty } from '../../components/states/empty.tsx';
import { DataTable } from '../../components/table/data-table.tsx';
import type { Column } from '../../components/table/table-props.ts';
import { Mono } from '../../components/text/mono.tsx';
import { Num } from '../../components/text/num.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { TimeText } from '../../components/text/time-text.tsx';
import { plural } from '../../format/words.ts';
import { Link } from '../../url/link.tsx';
import { useSearchParam } from '../../url/use-search-param.ts';

type Worker = Data<'/api/v1/workers'>['workers'][number];

/** Heartbeats come every 5 s, without events. Milliseconds. */
const refreshMs = 5000;

/** Who runs scans, how busy they are, and who has gone silent. */
export default function WorkersPage(): ReactNode {
  const got = useGet('/api/v1/workers', {}, { every: refreshMs });
  return (
    <>
      <PageHeader
        title="Workers"
        meta={
          got.data === undefined
            ? undefined
            : `${summary(got.data.workers)} Each slot runs one scan; further scans wait.`
        }
      />
      <Boundary got={got} what="The workers" doing="see workers" rows={4} rowHeight={36}>
        {({ workers }) => <Workers workers={workers} />}
      </Boundary>
    </>
  );
}

function summary(workers: readonly Worker[]): string {
  const sum = (member: 'busy' | 'capacity') => workers.reduce((total, worker) => total + worker[member], 0);
  const silent = workers.filter(({ state }) => state === 'silent').length;
  const busy = `${plural(workers.length, 'worker')}, ${sum('busy')} of ${plural(sum('capacity'), 'slot')} busy`;
  return silent === 0 ? `${busy}.` : `${busy}, ${silent} silent.`;
}

function Workers({ workers }: { workers: readonly Worker[] }): ReactNode {
  const [id, setId] = useSearchParam('worker');
  const index = workers.findIndex(({ worker_id }) => worker_id === id);
  const open = workers[index];
  const show = (at: number) => setId(workers[at]?.worker_id ?? null, { replace: true });
  return (
    <>
      <DataTable
        label="Workers"
        columns={columns}
        rows={workers}
        rowKey={({ worker_id }) => worker_id}
        dense={false}
        onOpen={({ worker_id }) => setId(worker_id)}
        openKey={open?.worker_id ?? null}
        phoneRow={(worker) => <PhoneWorker worker={worker} />}
        empty={
          <Empty
            icon="worker"
            title="No workers"
            text="Scans wait until a worker comes: portolan worker start on any machine that reaches the database."
          />
        }
      />
      {open === undefined ? null : (
        <WorkerDrawer
          worker={open}
          position={`${index + 1} of ${workers.length}`}
          onClose={() => setId(null)}
          onNext={index < workers.length - 1 ? () => show(index + 1) : undefined}
          onPrevious={index > 0 ? () => show(index - 1) : undefined}
        />
      )}
    </>
  );
}

const columns: readonly Column<Worker>[] = [
  { id: 'state', head: 'State', width: 108, priority: 0, cell: ({ state }) => <WorkerState state={state} /> },
  {
    id: 'host',
    head: 'Host',
    width: 140,
    grow: 2,
    priority: 0,
    cell: ({ host }) => (
      <span className="font-medium">
        <TargetText text={host} />
      </span>
    ),
  },
  { id: 'pools', head: 'Pools', width: 104, grow: 1, priority: 2, cell: ({ pools }) => poolsText(pools) },
  {
    id: 'busy',
    head: 'Busy',
    title: 'Slots that run a scan or a shard',
    width: 132,
    priority: 1,
    cell: (worker) => <Busy worker={worker} />,
  },
  {
    id: 'scans',
    head: 'Scans',
    width: 56,
    align: 'right',
    priority: 3,
    cell: ({ scans }) => <Num value={scans.length} />,
  },
  { id: 'version', head: 'Version', width: 84, priority: 5, cell: ({ version }) => <Mono>{version}</Mono> },
  {
    id: 'heartbeat',
    head: 'Heartbeat',
    width: 96,
    priority: 4,
    cell: ({ heartbeat_at }) => <TimeText at={heartbeat_at} relative />,
  },
];

const states = { working: 'running', idle: 'pending', silent: 'interrupted', stopped: 'failed' } as const;
const stateWords = { working: 'Working', idle: 'Idle', silent: 'Silent', stopped: 'Stopped' } as const;

function WorkerState({ state }: { state: Worker['state'] }): ReactNode {
  return <StateMark state={states[state]} word={stateWords[state]} />;
}

function poolsText(pools: readonly string[]): string {
  return pools.length === 0 ? 'all' : pools.join(', ');
}

function Busy({ worker: { busy, capacity } }: { worker: Worker }): ReactNode {
  return (
    <span className="flex items-center gap-2">
      <span className="w-14 flex-none">
        <Progress value={busy} max={capacity} label={`${busy} of ${capacity} slots busy`} />
      </span>
      <Num value={busy} of={capacity} />
    </span>
  );
}

function PhoneWorker({ worker }: { worker: Worker }): ReactNode {
  return (
    <div className="min-w-0">
      <div className="flex justify-between gap-3">
        <span className="min-w-0 truncate font-medium">
          <TargetText text={worker.host} />
        </span>
        <WorkerState state={worker.state} />
      </div>
      <div className="flex justify-between gap-3 text-size-12 text-text-2">
        <span className="truncate">pools: {poolsText(worker.pools)}</span>
        <Num value={worker.busy} of={worker.capacity} unit="busy" />
      </div>
    </div>
  );
}

interface WorkerDrawerProps {
  worker: Worker;
  position: string;
  onClose: () => void;
  onNext: (() => void) | undefined;
  onPrevious: (() => void) | undefined;
}

function WorkerDrawer({ worker, ...moves }: WorkerDrawerProps): ReactNode {
  const { worker_id, host, pools, tags, version, state, started_at, heartbeat_at, scans } = worker;
  return (
    <Drawer title={<TargetText text={host} />} marks={<WorkerState state={state} />} {...moves}>
      <KeyValues
        form="column"
        rows={[
          { label: 'ID', value: <Mono>{worker_id}</Mono> },
          { label: 'Pools', value: poolsText(pools) },
          {
            label: 'Tags',
            value:
              tags.length === 0 ? undefined : (
                <span className="inline-flex flex-wrap gap-1">
                  {tags.map((tag) => (
                    <Tag key={tag}>{tag}</Tag>
                  ))}
                </span>
              ),
          },
          { label: 'Busy', value: <Busy worker={worker} /> },
          { label: 'Version', value: <Mono>{version}</Mono> },
          {
            label: 'Started',
            value: started_at === null ? undefined : <TimeText at={started_at} form="exact" />,
          },
          { label: 'Heartbeat', value: <TimeText at={heartbeat_at} relative /> },
          {
            label: 'Scans',
            value:
              scans.length === 0 ? (
                'none'
              ) : (
                <ul>
                  {scans.map((scan) => (
                    <li key={scan}>
                      <Link to={`/scans/${scan}`} className="mono">
                        {scan}
                      </Link>
                    </li>
                  ))}
                </ul>
              ),
          },
        ]}
      />
    </Drawer>
  );
}
