import { Counter, Gauge, Histogram, Registry } from '@prometheus-io/client';
import type { Scan, StageRecord } from '../../domain/scan.ts';
import type { Store } from '../../store/open.ts';
import type { Workspace } from '../../workspace/workspace.ts';

/** What the gauges read. Figures are of the service as a whole, over all tenants. */
export interface MetricsInput {
  store: Store;
  workspace: Workspace;
  version: string;
}

/** An answer as far as it is measured. */
export interface MeasuredResponse {
  /** The pattern of the route, e.g. `/api/v1/scans/:scan_id`; null for paths that do not exist. */
  route: string | null;
  status: number;
  /** Null for answers that are streamed: how long these take is up to the client. */
  milliseconds: number | null;
}

/** Stands for every path that does not exist, so that clients cannot make up labels. */
const unknownRoute = 'unknown';
/** Upper bounds in seconds. */
const scanBuckets = [60, 300, 900];
const nodeBuckets = [1, 10, 60, 300, 900, 3600];
const answerBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const answerTimes = {
  name: 'service_http_request_duration_seconds',
  help: 'Time from a request to the end of its response, without streamed responses.',
};
const severities = ['critical', 'high', 'medium', 'low', 'info'] as const;

/**
 * The figures of `/metrics`. Counters begin at 0 with the process. No label holds anything that a client or a target
 * chose: routes are patterns, everything else is a word of this program.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #registers = [this.#registry];
  readonly #scans: Counter;
  readonly #scanSeconds: Histogram;
  readonly #finished: Counter<'status'>;
  readonly #packets: Counter;
  readonly #findings: Counter<'severity'>;
  readonly #answerTimes = new AnswerTimes([this.#registry]);
  readonly #nodeSeconds: Histogram<'module_type'>;
  readonly #notifications: Counter<'type' | 'status'>;
  /** By route and status; a request costs two look-ups here, and labels are made when somebody reads. */
  readonly #answered = new Map<string, Map<number, number>>();

  constructor(input: MetricsInput) {
    this.#scans = this.#counter('service_scans_total', 'Scans that reached a final state.');
    this.#scanSeconds = new Histogram({
      name: 'service_scan_duration_seconds',
      help: 'Duration of scans that were started.',
      buckets: scanBuckets,
      registers: this.#registers,
    });
    this.#finished = this.#counter('service_scans_finished_total', 'Scans by their final state.', ['status']);
    this.#packets = this.#counter(
      'service_packets_sent_total',
      'Packets and connection attempts of scans, as counted against the rate.',
    );
    this.#findings = this.#counter(
      'service_findings_total',
      'Findings of scans that reached a final state, by severity.',
      ['severity'],
    );
    this.#addAnswers();
    this.#nodeSeconds = new Histogram({
      name: 'service_node_duration_seconds',
      help: 'Run time of graph nodes, by module type.',
      labelNames: ['module_type'],
      buckets: nodeBuckets,
      registers: this.#registers,
    });
    this.#notifications = this.#counter(
      'service_notifications_total',
      'Notifications by channel type and outcome.',
      ['type', 'status'],
    );
    for (const status of ['completed', 'failed']) this.#finished.inc({ status }, 0);
    for (const severity of severities) this.#findings.inc({ severity }, 0);
    this.#addGauges(input);
  }

  /** The text of all figures as they are now (Prometheus text format 0.0.4). */
  async text(): Promise<string> {
    return await this.#registry.metrics();
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Adds the gauge of the workers, who need these metrics before they are there. */
  followWorkers(workers: { counts(): { active: number; total: number } }): void {
    this.#gauge('service_worker_utilization', 'Fraction of workers that run a scan, 0 to 1.', () => {
      const { active, total } = workers.counts();
      return total === 0 ? 0 : active / total;
    });
  }

  answered({ route, status, milliseconds }: MeasuredResponse): void {
    const known = this.#answered.get(route ?? unknownRoute);
    const byStatus = known ?? new Map<number, number>();
    if (!known) this.#answered.set(route ?? unknownRoute, byStatus);
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
    if (milliseconds !== null) this.#answerTimes.add(milliseconds / 1000);
  }

  /**
   * A scan has reached its final state: to be called once for each.
   *
   * @param ran seconds that it ran; without it by the wall clock
   */
  scanEnded({ status, started_at, completed_at, severity_counts, stages }: Scan, ran?: number): void {
    this.#scans.inc();
    this.#finished.inc({ status });
    const seconds = ran ?? secondsBetween(started_at, completed_at);
    if (seconds !== null) this.#scanSeconds.observe(seconds);
    for (const severity of severities) this.#findings.inc({ severity }, countOf(severity_counts[severity]));
    for (const stage of stages) this.#nodeEnded(stage);
  }

  /** @param count since the last call */
  packetsSent(count: number): void {
    this.#packets.inc(count);
  }

  /**
   * A notification was delivered or given up.
   *
   * @param type of the channel, e.g. `slack`
   * @param status how it ended, e.g. `sent`
   */
  notificationEnded(type: string, status: string): void {
    this.#notifications.inc({ type, status });
  }

  #nodeEnded({ module_type, started_at, completed_at }: StageRecord): void {
    const seconds = secondsBetween(started_at, completed_at);
    if (seconds !== null) this.#nodeSeconds.observe({ module_type }, seconds);
  }

  #addAnswers(): void {
    const answers: Counter<'route' | 'status'> = new Counter({
      name: 'service_http_requests_total',
      help: 'Responses by route and status.',
      labelNames: ['route', 'status'],
      registers: this.#registers,
      collect: () => {
        answers.reset();
        for (const [route, byStatus] of this.#answered) {
          for (const [status, count] of byStatus) answers.inc({ route, status }, count);
        }
      },
    });
  }

  #addGauges({ store, workspace, version }: MetricsInput): void {
    this.#gauge(
      'service_queue_length',
      'Waiting scans.',
      async () => (await store.scanQueue.counts(new Date().toISOString())).pending,
    );
    this.#gauge(
      'service_workspace_bytes',
      'Size of all scans in bytes.',
      async () => (await store.scans.totals()).size_bytes,
    );
    this.#gauge('service_free_space_bytes', 'Free space on the disk of the workspace in bytes.', () =>
      workspace.freeBytes(),
    );
    const build = new Gauge({
      name: 'service_build_info',
      help: 'The version of this build; always 1.',
      labelNames: ['version'],
      registers: this.#registers,
    });
    build.set({ version }, 1);
  }

  #counter<Label extends string = never>(name: string, help: string, labelNames: Label[] = []) {
    return new Counter<Label>({ name, help, labelNames, registers: this.#registers });
  }

  /** A part of the service that cannot answer leaves its gauge out; the other figures are as good as ever. */
  #gauge(name: string, help: string, read: () => number | Promise<number>): void {
    const gauge: Gauge = new Gauge({
      name,
      help,
      registers: this.#registers,
      collect: async () => {
        try {
          gauge.set(await read());
        } catch {
          gauge.remove();
        }
      },
    });
  }
}

/** A histogram that is added to with every answer: it counts in an array and makes its series when somebody reads. */
class AnswerTimes extends Histogram {
  /** By bucket, the last one for what is above all bounds. */
  readonly #counts = new Float64Array(answerBuckets.length + 1);
  #sum = 0;

  constructor(registers: Registry[]) {
    super({
      ...answerTimes,
      buckets: answerBuckets,
      registers,
    });
  }

  add(seconds: number): void {
    let bucket = 0;
    while (bucket < answerBuckets.length && seconds > (answerBuckets[bucket] as number)) bucket++;
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1;
    this.#sum += seconds;
  }

  /** What the registry reads. */
  async getForPromString() {
    let count = 0;
    const sample = (ending: string, labels: object, value: number) => ({
      metricName: answerTimes.name + ending,
      labels,
      sharedLabels: {},
      value,
    });
    const buckets = [...answerBuckets, '+Inf'].map((le, bucket) => {
      count += this.#counts[bucket] as number;
      return sample('_bucket', { le }, count);
    });
    const values = [...buckets, sample('_sum', {}, this.#sum), sample('_count', {}, count)];
    return { ...answerTimes, type: 'histogram', values };
  }
}

/** What a scan reports was made in another process; what is no count there counts nothing here. */
function countOf(value: number): number {
  return Number.isSafeInteger(value) && value > 0 ? value : 0;
}

/** @param from ISO 8601; null = it never began @returns null then */
function secondsBetween(from: string | null, to: string | null): number | null {
  if (from === null || to === null) return null;
  const milliseconds = Date.parse(to) - Date.parse(from);
  return Number.isFinite(milliseconds) ? Math.max(0, milliseconds) / 1000 : null;
}
