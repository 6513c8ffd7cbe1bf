import { channelTypes } from '../../domain/channel.ts';
import type { Scan } from '../../domain/scan.ts';
import type { Traffic } from '../../domain/traffic.ts';
import { HttpMetrics, type MeasuredResponse } from './http-metrics.ts';
import { MetricRegistry } from './metric-registry.ts';
import { ScanMetrics } from './scan-metrics.ts';
import { addServiceGauges, type GaugeSources } from './service-gauges.ts';

/**
 * The metrics of `/metrics`, for the whole service, over all tenants. Counters start at 0 with the process. Labels
 * never contain text chosen by a client or a target: routes are patterns, everything else is a word of this program.
 */
export class Metrics {
  readonly #registry = new MetricRegistry();
  readonly #scans = new ScanMetrics(this.#registry);
  readonly #http = new HttpMetrics(this.#registry);
  readonly #notifications = this.#registry.counter('service_notifications_total');
  readonly #moves = this.#registry.counter('service_result_store_moves_total');

  constructor() {
    for (const type of channelTypes)
      for (const status of ['delivered', 'failed', 'skipped']) this.#notifications.inc({ type, status }, 0);
    for (const status of ['stored', 'failed']) this.#moves.inc({ status }, 0);
    this.#registry.addProcess();
  }

  /** Adds the gauges, whose values are read at each scrape. */
  addGauges(sources: GaugeSources): void {
    addServiceGauges(this.#registry, sources);
  }

  render(format: 'text' | 'openmetrics'): Promise<{ contentType: string; text: string }> {
    return this.#registry.render(format);
  }

  countResponse(response: MeasuredResponse): void {
    this.#http.count(response);
  }

  /**
   * Counts a finished scan: call it once per scan.
   *
   * @param ran running time, seconds; defaults to the wall clock
   */
  scanEnded(scan: Scan, ran?: number): void {
    this.#scans.countEnd(scan, ran);
  }

  /** @param traffic since the last call */
  countTraffic(traffic: Traffic): void {
    this.#scans.countTraffic(traffic);
  }

  /** A notification was delivered, skipped or dropped. @param type of the channel, e.g. `slack` */
  notificationEnded(type: string, status: string): void {
    this.#notifications.inc({ type, status });
  }

  resultsMoved(status: 'stored' | 'failed'): void {
    this.#moves.inc({ status });
  }
}
