import { type Metric, Registry } from '@prometheus-io/client';
import eventLoopLag from '@prometheus-io/client/lib/metrics/eventLoopLag.js';
import heapSizeAndUsed from '@prometheus-io/client/lib/metrics/heapSizeAndUsed.js';
import osMemoryHeap from '@prometheus-io/client/lib/metrics/osMemoryHeap.js';
import processCpuTotal from '@prometheus-io/client/lib/metrics/processCpuTotal.js';
import processMaxFileDescriptors from '@prometheus-io/client/lib/metrics/processMaxFileDescriptors.js';
import processOpenFileDescriptors from '@prometheus-io/client/lib/metrics/processOpenFileDescriptors.js';
import processResources from '@prometheus-io/client/lib/metrics/processResources.js';
import processStartTime from '@prometheus-io/client/lib/metrics/processStartTime.js';
import version from '@prometheus-io/client/lib/metrics/version.js';
import type { AcrossServers } from './catalog.ts';

/** Resolution of the event loop delay, milliseconds: the process wakes up this often to measure it. */
const delayResolutionMs = 20;

/**
 * Exported metrics of the client library. Excludes gauges whose name ends in `_total`, which OpenMetrics reserves for
 * counters, and statistics that have no value between two scrapes in quick succession.
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
  'nodejs_version_info',
] as const;

/** Each server process has its own; CPU time and memory can be summed. */
export const processAcrossServers: AcrossServers = 'each';

/** Missing in the types of the library. */
type ProcessMetric = Metric<string> & {
  name: string;
  help: string;
  type: string;
  labelNames?: readonly string[];
};

let collected: Registry | null = null;

/** Observers of the process cannot be removed, so all registries share one set. */
export function processMetrics(): ProcessMetric[] {
  collected ??= collect();
  const registry = collected;
  return processMetricNames.flatMap(
    (name) => (registry.getSingleMetric(name) as ProcessMetric | undefined) ?? [],
  );
}

/**
 * The library's collectors, individually: all together they observe every garbage collection, which costs a busy
 * server a seventh of its requests.
 */
const collectors = [
  processCpuTotal,
  processStartTime,
  osMemoryHeap,
  processOpenFileDescriptors,
  processMaxFileDescriptors,
  eventLoopLag,
  processResources,
  heapSizeAndUsed,
  version,
];

function collect(): Registry {
  const registry = new Registry();
  for (const begin of collectors) begin(registry, { eventLoopMonitoringPrecision: delayResolutionMs });
  return registry;
}
