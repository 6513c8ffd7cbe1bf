import type { Scan } from '../../domain/scan.ts';
import type { Coverage, PortSums } from '../../report/model/report.ts';
import type { ModuleCatalog } from '../../scan-run/plan/plan-scan.ts';
import { openResults, type RecordObserver } from '../../scan-run/results/open-results.ts';
import type { ScanRecord } from '../../workspace/record/scan-record.ts';
import type { RecordIndexes } from '../record-index/record-indexes.ts';
import { isComplete, isEvaluated } from './scan-coverage.ts';

/** Ports by outcome; their sum is `planned`. */
export interface ListedPortSums {
  planned: number;
  open: number;
  closed: number;
  filtered: number;
  not_tried: number;
}

/** What a scan has looked at, and what it has not. */
export interface ShownCoverage {
  text: string;
  /** Every host was probed. */
  complete: boolean;
  evaluated: boolean;
  partial: boolean;
  addresses: Coverage['addresses'];
  ports: Record<'all' | 'tcp' | 'udp', ListedPortSums> | null;
  unfinished: Coverage['unfinished'];
  unfinished_left: number;
  all_ports_open: string[];
  warnings: Coverage['warnings'];
  warnings_left: number;
  errors: Coverage['errors'];
  errors_left: number;
  /** Of the index of an ended scan that is being built; absent = all of it. */
  index_share?: number;
}

/** The numbers of the coverage of a scan, as in its report. @throws PortolanError `timeout` */
export async function showCoverage(
  scan: Scan,
  record: ScanRecord,
  catalogue: ModuleCatalog,
  indexes: RecordIndexes,
  observer: RecordObserver,
  signal?: AbortSignal,
): Promise<ShownCoverage> {
  const results = await openResults(scan, record, observer, 'behind-page');
  await results.close();
  const { addresses_scanned, excluded, partial } = results.summary;
  const { warnings, stages } = results.scan;
  const coverage = await indexes.request(
    indexes.scan(scan.scan_id, record, scan.status),
    { kind: 'coverage', summary: { addresses_scanned, excluded }, warnings, stages },
    signal,
  );
  const { text, addresses, ports, unfinished, errors, share } = coverage;
  return {
    text,
    complete: isComplete({ scan, catalogue }),
    evaluated: isEvaluated({ scan, catalogue }),
    partial,
    addresses,
    ports: ports && { all: listed(ports.all), tcp: listed(ports.tcp), udp: listed(ports.udp) },
    unfinished,
    unfinished_left: coverage.unfinishedLeft,
    all_ports_open: coverage.allPortsOpen,
    warnings: coverage.warnings,
    warnings_left: coverage.warningsLeft,
    errors,
    errors_left: coverage.errorsLeft,
    ...(share !== undefined && { index_share: share }),
  };
}

function listed({ planned, open, closed, filtered, notTried }: PortSums): ListedPortSums {
  return { planned, open, closed, filtered, not_tried: notTried };
}
