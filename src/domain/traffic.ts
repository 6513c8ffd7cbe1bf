/**
 * Why a probe failed. `refused`, `timeout`, `unreachable`: a closed port, no response, an ICMP error; `reset`: the
 * peer reset an open connection; `tls`: the handshake failed; `resolve`: a name has no address; `unsent`: the packet
 * did not leave this machine.
 */
export const probeErrorKinds = [
  'refused',
  'timeout',
  'unreachable',
  'reset',
  'tls',
  'resolve',
  'unsent',
] as const;
export type ProbeErrorKind = (typeof probeErrorKinds)[number];
type ProbeErrors = Record<ProbeErrorKind, number>;

const rawCounters = ['sent', 'received', 'dropped', 'retransmitted'] as const;
/** Raw packets: probes sent, retries among them, packets that passed the filter, packets that the kernel dropped. */
export type RawPackets = Record<(typeof rawCounters)[number], number>;

/** What a scan process sent and received since its start. */
export interface Traffic {
  /** Packets and connection attempts, as counted against the rate. */
  sent: number;
  raw: RawPackets;
  errors: ProbeErrors;
}

export function noTraffic(): Traffic {
  return { sent: 0, raw: countsOf(rawCounters, () => 0), errors: countsOf(probeErrorKinds, () => 0) };
}

export function addTraffic(a: Traffic, b: Traffic): Traffic {
  return {
    sent: a.sent + b.sent,
    raw: countsOf(rawCounters, (name) => a.raw[name] + b.raw[name]),
    errors: countsOf(probeErrorKinds, (kind) => a.errors[kind] + b.errors[kind]),
  };
}

/**
 * Growth of counters that another process reported.
 *
 * @param now untrusted; a value that is not a count, or has not grown, counts as unchanged
 */
export function trafficGrowth(now: unknown, before: Traffic): Traffic {
  const { sent, raw, errors } = membersOf(now);
  return {
    sent: growth(sent, before.sent),
    raw: countsOf(rawCounters, (name) => growth(membersOf(raw)[name], before.raw[name])),
    errors: countsOf(probeErrorKinds, (kind) => growth(membersOf(errors)[kind], before.errors[kind])),
  };
}

function growth(now: unknown, before: number): number {
  return Number.isSafeInteger(now) ? Math.max(0, (now as number) - before) : 0;
}

function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function countsOf<Name extends string>(names: readonly Name[], of: (name: Name) => number) {
  return Object.fromEntries(names.map((name) => [name, of(name)])) as Record<Name, number>;
}
