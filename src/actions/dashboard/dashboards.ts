import type { Config } from '../../config/schema.ts';
import { noFindings, type Severity, severities } from '../../domain/finding.ts';
import type { ListedScan } from '../../domain/listed-scan.ts';
import type { Scan } from '../../domain/scan.ts';
import type { ModuleCatalog } from '../../scan-run/plan/plan-scan.ts';
import type { RecordObserver } from '../../scan-run/results/open-results.ts';
import type { Store } from '../../store/open.ts';
import type { CompletedRun } from '../../store/scans/completed-runs.ts';
import type { RowRecord } from '../../workspace/record/scan-record.ts';
import type { RecordHolder } from '../scans/record-reader.ts';
import { BackgroundValues } from './background-values.ts';
import { type CountedRun, countedRuns, type EvaluatedRun, evaluatedAddresses } from './counted-runs.ts';
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
  /** What the totals count: each address once, by its newest evaluated run. */
  counted: CountedView;
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

interface CountedView {
  /** Series whose newest evaluated run counts on at least one address. */
  scans: number;
  addresses: number;
  /** Targets that are names. */
  names: number;
  /** When the oldest of these runs ended; null without one. */
  oldest: string | null;
}

interface TotalView {
  /** Null as long as it is not known. */
  count: number | null;
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
    this.#computed(context, series);
    await this.#values.ready(quickMs);
    const { changes, open, counted } = this.#computed(context, series);
    const totals = totalsOf(counted, changes, open);
    const shown = scans.flatMap((scan) => {
      const own = series.find(({ runs }) => runs[0]?.scan_id === scan.scan_id);
      return own ? [seriesView(own, scan, changes.get(own.key))] : [];
    });
    return {
      series: shown,
      totals,
      counted: countedView(counted),
      trend: withToday(trendOf(series, Date.now()), totals),
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

  #computed(context: DashboardContext, series: readonly ScanSeries[]) {
    const evaluated = series.flatMap((each) => each.evaluated ?? []);
    const counted = countedRuns(evaluated);
    const changes = new Map(
      series.flatMap(({ key, runs: [latest], previous }) =>
        latest && previous !== null ? [[key, this.#changesOf(context, latest, previous, evaluated)]] : [],
      ),
    );
    const ids = counted.map(({ run }) => run.scan_id);
    const open = this.#values.get(`open ${context.tenant} ${ids}`, () =>
      this.#openFindings(context, counted),
    );
    return { changes, open, counted };
  }

  #changesOf(
    context: DashboardContext,
    latest: CompletedRun,
    against: string,
    evaluated: readonly EvaluatedRun[],
  ): RunChanges | null | undefined {
    const { scan_id: scanId } = latest;
    const newer = evaluated.filter(({ run }) => run.completed_at > latest.completed_at);
    const ids = newer.map(({ run }) => run.scan_id);
    return this.#values.get(`changes ${context.tenant} ${scanId} ${against} ${ids}`, () =>
      withRecords(context, (recordOf) => {
        const { store, config, installed: catalogue, observer } = context;
        const order = { store, config, catalogue, observer, recordOf };
        const since = evaluatedAddresses(newer);
        return runChanges(order, scanId, against, (host) => !since.has(host), this.#closing);
      }),
    );
  }

  #openFindings(context: DashboardContext, runs: readonly CountedRun[]): Promise<OpenFindings> {
    return withRecords(context, (recordOf) =>
      openFindings(runs, context.store, recordOf, context.observer, this.#closing),
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
  counted: readonly CountedRun[],
  changes: ChangesBySeries,
  open: OpenFindings | null | undefined,
): Dashboard['totals'] {
  // Nothing overlaps one run.
  const only = counted.length < 2 ? (counted[0]?.run.severity_counts ?? noFindings()) : null;
  const known = [...changes.values()];
  const isKnown = known.every((each) => each !== undefined);
  const totals = severities.map((severity) => {
    const count = open?.counts[severity] ?? (only === null ? null : only[severity]);
    const change = known.reduce((sum, each) => sum + (each?.balance[severity] ?? 0), 0);
    return [severity, { count, change: isKnown ? change : null, hosts: open?.hosts[severity] ?? null }];
  });
  return Object.fromEntries(totals) as Dashboard['totals'];
}

function countedView(counted: readonly CountedRun[]): CountedView {
  return {
    scans: counted.length,
    addresses: Number(counted.reduce((sum, { addresses, newer }) => sum + addresses.minus(newer).size, 0n)),
    names: counted.reduce((sum, { names }) => sum + names, 0),
    oldest: counted.at(-1)?.run.completed_at ?? null,
  };
}

/** The last day has the totals: where targets overlap in part they are less than the sum of the runs. */
function withToday(trend: TrendDay[], { critical, high }: Dashboard['totals']): TrendDay[] {
  const today = trend.at(-1);
  if (!today || critical.count === null || high.count === null) return trend;
  return trend.with(-1, { ...today, critical: critical.count, high: high.count });
}
