import { Histogram } from '@prometheus-io/client';
import { metricCatalog } from './catalog.ts';
import type { MetricRegistry } from './metric-registry.ts';

/** The measured part of a response. */
export interface MeasuredResponse {
  /** Route pattern, e.g. `/api/v1/scans/:scan_id`; null for unknown paths. */
  route: string | null;
  status: number;
  /** Null for streamed responses: their duration depends on the client. */
  milliseconds: number | null;
}

/** Route label of every unknown path, so that clients cannot create labels. */
const unknownRoute = 'unknown';
/** Maximum series of `service_http_requests_total`; beyond that only the status is counted, with this route. */
const maxRouteSeries = 600;
const otherRoute = 'other';

/** Counts responses. A request costs two lookups; series are created at a scrape. */
export class HttpMetrics {
  /** By route and status. */
  readonly #responses = new Map<string, Map<number, number>>();
  readonly #durations: ResponseDurations;
  #series = 0;

  constructor(registry: MetricRegistry) {
    registry.counter('service_http_requests_total', (counter) => {
      counter.reset();
      for (const [route, byStatus] of this.#responses)
        for (const [status, count] of byStatus) counter.inc({ route, status: String(status) }, count);
    });
    this.#durations = new ResponseDurations(registry);
  }

  count({ route, status, milliseconds }: MeasuredResponse): void {
    this.#countIn(route ?? unknownRoute, status);
    if (milliseconds !== null) this.#durations.add(milliseconds / 1000);
  }

  #countIn(route: string, status: number): void {
    const known = this.#responses.get(route);
    const before = known?.get(status);
    if (before === undefined) {
      if (this.#series >= maxRouteSeries && route !== otherRoute) return this.#countIn(otherRoute, status);
      this.#series += 1;
    }
    const byStatus = known ?? new Map<number, number>();
    if (!known) this.#responses.set(route, byStatus);
    byStatus.set(status, (before ?? 0) + 1);
  }
}

const { help, buckets } = metricCatalog.service_http_request_duration_seconds;
const name = 'service_http_request_duration_seconds';

/** Histogram of response times: counts in an array and creates its series at a scrape. */
class ResponseDurations extends Histogram {
  /** By bucket; the last one is above all bounds. */
  readonly #counts = new Float64Array(buckets.length + 1);
  #sum = 0;

  constructor({ registers }: MetricRegistry) {
    super({ name, help, buckets: [...buckets], registers });
  }

  add(seconds: number): void {
    let bucket = 0;
    while (bucket < buckets.length && seconds > (buckets[bucket] as number)) bucket++;
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1;
    this.#sum += seconds;
  }

  /** Called by the registry. */
  async getForPromString() {
    let count = 0;
    const sample = (ending: string, labels: object, value: number) => ({
      metricName: name + ending,
      labels,
      sharedLabels: {},
      value,
    });
    const cumulative = [...buckets, '+Inf'].map((le, bucket) => {
      count += this.#counts[bucket] as number;
      return sample('_bucket', { le }, count);
    });
    const values = [...cumulative, sample('_sum', {}, this.#sum), sample('_count', {}, count)];
    return { name, help, type: 'histogram', values };
  }
}
