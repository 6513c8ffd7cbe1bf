import { RecordIndexes } from '../actions/record-index/record-indexes.ts';
import type { AlertRules } from '../alerts/alert-rules.ts';
import type { Config } from '../config/schema.ts';
import { OwnNotifications } from '../queue/notification-queue.ts';
import { ScanQueue } from '../queue/scan-queue.ts';
import { ReportThreads } from '../report/thread/report-threads.ts';
import type { License } from '../workspace/license/read-license.ts';
import { FetchedScans } from '../workspace/result-store/fetched-scans.ts';
import { StagedResults } from '../workspace/result-store/staged-results.ts';
import { Admission } from './access/admission.ts';
import { Tenants } from './access/tenants.ts';
import { AlertEvaluator } from './background/alerts.ts';
import { GarbageCollector } from './background/garbage.ts';
import { Notifier, type NotifierInput } from './background/notifier.ts';
import { RuleWatch } from './background/rule-watch.ts';
import { StoreComparison } from './background/store-comparison.ts';
import { StoreDamage } from './background/store-damage.ts';
import { VulndbSync } from './background/vulndb-sync.ts';
import type { ServerContext, VersionInfo } from './context.ts';
import { ServiceEvents } from './events/service-events.ts';
import type { Installed } from './installed.ts';
import { Metrics } from './metrics/metrics.ts';
import type { Resources } from './open-resources.ts';
import { DamagedRecords } from './results/damaged-records.ts';
import { EndResults } from './results/end-results.ts';
import { IndexKeeper } from './results/index-keeper.ts';
import { ResultMover } from './results/result-mover.ts';
import { ScanFolders } from './results/scan-folders.ts';
import { UnfinishedScans } from './results/unfinished-scans.ts';
import type { ScanEnding } from './scans/pool-context.ts';
import { ScanFeeds } from './scans/scan-feeds.ts';
import { WorkerPool } from './scans/worker-pool.ts';
import type { ServerPlugins } from './server-plugins.ts';
import type { Settings } from './settings.ts';

export interface ContextInput extends Omit<Resources, 'setUrl' | 'serviceManager'> {
  config: Config;
  settings: Settings;
  license: License;
  installed: Installed;
  plugins: ServerPlugins;
  alertRules: AlertRules;
  version: VersionInfo;
  /** Entry file of scan processes. */
  entryFile: string;
  closing: AbortSignal;
  /** Other times of notifications than usual, and who else learns of their end. */
  notifying?: Pick<NotifierInput, 'timeoutMs' | 'delaysMs' | 'onEnd'>;
}

/** The context of a server; starts nothing. */
export function buildContext(input: ContextInput): {
  context: ServerContext;
  folders: ScanFolders;
  indexKeeper: IndexKeeper;
} {
  const { config, settings, store, workspace, shards, license, installed, log, logOutput, audit } = input;
  const fetched = input.results && new FetchedScans(input.results, workspace);
  const onRows = (scanId: string) => workers.reportRows(scanId);
  const unfinished = shards && new UnfinishedScans({ store, workspace, onRows });
  const folders = new ScanFolders({ store, workspace, fetched, unfinished, log });
  const metrics = new Metrics();
  const onMove: Metrics['resultsMoved'] = (status) => metrics.resultsMoved(status);
  const isPresent = shards && ((serverId: string) => shards.presence.isPresent(serverId));
  const results =
    input.results &&
    fetched &&
    new ResultMover({ ...input, results: input.results, fetched, isPresent, onMove });
  const { retention } = config.workspace;
  const garbage = new GarbageCollector(
    { store, workspace, retention, results },
    log,
    shards?.garbage ?? null,
  );
  const onEnd: Metrics['notificationEnded'] = (type, status) => metrics.notificationEnded(type, status);
  const notifier = new Notifier({
    store,
    queue: shards?.notifications ?? new OwnNotifications(store),
    workspace,
    config,
    log,
    onEnd,
    catalogueOf: (tenant) => installed.of(tenant),
    holdRecord: (scan, tenant) => folders.hold(scan, tenant),
    ...input.notifying,
  });
  const queue = shards?.queue ?? new ScanQueue(store, { leaseMs: config.workers.lease });
  const indexes = new RecordIndexes(workspace);
  const indexKeeper = new IndexKeeper({ store, workspace, indexes, log });
  const onScanEnd = ({ scanId, tenant, isStored, notifies }: ScanEnding) => {
    indexKeeper.scanEnded(scanId, tenant);
    if (notifies) notifier.wake();
    garbage.sweep();
    if (!isStored || input.results instanceof StagedResults) results?.wake();
  };
  const endResults = new EndResults({ store, workspace, config, metrics });
  const workers = new WorkerPool({ ...input, queue, metrics, endResults, onScanEnd, standIn: null });
  const onNotice = () => notifier.wake();
  const alerts = new AlertEvaluator(
    { store, config, workers, workspace, shards, log, onNotice },
    input.alertRules,
  );
  metrics.addGauges({ ...input, workers, results, alerts });
  const damaged = new DamagedRecords(log);
  const tenants = new Tenants({ config, store, workspace, folders, damaged, installed });
  const context: ServerContext = {
    config,
    settings,
    store,
    workspace,
    tenants,
    admission: new Admission({ config, store, tenants, license, log }),
    license,
    queue,
    workers,
    shards,
    results,
    endWith: endResults.endWith,
    reports: new ReportThreads(),
    indexes,
    damaged,
    comparison: new StoreComparison({ store, workspace }, log),
    damage: new StoreDamage({ store, workspace }, log),
    garbage,
    notifier,
    alerts,
    rules: new RuleWatch(config, log),
    vulndb: new VulndbSync(config, log),
    installed,
    plugins: input.plugins,
    feeds: new ScanFeeds(workers),
    events: new ServiceEvents(),
    version: input.version,
    log,
    logOutput,
    audit,
    traces: input.traces,
    metrics,
    startedAt: performance.now(),
    phase: 'starting',
    closing: input.closing,
  };
  return { context, folders, indexKeeper };
}
