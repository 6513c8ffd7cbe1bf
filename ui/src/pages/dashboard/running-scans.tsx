import { shownState } from '../../../../src/domain/scan-state.ts';
import { useGet } from '../../api/use-get.ts';
import { Progress } from '../../components/layout/progress.tsx';
import { Section } from '../../components/layout/section.tsx';
import { StateMark } from '../../components/marks/state-mark.tsx';
import { LoadingRows } from '../../components/states/loading-rows.tsx';
import { DurationText } from '../../components/text/duration-text.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { plural } from '../../format/words.ts';
import { Link } from '../../url/link.tsx';
import { percentTried, scanTitle } from '../scan/use-scan.ts';

const shown = 5;

/** Scans that run now, with what they found so far. */
export function RunningScans() {
  const { data, error } = useGet('/api/v1/scans', { query: { status: 'running', limit: shown } });
  const running = data?.scans.filter(({ status }) => status === 'running') ?? [];
  return (
    <Section title="Running" link={{ label: 'All scans', to: '/scans' }}>
      {data === undefined && error === null && <LoadingRows rows={1} height={36} />}
      {data !== undefined && running.length === 0 && <p className="pt-2 text-text-2">No scan runs now.</p>}
      <ul>
        {running.map((scan) => {
          const { progress, results } = scan;
          const percent = percentTried(progress);
          return (
            <li key={scan.scan_id} className="flex flex-col gap-1.5 border-line-subtle border-b py-3">
              <span className="flex justify-between gap-2">
                <Link to={`/scans/${scan.scan_id}`} className="truncate font-medium text-text-1">
                  <TargetText text={scanTitle(scan)} max={60} />
                </Link>
                {progress.paused ? (
                  <StateMark state={shownState(scan)} />
                ) : (
                  <span className="whitespace-nowrap">{percent} % of ports</span>
                )}
              </span>
              <Progress
                value={percent}
                max={100}
                label={`${percent} % of ports tried`}
                still={progress.paused}
              />
              <span className="flex justify-between text-size-12 text-text-2">
                {plural(results.live_hosts, 'host')}, {plural(results.open_ports, 'service')}
                {progress.eta_seconds !== null && (
                  <span>
                    <DurationText ms={progress.eta_seconds * 1000} estimated />
                  </span>
                )}
              </span>
            </li>
          );
        })}
      </ul>
    </Section>
  );
}
