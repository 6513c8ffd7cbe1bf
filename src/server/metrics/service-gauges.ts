import { vulndbAge } from '../../actions/catalogs/show-vulndb.ts';
import { type AlertStateName, alertStates } from '../../alerts/alert-state.ts';
import type { Config } from '../../config/schema.ts';
import { vulndbFolder } from '../../scan-run/catalogs/vulndb-folder.ts';
import type { Store } from '../../store/open.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { MetricRegistry } from './metric-registry.ts';

/** Sources of the gauges. */
export interface GaugeSources {
  /** Of all tenants. */
  store: Store;
  workspace: Pick<Workspace, 'freeBytes'>;
  config: Pick<Config, 'vulndb' | 'workspace'>;
  workers: {
    readonly alive: boolean;
    /** Current packets per second of all scans. */
    readonly packetRate: number;
    counts(): { active: number; idle: number; total: number };
  };
  /** Null with a single server, whose workers serve all pools. */
  shards: {
    /** By the database clock, epoch milliseconds. */
    line: { now(): Promise<number> };
    presence: { readonly unservedPools: readonly { scans: number }[] };
  } | null;
  alerts: { list(): Promise<{ state: AlertStateName; error: string | null }[]> };
  /** Null without a result store. */
  results: { readonly fault: string | null; pending(): Promise<number> } | null;
  version: { version: string };
}

export function addServiceGauges(registry: MetricRegistry, sources: GaugeSources): void {
  addQueueGauges(registry, sources);
  addWorkerGauges(registry, sources);
  addStorageGauges(registry, sources);
  addAlertGauges(registry, sources);
  registry.gauge('service_outbox_length', () => sources.store.outbox.count());
  registry.gauge('service_vulndb_age_seconds', () => {
    const age = vulndbAge(vulndbFolder(sources.config));
    return age === null ? null : Math.max(0, age) / 1000;
  });
  registry.gaugeBy('service_build_info', 'version', () => ({ [sources.version.version]: 1 }));
}

function addQueueGauges(registry: MetricRegistry, { store, shards, workers }: GaugeSources): void {
  const waiting = async () => (await store.scanQueue.counts(new Date().toISOString())).pending;
  registry.gauge('service_queue_length', waiting);
  registry.gauge('service_queue_oldest_seconds', async () => {
    const since = await store.scanQueue.oldestWaiting();
    const now = shards ? await shards.line.now() : Date.now();
    return since === null ? 0 : Math.max(0, now - Date.parse(since)) / 1000;
  });
  registry.gauge('service_queue_unserved_scans', async () => {
    if (shards) return shards.presence.unservedPools.reduce((sum, { scans }) => sum + scans, 0);
    return workers.alive ? 0 : await waiting();
  });
}

function addWorkerGauges(registry: MetricRegistry, { workers }: GaugeSources): void {
  registry.gaugeBy('service_workers', 'state', () => {
    const { active, idle } = workers.counts();
    return workers.alive ? { active, idle } : { active: 0, idle: 0 };
  });
  registry.gauge('service_worker_utilization', () => {
    const { active, total } = workers.counts();
    return total === 0 ? 0 : active / total;
  });
  registry.gauge('service_packet_rate', () => workers.packetRate);
}

function addAlertGauges(registry: MetricRegistry, { alerts }: GaugeSources): void {
  registry.gaugeBy('service_alerts', 'state', async () => {
    const listed = await alerts.list();
    const count = (name: AlertStateName) => listed.filter(({ state }) => state === name).length;
    return Object.fromEntries(alertStates.map((name) => [name, count(name)]));
  });
  registry.gauge('service_alerts_failing', async () => {
    const failing = (await alerts.list()).filter(({ error }) => error !== null);
    return failing.length;
  });
}

function addStorageGauges(registry: MetricRegistry, { store, workspace, results }: GaugeSources): void {
  registry.gauge('service_workspace_bytes', async () => (await store.scans.totals()).size_bytes);
  registry.gauge('service_free_space_bytes', () => workspace.freeBytes());
  registry.gauge('service_result_store_up', () => results && Number(results.fault === null));
  registry.gauge('service_result_store_pending_scans', async () =>
    results ? await results.pending() : null,
  );
}
