import { type Finding, type Severity, severities } from '../domain/finding.ts';
import { shortened } from './fitting.ts';

/** A finding as shown in messages: no banner, no evidence. */
export interface ShownFinding {
  severity: Severity;
  host: string;
  port: number | null;
  protocol: string | null;
  id: string;
  title: string;
}

/** Changes of the findings of a scan. */
export interface FindingChanges {
  /** The scan compared with; null for a first one, whose findings are all new. */
  against: string | null;
  new_count: number;
  fixed_count: number;
  /** Hosts of one scan that the other could not have found, or not completely. */
  not_comparable_hosts: number;
  /** Worst first, truncated. */
  new_findings: ShownFinding[];
  fixed_findings: ShownFinding[];
}

/** Maximum lengths of parts of a finding in a message, characters; a DNS name has 253. */
const titleLength = 120;
const hostLength = 253;
const idLength = 64;

/** A finding of the record. */
export interface FoundFinding {
  host: string;
  port: number | null;
  protocol: string | null;
  vulnerability: Pick<Finding, 'id' | 'title' | 'severity' | 'cvss'>;
}

/** Keeps the worst findings of many: by severity, then by CVSS score, then in the order they came in. */
export class WorstFindings {
  readonly #most: number;
  readonly #kept: FoundFinding[] = [];
  count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  add(found: FoundFinding): void {
    this.count++;
    const last = this.#kept.at(-1);
    if (this.#kept.length >= this.#most && last && !isWorse(found, last)) return;
    const place = this.#kept.findIndex((other) => isWorse(found, other));
    this.#kept.splice(place < 0 ? this.#kept.length : place, 0, found);
    if (this.#kept.length > this.#most) this.#kept.pop();
  }

  list(): ShownFinding[] {
    return this.#kept.map(shownFinding);
  }
}

function isWorse({ vulnerability: one }: FoundFinding, { vulnerability: other }: FoundFinding): boolean {
  const rank = severities.indexOf(one.severity) - severities.indexOf(other.severity);
  return rank === 0 ? (one.cvss?.score ?? 0) > (other.cvss?.score ?? 0) : rank < 0;
}

function shownFinding({ host, port, protocol, vulnerability }: FoundFinding): ShownFinding {
  const { severity, id, title } = vulnerability;
  return {
    severity,
    host: shortened(host, hostLength),
    port,
    protocol,
    id: shortened(id, idLength),
    title: shortened(title, titleLength),
  };
}

/** `critical 192.0.2.7:443 Title` */
export function findingText({ severity, host, port, title }: ShownFinding): string {
  const shownHost = host.includes(':') && port !== null ? `[${host}]` : host;
  return `${severity} ${shownHost}${port === null ? '' : `:${port}`} ${title}`;
}
