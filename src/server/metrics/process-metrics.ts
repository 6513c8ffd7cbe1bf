import { constants, PerformanceObserver } from 'node:perf_hooks';
import { collectDefaultMetrics, Histogram, type Metric, Registry } from '@prometheus-io/client';
import type { AcrossServers } from './catalog.ts';

/** Resolution of the event loop delay, milliseconds: the process wakes up this often to measure it. */
const delayResolutionMs = 20;

/**
 * The metrics of the client library that are exported. Not among them: gauges whose name ends in `_total`, which
 * OpenMetrics reserves for counters, and statistics that have no value between two scrapes in quick succession.
 */
export const processMetricNames = [
  'process_cpu_user_seconds_total',
  'process_cpu_system_seconds_total',
  'process_cpu_seconds_total',
  'process_start_time_seconds',
  'process_resident_memory_bytes',
  'process_virtual_memory_bytes',
  'process_heap_bytes',
  'process_open_fds',
  'process_max_fds',
  'nodejs_eventloop_lag_seconds',
  'nodejs_eventloop_lag_max_seconds',
  'nodejs_eventloop_lag_p50_seconds',
  'nodejs_eventloop_lag_p90_seconds',
  'nodejs_eventloop_lag_p99_seconds',
  'nodejs_active_resources',
  'nodejs_heap_size_total_bytes',
  'nodejs_heap_size_used_bytes',
  'nodejs_external_memory_bytes',
  'nodejs_gc_duration_seconds',
  'nodejs_version_info',
] as const;

/** Each server process has its own; CPU time and memory may be added up. */
export const processAcrossServers: AcrossServers = 'each';

/** What the types of the library leave out. */
type ProcessMetric = Metric<string> & {
  name: string;
  help: string;
  type: string;
  labelNames?: readonly string[];
};

let collected: Registry | null = null;

/** Observers of the process cannot be removed, so there is one set of them, whoever exports it. */
export function processMetrics(): ProcessMetric[] {
  collected ??= collect();
  const registry = collected;
  return processMetricNames.flatMap(
    (name) => (registry.getSingleMetric(name) as ProcessMetric | undefined) ?? [],
  );
}

function collect(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: delayResolutionMs });
  registry.removeSingleMetric(gcName);
  observeGarbageCollection(registry);
  return registry;
}

const gcName = 'nodejs_gc_duration_seconds';
/** Seconds. */
const gcBuckets = [0.001, 0.01, 0.1, 1, 2, 5];
const gcKinds = new Map([
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
]);

/** In place of the histogram of the library, which takes only the first of several collections reported together. */
function observeGarbageCollection(registry: Registry): void {
  const durations = new Histogram({
    name: gcName,
    help: 'Duration of garbage collections by kind: major, minor, incremental, weakcb.',
    labelNames: ['kind'],
    buckets: gcBuckets,
    registers: [registry],
  });
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      // The types leave out the detail of such entries.
      const { detail, duration } = entry as typeof entry & { detail: { kind: number } };
      const kind = gcKinds.get(detail.kind);
      if (kind) durations.observe({ kind }, duration / 1000);
    }
  });
  observer.observe({ entryTypes: ['gc'] });
}
