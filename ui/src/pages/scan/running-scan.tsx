import { shownState } from '../../../../src/domain/scan-state.ts';
import { Sparkline } from '../../components/charts/sparkline.tsx';
import { GraphPicture } from '../../components/graph/graph-picture.tsx';
import { Note } from '../../components/layout/note.tsx';
import { Progress } from '../../components/layout/progress.tsx';
import { DurationText } from '../../components/text/duration-text.tsx';
import { count } from '../../format/numbers.ts';
import { clockTime } from '../../format/times.ts';
import { stageGraph } from './stage-graph.ts';
import { percentTried, type Scan } from './use-scan.ts';

/** How far a scan is, against what, and what it waits for. Never more than is known. */
export function RunningScan({ scan }: { scan: Scan }) {
  const state = shownState(scan);
  const { progress } = scan;
  return (
    <section aria-label="Progress" className="mb-4 border-line border-t">
      {state === 'pending' && <Waiting scan={scan} />}
      {state === 'interrupted' && (
        <Note tone="warning" title="No process runs this scan">
          Its results so far are safe. It goes on when a server starts with this workspace.
        </Note>
      )}
      {state !== 'pending' && (
        <div className="grid gap-x-8 gap-y-4 border-line border-b py-3 desk:grid-cols-[minmax(0,1fr)_auto_240px]">
          <Tried scan={scan} />
          <TimeLeft scan={scan} />
          <Rate scan={scan} />
        </div>
      )}
      {progress.finishing && <p className="py-2">Finishing: {progress.finishing}.</p>}
      <GraphPicture {...stageGraph(scan)} direction="right" label="Stages of this scan" />
    </section>
  );
}

function Waiting({ scan }: { scan: Scan }) {
  return (
    <p className="py-3 text-text-2">
      Waiting for a free worker in the pool <span className="mono">{scan.pool}</span>. Nothing has been sent
      yet.
    </p>
  );
}

function Tried({ scan: { progress } }: { scan: Scan }) {
  const { tried = 0, not_tried: notTried = 0, unit = 'ports', slowest_stage: slowest } = progress;
  const all = tried + notTried;
  const percent = percentTried(progress);
  const label = `${percent} % of ${unit} tried`;
  return (
    <div className="min-w-0">
      <p className="flex items-baseline gap-2">
        <span className="font-semibold text-size-28 leading-[1.15] tracking-[-0.025em]">{percent} %</span>
        <span>of {unit} tried</span>
        <span className="ml-auto text-text-2">
          {all === 0 ? (
            `${unit} are being counted`
          ) : (
            <>
              {count(tried)} tried ·{' '}
              <strong className="font-semibold">{count(notTried)} not tried yet</strong>
            </>
          )}
        </span>
      </p>
      <div className="py-2">
        <Progress
          value={all > 0 ? tried : progress.percent}
          max={all > 0 ? all : 100}
          label={label}
          height={6}
          still={progress.paused}
        />
      </div>
      <p className="text-size-12 text-text-2">
        {slowest ? `Slowest stage: ${slowest}. ` : ''}Evaluation follows each finished host; the report comes
        last.
      </p>
    </div>
  );
}

function TimeLeft({ scan: { progress } }: { scan: Scan }) {
  const { eta_seconds: seconds, eta_basis: basis, paused } = progress;
  return (
    <div className="min-w-40 border-line desk:border-l desk:pl-6">
      <p className="text-size-12 text-text-2">Time left</p>
      <p className="font-semibold text-size-16">
        {paused || seconds === null ? 'not known' : <DurationText ms={seconds * 1000} estimated />}
      </p>
      <p className="max-w-52 text-size-12 text-text-2">
        {paused ? 'The scan is paused.' : (basis ?? 'Too early to say.')}
      </p>
    </div>
  );
}

function Rate({ scan: { progress } }: { scan: Scan }) {
  const { rate, rate_limit: limit, rate_history: history } = progress;
  const first = history && history.values.length > 0 ? clockTime(history.from) : undefined;
  return (
    <div className="min-w-0">
      <p className="flex items-baseline gap-1 text-size-12 text-text-2">
        Packets per second
        <span className="ml-auto text-size-13 text-text-1">
          <strong className="font-semibold">{count(Math.round(rate))}</strong>
          {limit ? ` of ${count(limit)}` : ''}
        </span>
      </p>
      <Sparkline
        values={history?.values ?? []}
        label="Packets per second"
        from={first}
        to="now"
        max={limit ?? undefined}
        height={40}
      />
    </div>
  );
}
