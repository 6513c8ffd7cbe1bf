import type { RejectedPorts } from '../../domain/host.ts';
import { closedPorts, Rejections } from '../../domain/port-reasons.ts';
import { pause } from '../../net/abort.ts';
import type { NetworkGate, PortObservation } from '../../net/gate/gate.ts';
import type { ChunkState } from '../../net/packets/engine/chunk.ts';
import type { SweepOutcome } from '../../net/tcp/sweep-job.ts';
import type { SampleProgress } from './slow-retry.ts';

export interface SlowConnections {
  host: string;
  ports: readonly number[];
  /** Connections per second. */
  perSecond: number;
  timeoutMs: number;
  signal: AbortSignal;
  /** Called when a port is open; the port counts as done only after it resolves. */
  onOpen(port: number, reason: string): Promise<void> | void;
}

/** Whether nothing came back, neither a packet nor an error. */
export function isSilence({ state, reason }: PortObservation): boolean {
  return state === 'filtered' && reason === 'no-response';
}

/** The error behind a filtered port; null if it was silent. */
export function errorOfPort(port: number, observation: PortObservation): RejectedPorts | null {
  const { state, reason, rejection } = observation;
  if (state !== 'filtered' || isSilence(observation)) return null;
  const error = rejection ?? { reason, icmp: null, from: null };
  return { ...error, state, count: 1, ports: [port] };
}

/** Probes some ports of one host slowly, by sockets; continues an interrupted attempt. */
export async function connectSlowly(
  net: NetworkGate,
  { host, ports, perSecond, timeoutMs, signal, onOpen }: SlowConnections,
  { restored, onState }: SampleProgress,
): Promise<SweepOutcome> {
  const tally = new Tally(ports.length, restored?.parts[0]?.state ?? null);
  const rejections = new Rejections();
  const probe = async (port: number, number: number, at: number) => {
    await pause((at * 1000) / perSecond, signal);
    if (signal.aborted) return;
    const observation = await net.probeTcp(host, port, { timeoutMs, signal });
    // A probe cut short by the abort has no outcome.
    if (observation.state === 'not_tried' && signal.aborted) return;
    if (observation.state === 'open') await onOpen(port, observation.reason);
    const rejected = errorOfPort(port, observation);
    if (rejected) rejections.add(rejected);
    if (observation.state === 'closed') rejections.add(closedPorts(1, [port]));
    tally.settle(number, observation);
    onState({ parts: [{ hosts: [host], key: [], state: tally.state }] });
  };
  const left = [...ports.entries()].filter(([number]) => !tally.isSettled(number));
  await Promise.all(left.map(([number, port], at) => probe(port, number, at)));
  const silent = ports.filter((_, number) => tally.isSilent(number));
  return { host, ...tally.outcome(), silent, rejections: rejections.list() };
}

/** Outcomes of the ports, as counts. */
class Tally {
  readonly state: ChunkState;
  readonly #ports: number;

  constructor(ports: number, restored: ChunkState | null) {
    const bits = () => new Uint8Array(4 * Math.ceil(ports / 32));
    const none = () => new Uint32Array(1);
    this.#ports = ports;
    this.state = restored ?? {
      counter: 0,
      settled: bits(),
      counts: { probed: none(), open: none(), closed: none(), rejected: none(), unsent: none() },
      silent: bits(),
    };
  }

  settle(number: number, observation: PortObservation): void {
    const { settled, silent, counts } = this.state;
    setBit(settled, number);
    if (isSilence(observation)) return silent && setBit(silent, number);
    const { state } = observation;
    const count = {
      open: counts.open,
      closed: counts.closed,
      filtered: counts.rejected,
      not_tried: counts.unsent,
    }[state];
    count[0] = (count[0] as number) + 1;
  }

  isSettled(number: number): boolean {
    return isSet(this.state.settled, number);
  }

  isSilent(number: number): boolean {
    return this.state.silent !== undefined && isSet(this.state.silent, number);
  }

  outcome(): Omit<SweepOutcome, 'host' | 'silent'> {
    const { open, closed, rejected } = this.state.counts;
    const numbers = Array.from({ length: this.#ports }, (_, number) => number);
    const silent = numbers.filter((number) => this.isSilent(number)).length;
    const responded = { open: open[0] as number, closed: closed[0] as number };
    const filtered = silent + (rejected[0] as number);
    const not_tried = this.#ports - responded.open - responded.closed - filtered;
    return { ...responded, filtered, not_tried, problem: null };
  }
}

function isSet(bits: Uint8Array, at: number): boolean {
  return ((bits[at >>> 3] as number) & (1 << (at & 7))) !== 0;
}

function setBit(bits: Uint8Array, at: number): void {
  bits[at >>> 3] = (bits[at >>> 3] as number) | (1 << (at & 7));
}
