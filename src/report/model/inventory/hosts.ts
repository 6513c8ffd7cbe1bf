import { findingClasses, noFindings, type SeverityCounts, severities } from '../../../domain/finding.ts';
import { type Urgency, urgencyRank } from '../../../domain/finding-order.ts';
import { BestItems } from '../bounded.ts';
import type { CountedAction } from '../findings/actions.ts';
import { countClass, noClasses } from '../findings/class-counts.ts';
import { type SeenFinding, worstSoFar } from '../findings/seen-finding.ts';
import type { HostTotals, NetworkCount, WorstHost } from '../report.ts';
import type { CurrentHost } from './current-host.ts';

/** Hosts at the front of the report. */
const maxWorstHosts = 6;
/** Networks of the report. */
const maxNetworks = 100;
/** Actions of one host that are looked through for its first one. */
const maxHostActions = 2000;

interface CountedHost {
  host: string;
  name: string | null;
  number: number;
  severities: SeverityCounts;
  /** Exploited findings. */
  exploited: ReturnType<typeof noClasses>;
  worst: Urgency | null;
  findings: number;
  actions: Set<CountedAction>;
}

type CountedNetwork = NetworkCount & { severities: SeverityCounts };

/** Sums over hosts, one of which is open at a time. */
export class HostSums {
  readonly #worst = new BestItems<CountedHost>(maxWorstHosts, worstFirst);
  readonly #networks = new BestItems<CountedNetwork>(maxNetworks, mostFindingsFirst);
  #host: CountedHost | null = null;
  #network: CountedNetwork | null = null;
  withFindings = 0;
  all = 0;
  /** Hosts with exploited findings, by the most certain of them. */
  readonly exploitedHosts = noClasses();

  open({ host, name, number, network }: CurrentHost): void {
    this.close();
    this.all += 1;
    this.#host = {
      host,
      name,
      number,
      severities: noFindings(),
      exploited: noClasses(),
      worst: null,
      findings: 0,
      actions: new Set(),
    };
    if (this.#network?.network !== network) {
      if (this.#network) this.#networks.add(this.#network);
      this.#network = { network, hosts: 0, findings: 0, severities: noFindings() };
    }
    this.#network.hosts += 1;
  }

  addFinding(finding: SeenFinding, action: CountedAction): void {
    const [host, network] = [this.#host, this.#network];
    if (!host || !network) return;
    host.findings += 1;
    host.worst = worstSoFar(host.worst, finding);
    host.severities[finding.severity] += 1;
    network.findings += 1;
    network.severities[finding.severity] += 1;
    if (finding.exploited) countClass(host.exploited, finding.class);
    if (host.actions.size < maxHostActions) host.actions.add(action);
  }

  /** Ends the open host. */
  close(): void {
    const host = this.#host;
    this.#host = null;
    if (!host || host.findings === 0) return;
    this.withFindings += 1;
    const exploited = findingClasses.find((name) => host.exploited[name] > 0);
    if (exploited) countClass(this.exploitedHosts, exploited);
    this.#worst.add(host);
  }

  /** After the actions have their ranks. */
  finish(): HostTotals {
    this.close();
    if (this.#network) this.#networks.add(this.#network);
    this.#network = null;
    return {
      all: this.all,
      withFindings: this.withFindings,
      worst: this.#worst.items().map(worstHost),
      networks: this.#networks.items(),
      networksLeft: this.#networks.left,
    };
  }
}

function worstHost({ host, name, exploited, severities: counts, actions }: CountedHost): WorstHost {
  const ranks = [...actions].map(({ action }) => action.rank);
  return { host, name, exploited: exploited.all > 0, severities: counts, action: Math.min(...ranks) };
}

/** By the worst finding, then by the number of each severity, then by address. */
function worstFirst(a: CountedHost, b: CountedHost): number {
  const order = urgencyRank(a.worst as Urgency) - urgencyRank(b.worst as Urgency);
  return order || (bySeverities(a.severities, b.severities) ?? a.number - b.number);
}

/** More of the worst severity first; undefined if all are equal. */
export function bySeverities(a: SeverityCounts, b: SeverityCounts): number | undefined {
  return severities.map((severity) => b[severity] - a[severity]).find((order) => order !== 0);
}

function mostFindingsFirst(a: CountedNetwork, b: CountedNetwork): number {
  return b.findings - a.findings || b.hosts - a.hosts;
}
