import type { PortCoverage, ProbeRejection, Protocol, RejectedPorts } from './host.ts';

/** Maximum number of ports of a host and protocol that are named with their reason; more are counted. */
export const maxNamedPorts = 50;

/** Maximum number of reasons that are told apart for a host and protocol; the others are counted as one. */
const maxReasons = 16;

/** Why ports of a host are not open. */
export interface PortReason {
  protocol: Protocol;
  state: 'closed' | 'filtered' | 'open|filtered';
  /** `rst`, `no-response`, `admin-prohibited`, `host-unreachable`, ... */
  reason: string;
  /** Absent without an ICMP error, or if the kernel did not tell. */
  icmp?: { type: number; code: number } | undefined;
  /** Sender of the ICMP error; absent without one, or if the kernel did not tell. */
  from?: string | undefined;
  count: number;
  /** Up to 50 of those with an ICMP error, ascending. */
  ports: number[];
}

/** `admin-prohibited from 10.0.0.254` */
export function reasonText({ reason, from }: Pick<PortReason, 'reason' | 'from'>): string {
  return from === undefined ? reason : `${reason} from ${from}`;
}

/** The reason of one port, if it is among those that are named. */
export function namedReason(
  reasons: readonly PortReason[] | undefined,
  protocol: Protocol,
  port: number,
): PortReason | null {
  return reasons?.find((each) => each.protocol === protocol && each.ports.includes(port)) ?? null;
}

/** The errors about the ports of one host and protocol. */
export class Rejections {
  readonly #kinds: RejectedPorts[] = [];

  constructor(known: readonly RejectedPorts[] = []) {
    for (const each of known) this.add(each);
  }

  add({ count, ports, ...kind }: RejectedPorts): void {
    const known = this.#kinds.find((each) => isSame(each, kind)) ?? this.#begin(kind);
    known.count += count;
    const named = this.#kinds.reduce((sum, each) => sum + each.ports.length, 0);
    known.ports.push(...ports.slice(0, Math.max(0, maxNamedPorts - named)));
  }

  list(): RejectedPorts[] {
    return this.#kinds.map((kind) => ({ ...kind, ports: kind.ports.toSorted((a, b) => a - b) }));
  }

  #begin(kind: Omit<RejectedPorts, 'count' | 'ports'>): RejectedPorts {
    const { state } = kind;
    const others = this.#kinds.find((each) => each.reason === otherErrors && each.state === state);
    const isFull = this.#kinds.length >= maxReasons;
    if (isFull && others) return others;
    const first = { ...(isFull ? { reason: otherErrors, icmp: null, from: null, state } : kind) };
    const begun = { ...first, count: 0, ports: [] };
    this.#kinds.push(begun);
    return begun;
  }
}

const otherErrors = 'icmp-error';

function isSame(one: ProbeRejection & { state: string }, other: ProbeRejection & { state: string }): boolean {
  return (
    one.state === other.state &&
    one.reason === other.reason &&
    one.from === other.from &&
    one.icmp?.type === other.icmp?.type &&
    one.icmp?.code === other.icmp?.code
  );
}

/** Every port that is not open, by reason: those with an error, the rest by what its state means. */
export function portReasons(
  protocol: Protocol,
  { closed, filtered }: Pick<PortCoverage, 'closed' | 'filtered'>,
  rejected: readonly RejectedPorts[],
): PortReason[] {
  const left = { closed, filtered };
  const reasons: PortReason[] = rejected.flatMap(({ state, reason, icmp, from, count, ports }) => {
    // After a kill, errors of the last moment come twice.
    const own = Math.min(count, left[state]);
    left[state] -= own;
    if (own === 0) return [];
    return [
      { protocol, state, reason, ...(icmp && { icmp }), ...(from !== null && { from }), count: own, ports },
    ];
  });
  if (left.closed > 0) {
    const reason = protocol === 'tcp' ? 'rst' : 'port-unreachable';
    reasons.push({ protocol, state: 'closed', reason, count: left.closed, ports: [] });
  }
  if (left.filtered > 0) {
    const state = protocol === 'tcp' ? 'filtered' : 'open|filtered';
    reasons.push({ protocol, state, reason: 'no-response', count: left.filtered, ports: [] });
  }
  return reasons;
}

/** The errors in the reasons of a host, by protocol. */
export function rejectedOf(reasons: readonly PortReason[]): Record<Protocol, RejectedPorts[]> {
  const of = (wanted: Protocol) =>
    reasons.flatMap(({ protocol, state, reason, icmp = null, from = null, count, ports }) => {
      const isError = protocol === wanted && state !== 'open|filtered' && !unexplained.has(reason);
      return isError ? [{ state, reason, icmp, from, count, ports }] : [];
    });
  return { tcp: of('tcp'), udp: of('udp') };
}

/** Reasons of ports without an error. */
const unexplained: ReadonlySet<string> = new Set(['rst', 'no-response']);
