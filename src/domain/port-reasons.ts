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
  /** Up to 50 of those with an ICMP error, ascending; all of them where at most 50 ports were planned. */
  ports: number[];
}

/** A TCP port that responded with RST. */
export function closedPorts(count: number, ports: number[]): RejectedPorts {
  return { state: 'closed', reason: 'rst', icmp: null, from: null, count, ports };
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
    const shown = protocol === 'udp' && reason === silence ? 'open|filtered' : state;
    return [
      {
        protocol,
        state: shown,
        reason,
        ...(icmp && { icmp }),
        ...(from !== null && { from }),
        count: own,
        ports,
      },
    ];
  });
  if (left.closed > 0) {
    const reason = protocol === 'tcp' ? 'rst' : 'port-unreachable';
    reasons.push({ protocol, state: 'closed', reason, count: left.closed, ports: [] });
  }
  if (left.filtered > 0) {
    const state = protocol === 'tcp' ? 'filtered' : 'open|filtered';
    reasons.push({ protocol, state, reason: silence, count: left.filtered, ports: [] });
  }
  return reasons;
}

/** What is planned and recorded of the ports of one host and protocol. */
interface NamedPorts {
  /** Absent = too many to be named. */
  planned: readonly number[] | undefined;
  /** Those with a row of their own. */
  rows: ReadonlySet<number>;
  /** How many of these are not open. */
  silentRows: number;
}

/** The errors about ports, and where few were planned every other port that is not open: what is left has one state. */
export function namedRejections(
  protocol: Protocol,
  counts: PortCoverage,
  rejected: readonly RejectedPorts[],
  { planned, rows, silentRows }: NamedPorts,
): RejectedPorts[] {
  if (!planned) return rejected.filter(({ reason }) => !unexplained.has(reason));
  const known = rejected.map((each) => {
    const ports = each.ports.filter((port) => !rows.has(port));
    return { ...each, ports: ports.length === each.count ? ports : [] };
  });
  const countOf = (state: string) =>
    known.reduce((sum, each) => sum + (each.state === state ? each.count : 0), 0);
  const closed = counts.closed - countOf('closed');
  const filtered = counts.filtered - countOf('filtered');
  const named = new Set([...rows, ...known.flatMap(({ ports }) => ports)]);
  const rest = planned.filter((port) => !named.has(port)).sort((a, b) => a - b);
  if (counts.not_tried > 0 || rest.length === 0) return known;
  const common = { icmp: null, from: null, ports: rest };
  if (closed === rest.length && filtered === silentRows) {
    const reason = protocol === 'tcp' ? 'rst' : 'port-unreachable';
    return [...known, { ...common, state: 'closed', reason, count: closed }];
  }
  if (closed === 0 && filtered - silentRows === rest.length)
    return [...known, { ...common, state: 'filtered', reason: silence, count: filtered }];
  return known;
}

/** The errors and named ports in the reasons of a host, by protocol. */
export function rejectedOf(reasons: readonly PortReason[]): Record<Protocol, RejectedPorts[]> {
  const of = (wanted: Protocol) =>
    reasons.flatMap(({ protocol, state, reason, icmp = null, from = null, count, ports }) => {
      const isKnown = ports.length > 0 || (state !== 'open|filtered' && !unexplained.has(reason));
      const own = {
        state: state === 'closed' ? state : 'filtered',
        reason,
        icmp,
        from,
        count,
        ports,
      } as const;
      return protocol === wanted && isKnown ? [own] : [];
    });
  return { tcp: of('tcp'), udp: of('udp') };
}

const silence = 'no-response';

/** Reasons of ports without an error. */
const unexplained: ReadonlySet<string> = new Set(['rst', silence]);
