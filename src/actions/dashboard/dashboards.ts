import type { Config } from '../../config/schema.ts';
import { type Severity, severities } from '../../domain/finding.ts';
import type { ListedScan } from '../../domain/listed-scan.ts';
import type { Scan } from '../../domain/scan.ts';
import type { ModuleCatalog } from '../../scan-run/plan/plan-scan.ts';
import type { RecordObserver } from '../../scan-run/results/open-results.ts';
import type { Store } from '../../store/open.ts';
import type { RowRecord } from '../../workspace/record/scan-record.ts';
import type { RecordHolder } from '../scans/record-reader.ts';
import { BackgroundValues } from './background-values.ts';
import { type FixOfScan, type OpenFindings, openFindings } from './open-findings.ts';
import { type RunChanges, runChanges, type StandingOut } from './pair-changes.ts';
import { readSeries, type ScanSeries, type TrendDay, trendOf } from './scan-series.ts';

/** What a tenant sees. */
export interface DashboardContext {
  config: Config;
  /** Null without tenants. */
  tenant: string | null;
  store: Store;
  readonly installed: ModuleCatalog;
  observer: RecordObserver;
  records: RecordHolder;
}

export interface Dashboard {
  series: SeriesView[];
  totals: Record<Severity, TotalView>;
  trend: TrendDay[];
  fixes: FixOfScan[];
  /** Hosts, of all series. */
  not_comparable: number;
  /** Some values are being computed. */
  pending: boolean;
}

interface SeriesView {
  key: string;
  name: string | null;
  targets: string[];
  /** Its latest run. */
  scan: ListedScan;
  previous: string | null;
  /** Null without a previous run, while they are computed, and if they cannot be. */
  changes: RunChanges['changes'] | null;
  stands_out: StandingOut | null;
  pending: boolean;
}

interface TotalView {
  count: number;
  /** Against the previous runs, as far as comparable; null as long as it is not known. */
  change: number | null;
  /** Null as long as it is not known. */
  hosts: number | null;
}

/** Cached comparisons and sums. */
const maxValues = 500;
/** A dashboard waits this long for values that are computed quickly, milliseconds. */
const quickMs = 150;
/** The series of a tenant are read at most this often, milliseconds. */
const seriesMs = 2000;
/** Tenants whose series are cached. */
const maxTenants = 100;

interface CachedSeries {
  version: string;
  at: number;
  series: Promise<ScanSeries[]>;
}

/** Dashboards of all tenants. Scans are compared in the background. */
export class Dashboards {
  readonly #values: BackgroundValues;
  readonly #series = new Map<string, CachedSeries>();
  readonly #closing: AbortSignal;

  /** @param closing aborts the background work */
  constructor(closing: AbortSignal, onFault: (error: unknown) => void) {
    this.#closing = closing;
    this.#values = new BackgroundValues(maxValues, onFault);
    closing.addEventListener('abort', () => void this.#values.close(), { once: true });
  }

  async show(context: DashboardContext): Promise<Dashboard> {
    const series = await this.#readSeries(context);
    const scans = await context.store.scans.listed(series.flatMap(({ runs }) => runs[0]?.scan_id ?? []));
    // Starts everything that is missing.
    this.#computed(context, series, scans);
    await this.#values.ready(quickMs);
    const { changes, open } = this.#computed(context, series, scans);
    const shown = scans.flatMap((scan) => {
      const own = series.find(({ runs }) => runs[0]?.scan_id === scan.scan_id);
      return own ? [seriesView(own, scan, changes.get(own.key))] : [];
    });
    return {
      series: shown,
      totals: totalsOf(series, changes, open),
      trend: trendOf(series, Date.now()),
      fixes: open?.fixes ?? [],
      not_comparable: shown.reduce((sum, one) => sum + (one.changes?.not_comparable ?? 0), 0),
      pending: open === undefined || shown.some(({ pending }) => pending),
    };
  }

  #readSeries({ store, tenant }: DashboardContext): Promise<ScanSeries[]> {
    const key = tenant ?? '';
    const version = store.version();
    const known = this.#series.get(key);
    if (known && (known.version === version || performance.now() - known.at < seriesMs)) return known.series;
    if (this.#series.size >= maxTenants) this.#series.clear();
    const series = readSeries(store.scans);
    this.#series.set(key, { version, at: performance.now(), series });
    series.catch(() => this.#series.delete(key));
    return series;
  }

  #computed(context: DashboardContext, series: readonly ScanSeries[], scans: readonly ListedScan[]) {
    const changes = new Map(
      series.flatMap(({ key, runs: [latest], previous }) =>
        latest && previous !== null ? [[key, this.#changesOf(context, latest.scan_id, previous)]] : [],
      ),
    );
    const ids = scans.map(({ scan_id }) => scan_id).sort();
    const open = this.#values.get(`open ${context.tenant} ${ids}`, () => this.#openFindings(context, scans));
    return { changes, open };
  }

  #changesOf(context: DashboardContext, scanId: string, against: string): RunChanges | null | undefined {
    return this.#values.get(`changes ${context.tenant} ${scanId} ${against}`, () =>
      withRecords(context, (recordOf) => {
        const { store, config, installed: catalogue, observer } = context;
        const order = { store, config, catalogue, observer, recordOf };
        return runChanges(order, scanId, against, this.#closing);
      }),
    );
  }

  #openFindings(context: DashboardContext, scans: readonly ListedScan[]): Promise<OpenFindings> {
    return withRecords(context, (recordOf) =>
      openFindings(scans, context.store, recordOf, context.observer, this.#closing),
    );
  }
}

/** Releases the records at the end. */
async function withRecords<T>(
  { records }: DashboardContext,
  work: (recordOf: (scan: Scan) => Promise<RowRecord>) => Promise<T>,
): Promise<T> {
  const held: (() => void)[] = [];
  try {
    return await work(async (scan) => {
      const { record, release } = await records.hold(scan);
      held.push(release);
      return record;
    });
  } finally {
    for (const release of held) release();
  }
}

type ChangesBySeries = ReadonlyMap<string, RunChanges | null | undefined>;

function seriesView(
  { key, previous }: ScanSeries,
  scan: ListedScan,
  found: RunChanges | null | undefined,
): SeriesView {
  return {
    key,
    name: scan.name,
    targets: scan.targets,
    scan,
    previous,
    changes: found?.changes ?? null,
    stands_out: found?.stands_out ?? null,
    pending: previous !== null && found === undefined,
  };
}

function totalsOf(
  series: readonly ScanSeries[],
  changes: ChangesBySeries,
  open: OpenFindings | null | undefined,
): Dashboard['totals'] {
  const known = [...changes.values()];
  const isKnown = known.every((each) => each !== undefined);
  const totals = severities.map((severity) => {
    const count = series.reduce((sum, { runs }) => sum + (runs[0]?.severity_counts[severity] ?? 0), 0);
    const change = known.reduce((sum, each) => sum + (each?.balance[severity] ?? 0), 0);
    return [severity, { count, change: isKnown ? change : null, hosts: open?.hosts[severity] ?? null }];
  });
  return Object.fromEntries(totals) as Dashboard['totals'];
}
