import type { PortRow, ResultRow } from '../../../domain/result.ts';
import type { Scan, StageRecord } from '../../../domain/scan.ts';
import { serviceNameOf } from '../../../knowledge/ports.ts';
import { RateWindow } from '../../../scan-run/rate-window.ts';
import { hostPortText } from '../../../workspace/render/port-lists.ts';

/** What a running scan reports. Servers of earlier versions send no stages. */
export type LiveReport = Pick<Scan, 'progress' | 'results'> & Partial<Pick<Scan, 'stages'>>;

/** Window of the rates that estimates are made with, and least time before the first one, milliseconds. */
const windowMs = 30_000;
const leastMs = 5000;
/** Maximum number of open ports to show. */
const maxNewest = 8;
/** Maximum number of open ports whose probes are followed one by one; beyond it counts are those of the scan. */
const maxFollowed = 100_000;

/** Work of one kind: how much of it is done, as far as it is known. */
export interface StageWork {
  done: number;
  total: number;
  /** Nothing can be added to the total any more. */
  isWhole: boolean;
}

export interface StatusFacts {
  /** Null when it has ended, or nothing is known of it. */
  discovery: StageWork | null;
  ports: StageWork | null;
  services: StageWork | null;
  /** Ports by outcome; null where the scanner does not say. */
  outcomes: { closed: number; filtered: number } | null;
  hosts: number;
  open: number;
  identified: number;
  findings: number;
  rate: number;
  rateLimit: number;
  elapsedMs: number;
  /** What is left when nothing is to be sent any more; null before. */
  finishing: string | null;
  estimate: string;
  newest: readonly OpenPort[];
}

export interface OpenPort {
  /** `192.0.2.10:443` */
  endpoint: string;
  name: string;
  reason: string;
  latencyMs: number | null;
}

interface FollowedPort {
  shown: OpenPort;
  isProbed: boolean;
  isIdentified: boolean;
}

type StageName = 'discovery' | 'ports' | 'services';

/** Who decides how long the scan takes, in words. */
const deciders: Record<StageName, string> = {
  discovery: 'discovery',
  ports: 'ports',
  services: 'the slowest service',
};

/** What a person who watches a scan is told of it. Counts never fall. */
export class RunningStatus {
  readonly #startedAt: number;
  readonly #windows: Record<StageName, RateWindow> = {
    discovery: new RateWindow(windowMs),
    ports: new RateWindow(windowMs),
    services: new RateWindow(windowMs),
  };
  readonly #followed = new Map<string, FollowedPort>();
  readonly #latencies = new Map<string, number>();
  #report: LiveReport | null = null;
  #hosts = 0;
  #open = 0;
  #done: Record<StageName, number> = { discovery: 0, ports: 0, services: 0 };
  #probed = 0;
  #identified = 0;

  /** @param startedAt monotonic milliseconds */
  constructor(startedAt: number) {
    this.#startedAt = startedAt;
  }

  /** @returns the open port if the row is the first of it */
  row(row: ResultRow): OpenPort | null {
    if (row.type === 'host' && typeof row.latency_ms === 'number' && this.#latencies.size < maxFollowed)
      this.#latencies.set(row.host, row.latency_ms);
    if (row.type !== 'port' || (row.state ?? 'open') !== 'open') return null;
    const key = `${row.host} ${row.port} ${row.protocol}`;
    const known = this.#followed.get(key);
    if (!known && this.#followed.size >= maxFollowed) return null;
    const port = known ?? { shown: this.#shown(row), isProbed: false, isIdentified: false };
    this.#followed.set(key, port);
    if (row.service) port.shown.name = row.service.name;
    this.#count(port, row);
    return known ? null : port.shown;
  }

  update(news: LiveReport, now: number): void {
    this.#report = news;
    this.#hosts = Math.max(this.#hosts, news.results.live_hosts);
    this.#open = Math.max(this.#open, news.results.open_ports);
    if (news.progress.paused) for (const window of Object.values(this.#windows)) window.clear();
    else this.#measure(now);
  }

  /** Null before the first report. */
  facts(now: number): StatusFacts | null {
    if (this.#report === null) return null;
    const { progress, results } = this.#report;
    const work = this.#work();
    const finishing = this.#finishing(work);
    return {
      ...work,
      outcomes: this.#outcomes(),
      hosts: this.#hosts,
      open: Math.max(this.#open, this.#followed.size),
      identified: this.#identified,
      findings: results.vulnerabilities,
      rate: progress.rate,
      rateLimit: progress.rate_limit,
      elapsedMs: now - this.#startedAt,
      finishing,
      estimate: this.#estimate(work, finishing, now),
      newest: [...this.#followed.values()].slice(-maxNewest).map(({ shown }) => shown),
    };
  }

  #shown({ host, port, protocol, reason, service }: PortRow): OpenPort {
    const usual = serviceNameOf(port, protocol);
    const name = service?.name ?? usual ?? '';
    const endpoint = hostPortText({ host, port });
    return { endpoint, name, reason: reason ?? '', latencyMs: this.#latencies.get(host) ?? null };
  }

  #count(port: FollowedPort, { service, banner, unidentified_reason }: PortRow): void {
    const isProbed = Boolean(service) || typeof banner === 'string' || Boolean(unidentified_reason);
    if (isProbed && !port.isProbed) this.#probed += 1;
    if (service && !port.isIdentified) this.#identified += 1;
    port.isProbed ||= isProbed;
    port.isIdentified ||= Boolean(service);
  }

  #measure(now: number): void {
    const work = this.#work();
    for (const name of Object.keys(this.#windows) as StageName[]) {
      const { done = 0 } = work[name] ?? {};
      this.#done[name] = Math.max(this.#done[name], done);
      if (work[name]) this.#windows[name].add(this.#done[name], now);
    }
  }

  #work(): Record<StageName, StageWork | null> {
    const stages = this.#report?.stages ?? [];
    const open = Math.max(this.#open, this.#followed.size);
    const isProbing = stages.some(
      ({ module_type, status }) => module_type === 'banner_grabber' && isUnderWay(status),
    );
    const services = { done: this.#probed, total: open, isWhole: this.#portsEnded(stages) };
    return {
      discovery: this.#discovery(stages),
      ports: this.#ports(stages),
      services: isProbing && open > 0 ? services : null,
    };
  }

  #discovery(stages: readonly StageRecord[]): StageWork | null {
    const all = stages.filter(({ module_type }) => module_type.endsWith('_discovery'));
    if (!all.some(({ status }) => status === 'running')) return null;
    const total = this.#report?.progress.hosts_total ?? 0;
    const shares = all
      .filter(({ status, total: of }) => status === 'running' && Boolean(of))
      .map(({ done = 0, total: of = 1 }) => done / of);
    const done = shares.length === 0 ? 0 : Math.floor(Math.min(1, ...shares) * total);
    return total > 0 ? { done: Math.max(done, this.#done.discovery), total, isWhole: true } : null;
  }

  #ports(stages: readonly StageRecord[]): StageWork | null {
    const { tried = 0, not_tried = 0, unit } = this.#report?.progress ?? {};
    if (unit !== 'ports' || tried + not_tried === 0 || this.#portsEnded(stages)) return null;
    return { done: tried, total: tried + not_tried, isWhole: this.#discovery(stages) === null };
  }

  #portsEnded(stages: readonly StageRecord[]): boolean {
    const scanners = stages.filter(({ module_type }) => findPorts.has(module_type));
    return scanners.length > 0 && !scanners.some(({ status }) => isUnderWay(status));
  }

  #outcomes(): StatusFacts['outcomes'] {
    const counted = (this.#report?.stages ?? []).flatMap(({ coverage }) => coverage ?? []);
    if (counted.length === 0) return null;
    const sum = (name: 'closed' | 'filtered') => counted.reduce((total, one) => total + one[name], 0);
    return { closed: sum('closed'), filtered: sum('filtered') };
  }

  #finishing({ discovery, ports, services }: Record<StageName, StageWork | null>): string | null {
    if (discovery || ports || !this.#report) return null;
    const waiting = services ? services.total - services.done : 0;
    if (services && waiting > 0) {
      const verb = waiting === 1 ? 'waits' : 'wait';
      return `${waiting} of ${services.total} services ${verb} for a response`;
    }
    return this.#report.progress.finishing ?? (services ? 'results' : null);
  }

  #estimate(work: Record<StageName, StageWork | null>, finishing: string | null, now: number): string {
    const { progress } = this.#report ?? {};
    if (progress?.paused) return progress.phase === 'outside_window' ? 'waits for its window' : 'paused';
    if (finishing !== null) return '';
    if (now - this.#startedAt < leastMs) return 'no estimate yet';
    let longest: { name: StageName; seconds: number } | null = null;
    for (const name of ['discovery', 'ports', 'services'] as const) {
      const { perSecond } = this.#windows[name];
      const of = work[name];
      if (!of || of.done >= of.total || perSecond === 0) continue;
      const seconds = (of.total - of.done) / perSecond;
      if (longest === null || seconds > longest.seconds) longest = { name, seconds };
    }
    if (longest === null) return 'no estimate yet';
    return `about ${roughSpan(longest.seconds)} left: ${deciders[longest.name]}`;
  }
}

const findPorts = new Set(['syn_scanner', 'connect_scanner', 'udp_scanner']);

function isUnderWay(status: StageRecord['status']): boolean {
  return status === 'running' || status === 'pending';
}

/** `3 s`, `3 min`, `2 h`: an estimate has no second unit. */
function roughSpan(seconds: number): string {
  if (seconds < 60) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  const hours = seconds / 3600;
  return hours < 48 ? `${Math.round(hours)} h` : `${Math.round(hours / 24)} days`;
}
