import type { Finding, Severity } from '../domain/finding.ts';
import {
  byWorst,
  countsAs,
  type RankedFields,
  type Urgency,
  urgencyOf,
  urgencyRank,
} from '../domain/finding-order.ts';
import { shortened } from './fitting.ts';

/** A finding as shown in messages: no banner, no evidence. */
export interface ShownFinding {
  severity: Severity;
  host: string;
  port: number | null;
  protocol: string | null;
  /** All ports of its host with the same finding; absent where it is one. */
  ports?: number[];
  id: string;
  title: string;
  /** A check found it that the scan compared with did not have. */
  by_new_check?: true;
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
/** Ports of a finding in a message. */
const maxPorts = 20;

/** A finding of the record. */
export interface FoundFinding {
  host: string;
  port: number | null;
  protocol: string | null;
  by_new_check?: true;
  vulnerability: Pick<Finding, 'title'> & RankedFields;
}

/**
 * Keeps the worst findings of many, others of the same urgency in the order they came in. Equal ones of one host are one with
 * their ports.
 */
export class WorstFindings {
  readonly #most: number;
  readonly #kept: KeptFinding[] = [];
  count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  add(found: FoundFinding): void {
    this.count++;
    const urgency = urgencyOf(found.vulnerability);
    const equal = this.#kept.find((kept) => isEqual(kept, found, urgency));
    if (equal) {
      if (found.port !== null && equal.ports.length < maxPorts) equal.ports.push(found.port);
      return;
    }
    const isWorse = (other: KeptFinding) => byWorst(urgency, other.urgency) < 0;
    const last = this.#kept.at(-1);
    if (this.#kept.length >= this.#most && last && !isWorse(last)) return;
    const place = this.#kept.findIndex(isWorse);
    this.#kept.splice(place < 0 ? this.#kept.length : place, 0, {
      found,
      urgency,
      ports: found.port === null ? [] : [found.port],
    });
    if (this.#kept.length > this.#most) this.#kept.pop();
  }

  list(): ShownFinding[] {
    return this.#kept.map(shownFinding);
  }
}

interface KeptFinding {
  found: FoundFinding;
  urgency: Urgency;
  ports: number[];
}

function isEqual({ found, urgency: known }: KeptFinding, other: FoundFinding, urgency: Urgency): boolean {
  const isSame = found.host === other.host && found.vulnerability.id === other.vulnerability.id;
  return (
    isSame && (found.port === null) === (other.port === null) && urgencyRank(known) === urgencyRank(urgency)
  );
}

function shownFinding({
  found: { host, port, protocol, vulnerability, by_new_check },
  ports,
}: KeptFinding): ShownFinding {
  const { id, title } = vulnerability;
  return {
    severity: countsAs(vulnerability),
    host: shortened(host, hostLength),
    port,
    protocol,
    ...(ports.length > 1 && { ports }),
    id: shortened(id, idLength),
    title: shortened(title, titleLength),
    ...(by_new_check && { by_new_check }),
  };
}

/** `critical 192.0.2.7:443,8443 Title` */
export function findingText({ severity, host, port, ports = [], title, by_new_check }: ShownFinding): string {
  const shownHost = host.includes(':') && port !== null ? `[${host}]` : host;
  return `${severity} ${shownHost}${port === null ? '' : `:${[...new Set([port, ...ports])].join(',')}`} ${title}${by_new_check ? ' (new, by a new check)' : ''}`;
}
