import { countsAs } from '../../../domain/finding-order.ts';
import type { PortRow, ResultRow } from '../../../domain/result.ts';
import type { ScanRequest, StageRecord } from '../../../domain/scan.ts';
import type { Traffic } from '../../../domain/traffic.ts';
import { amountText, countText } from '../../terminal/draw/amounts.ts';
import { printable } from '../../terminal/draw/printable.ts';
import type { LiveReport } from './scan-status.ts';

type StartedScan = Pick<ScanRequest, 'scan_id' | 'targets' | 'profile'>;

interface VerboseOptions {
  isVery?: boolean;
  clock?: () => number;
  startedAt?: number;
}

/** What a scan does, a line each with the time since its start: hosts and ports as they are found, stages, retries. */
export class VerboseLines {
  readonly #write: (line: string) => void;
  readonly #clock: () => number;
  readonly #startedAt: number;
  /** Also rates, stages that begin, and why a service has no name. */
  readonly #isVery: boolean;
  /** What was said: rows come again, richer. */
  readonly #said = new Set<string>();
  #traffic: Traffic | null = null;
  #rateLimit = 0;

  /**
   * @param options.clock milliseconds
   * @param options.startedAt when the scan began by that clock; now unless given
   */
  constructor(
    write: (line: string) => void,
    { isVery = false, clock = () => performance.now(), startedAt = clock() }: VerboseOptions = {},
  ) {
    this.#write = write;
    this.#isVery = isVery;
    this.#clock = clock;
    this.#startedAt = startedAt;
  }

  /** @param ports as submitted; null = those of the profile */
  start({ scan_id, targets, profile }: StartedScan, ports: string | null): void {
    const what = ports === null ? `profile ${profile}` : `profile ${profile}, ports ${ports}`;
    this.#say(`scan ${scan_id}: ${countText(targets.length, 'target')}, ${what}`);
  }

  row(row: ResultRow): void {
    if (row.type === 'host') {
      const { latency_ms: ms = null } = row;
      const latency = ms === null ? '' : `, ${ms.toFixed(1)} ms`;
      this.#once(`${row.host} up`, `: ${row.method ?? 'as asked'}${latency}`);
    } else if (row.type === 'port') this.#port(row);
    else if (row.type === 'vulnerability' && this.#isVery)
      this.#once(
        `${row.host} ${countsAs(row.vulnerability)} ${row.vulnerability.id}`,
        `: ${row.vulnerability.title}`,
      );
    else if (row.type === 'error') this.#once(`${row.target ?? 'scan'} error`, `: ${row.message}`);
  }

  #port(row: PortRow): void {
    const place = `${row.host.includes(':') ? `[${row.host}]` : row.host}:${row.port}`;
    this.#once(`${place}${row.protocol === 'udp' ? '/udp' : ''} ${row.state}`, `: ${row.reason}`);
    const { service } = row;
    if (service) {
      const product = [service.product, service.version].filter(Boolean).join(' ');
      const text = `${service.name}${product === '' ? '' : `, ${product}`} (${service.confidence.toFixed(2)})`;
      this.#once(`${place} ${text}`);
    }
    if (this.#isVery && row.unidentified_reason)
      this.#once(`${place} not identified`, `: ${row.unidentified_reason}`);
  }

  update({ stages = [], progress }: Pick<LiveReport, 'stages' | 'progress'>): void {
    for (const stage of stages) this.#stage(stage);
    const { rate_limit: limit } = progress;
    if (limit === this.#rateLimit) return;
    if (this.#isVery && this.#rateLimit > 0 && limit > 0)
      this.#say(`rate ${amountText(this.#rateLimit)}/s to ${amountText(limit)}/s`);
    this.#rateLimit = limit;
  }

  /** Counters since the start of the scan. */
  traffic(traffic: Traffic): void {
    this.#traffic = traffic;
  }

  /** Without counters, as of a scan on a server, nothing is said of packets. */
  end(): void {
    if (this.#traffic === null) return;
    const { sent, raw } = this.#traffic;
    const retries = raw.retransmitted;
    this.#say(
      `sent ${countText(sent, 'packet')}, ${retries === 0 ? 'no retry' : countText(retries, 'retry', 'retries')}`,
    );
  }

  #stage({ instance_id: name, status, coverage, error, method }: StageRecord): void {
    if (status === 'running' && this.#isVery) this.#once(`${name} started`, method ? `: ${method}` : '');
    if (status === 'failed') this.#once(`${name} failed`, `: ${error ?? 'no reason given'}`);
    if (status !== 'completed') return;
    const counts =
      coverage && Object.entries(coverage).filter(([state, count]) => state !== 'planned' && count > 0);
    const found = counts
      ?.map(([state, count]) => `${amountText(count)} ${state.replace('_', ' ')}`)
      .join(', ');
    this.#once(`${name} done`, found ? `: ${found}` : '');
  }

  #once(key: string, more = ''): void {
    if (this.#said.has(key)) return;
    this.#said.add(key);
    this.#say(key + more);
  }

  #say(text: string): void {
    const seconds = (this.#clock() - this.#startedAt) / 1000;
    this.#write(`${`${seconds.toFixed(2)} s`.padStart(8)}  ${printable(text)}`);
  }
}
