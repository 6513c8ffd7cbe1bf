import type { Finding, Severity } from '../domain/finding.ts';
import { byWorst, type RankedFields, type Urgency, urgencyOf } from '../domain/finding-order.ts';
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
  vulnerability: Pick<Finding, 'title'> & RankedFields;
}

/** Keeps the worst findings of many, equal ones in the order they came in. */
export class WorstFindings {
  readonly #most: number;
  readonly #kept: { found: FoundFinding; urgency: Urgency }[] = [];
  count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  add(found: FoundFinding): void {
    this.count++;
    const urgency = urgencyOf(found.vulnerability);
    const isWorse = (other: { urgency: Urgency }) => byWorst(urgency, other.urgency) < 0;
    const last = this.#kept.at(-1);
    if (this.#kept.length >= this.#most && last && !isWorse(last)) return;
    const place = this.#kept.findIndex(isWorse);
    this.#kept.splice(place < 0 ? this.#kept.length : place, 0, { found, urgency });
    if (this.#kept.length > this.#most) this.#kept.pop();
  }

  list(): ShownFinding[] {
    return this.#kept.map(({ found }) => shownFinding(found));
  }
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
