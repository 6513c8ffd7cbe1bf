import type { Scan, StageRecord } from '../../domain/scan.ts';
import { probeErrorKinds, type Traffic } from '../../domain/traffic.ts';
import type { MetricRegistry } from './metric-registry.ts';

const severities = ['critical', 'high', 'medium', 'low', 'info'] as const;
/** Maximum modules with their own histogram; further plugins share one. */
const maxModules = 60;
const otherModule = 'other';
/** Scan processes report module names, and plugins run in them. */
const moduleForm = /^[a-z][a-z0-9_]{0,63}$/;

/** Counts what scans find, send and receive. */
export class ScanMetrics {
  readonly #scans;
  readonly #durations;
  readonly #finished;
  readonly #findings;
  readonly #nodeDurations;
  readonly #packets;
  readonly #raw;
  readonly #errors;
  readonly #modules = new Set<string>();

  constructor(registry: MetricRegistry) {
    this.#scans = registry.counter('service_scans_total');
    this.#durations = registry.histogram('service_scan_duration_seconds');
    this.#finished = registry.counter('service_scans_finished_total');
    this.#findings = registry.counter('service_findings_total');
    this.#nodeDurations = registry.histogram('service_node_duration_seconds');
    this.#packets = registry.counter('service_packets_sent_total');
    this.#raw = {
      sent: registry.counter('service_raw_packets_sent_total'),
      retransmitted: registry.counter('service_raw_packets_retransmitted_total'),
      received: registry.counter('service_raw_packets_received_total'),
      dropped: registry.counter('service_raw_packets_dropped_total'),
    };
    this.#errors = registry.counter('service_probe_errors_total');
    // A counter that appears with its first event shows no increase.
    for (const status of ['completed', 'failed']) this.#finished.inc({ status }, 0);
    for (const severity of severities) this.#findings.inc({ severity }, 0);
    for (const kind of probeErrorKinds) this.#errors.inc({ kind }, 0);
  }

  /** @param ran running time, seconds; defaults to the wall clock */
  countEnd({ status, started_at, completed_at, severity_counts, stages }: Scan, ran?: number): void {
    this.#scans.inc();
    this.#finished.inc({ status });
    const seconds = ran ?? secondsBetween(started_at, completed_at);
    if (seconds !== null) this.#durations.observe(seconds);
    for (const severity of severities) this.#findings.inc({ severity }, countOf(severity_counts[severity]));
    for (const stage of stages) this.#countNode(stage);
  }

  countTraffic({ sent, raw, errors }: Traffic): void {
    this.#packets.inc(sent);
    this.#raw.sent.inc(raw.sent);
    this.#raw.retransmitted.inc(raw.retransmitted);
    this.#raw.received.inc(raw.received);
    this.#raw.dropped.inc(raw.dropped);
    for (const kind of probeErrorKinds) this.#errors.inc({ kind }, errors[kind]);
  }

  #countNode({ module_type, started_at, completed_at }: StageRecord): void {
    const seconds = secondsBetween(started_at, completed_at);
    if (seconds !== null) this.#nodeDurations.observe({ module_type: this.#labelOf(module_type) }, seconds);
  }

  #labelOf(moduleType: string): string {
    if (this.#modules.has(moduleType)) return moduleType;
    if (this.#modules.size >= maxModules || !moduleForm.test(moduleType)) return otherModule;
    this.#modules.add(moduleType);
    return moduleType;
  }
}

/** Scan processes report findings: the value may not be a count. */
function countOf(value: number): number {
  return Number.isSafeInteger(value) && value > 0 ? value : 0;
}

/** @param from ISO 8601; null = never started @returns null then */
function secondsBetween(from: string | null, to: string | null): number | null {
  if (from === null || to === null) return null;
  const milliseconds = Date.parse(to) - Date.parse(from);
  return Number.isFinite(milliseconds) ? Math.max(0, milliseconds) / 1000 : null;
}
