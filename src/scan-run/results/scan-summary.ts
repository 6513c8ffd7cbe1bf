import type { PortCoverage } from '../../domain/host.ts';
import type { SummaryRow } from '../../domain/result.ts';
import type { StageRecord } from '../../domain/scan.ts';
import type { ScanFailure } from '../finalize/failure.ts';
import { clampCount } from '../progress.ts';
import type { RunContext } from '../run-context.ts';
import { endTime } from '../run-time.ts';
import type { countRows } from './stream-results.ts';

/** What the rows of a record add up to. */
export type Counted = Awaited<ReturnType<typeof countRows>>;

export interface SummaryInput {
  failure: ScanFailure | null;
  /** Something was not tried. */
  isPartial: boolean;
  counted: Counted;
  hostsDone: number;
  /** Addresses that exclusions and scope took away. */
  excluded: bigint;
  stages: readonly StageRecord[];
  /** Ports that it looked for, as ranges. */
  ports: SummaryRow['ports'];
}

/** The last row of a record. */
export function summaryOf(
  { input, time, evaluation }: Pick<RunContext, 'input' | 'time' | 'evaluation'>,
  { failure, isPartial, counted, hostsDone, excluded, stages, ports }: SummaryInput,
): SummaryRow {
  return {
    type: 'summary',
    timestamp: endTime(input.startedAt),
    host: null,
    scan_id: input.request.scan_id,
    status: failure ? 'failed' : 'completed',
    partial: failure !== null || isPartial,
    ...counted.results,
    unidentified: counted.unidentified,
    addresses_scanned: hostsDone,
    excluded: clampCount(excluded),
    severity_counts: counted.severity_counts,
    duration_seconds: time.seconds,
    catalogue_version: evaluation.catalogVersion,
    ...(ports && { ports }),
    ...coverageOf(stages),
  };
}

/** Coverage summed over all scanners. */
function coverageOf(stages: readonly StageRecord[]): Pick<SummaryRow, 'coverage'> {
  const counted = stages.flatMap(({ coverage }) => coverage ?? []);
  if (counted.length === 0) return {};
  const sum = (name: keyof PortCoverage) => counted.reduce((total, counts) => total + counts[name], 0);
  const [open, closed, filtered, not_tried] = [sum('open'), sum('closed'), sum('filtered'), sum('not_tried')];
  return { coverage: { planned: open + closed + filtered + not_tried, open, closed, filtered, not_tried } };
}
