import type { PortCounts, RejectedPorts } from '../../domain/host.ts';
import { untilAborted } from '../abort.ts';
import type { AdaptiveRate, RateBounds } from '../adaptive/rate.ts';
import type { Egress } from '../egress.ts';
import type { PacketRateLimiter } from '../gate/rate.ts';
import type { ChunkState } from '../packets/engine/chunk.ts';
import type { PermutationKey } from '../packets/frame/permutation.ts';

/** What every sweep gets from its gate. */
export interface SweepInput {
  rate: PacketRateLimiter;
  /** Sets that rate by the responses, if it adapts. */
  adaptive: AdaptiveRate | null;
  egress: Egress;
  /** The canonical address if it may be probed now, else null. */
  admit(host: string): string | null;
  isOwn(address: string, port: number): boolean;
  onSent(packets: number): void;
  /** Called for probes that could not be sent. */
  onUnsent(reason: string, count: number): void;
  onSpared(): void;
}

export interface SweepHost {
  ip: string;
  /** As seen by discovery. */
  mac?: string | undefined;
  latencyMs?: number | null | undefined;
}

/** The same ports of some hosts. */
export interface SweepJob {
  /** At most `maxChunkHosts`, and with the ports at most `maxChunkEndpoints` endpoints. */
  hosts: readonly SweepHost[];
  ports: Uint16Array;
  /** Number of ports, from the first on, that are probed before the others; 0 by default. */
  leading?: number | undefined;
  /** Retries for a silent endpoint. */
  retries: number;
  timeoutMs: number;
  signal: AbortSignal;
  /** @param reason `syn-ack` by default */
  onOpen(host: string, port: number, reason?: string): void;
  /** Called now and then; every open port in it was reported before. */
  onState(state: SweepProgress): void;
  /** List the silent ports of every host in its outcome. */
  listsSilent?: boolean;
  /** List the closed ports of every host among its rejections. */
  listsClosed?: boolean;
  /** Progress of an interrupted sweep of the same job. */
  restored: SweepProgress | null;
}

/** A sweep by full connections. */
export interface ConnectJob extends SweepJob {
  /** Maximum number of open sockets. */
  concurrency: number;
}

/** A sweep by raw packets. */
export interface SynJob extends SweepJob {
  /** Maximum packets per second to one host; 0 = only the rate applies. */
  hostRate: number;
  /** The rate of each host adapts to its responses, within these bounds; for an adaptive gate. */
  rateBounds?: RateBounds;
  /**
   * Only tests which hosts are up. Called once per host with its first response, also for one that had responded
   * before an interruption; a host that has responded gets no further probe.
   */
  onAlive?(host: string, reason: SignOfLife): void;
}

export type SignOfLife = 'syn-ack' | 'rst';

/** Progress of a job, in parts that share a path. */
export interface SweepProgress {
  parts: { hosts: string[]; key: PermutationKey; state: ChunkState }[];
}

/** How the sweep of one host ended. */
export interface SweepOutcome extends Omit<PortCounts, 'protocol' | 'all_ports_open' | 'rejected'> {
  /** Why nothing could be sent to it, or null. */
  problem: string | null;
  /** Of the filtered ports, those with an ICMP error. */
  rejected?: number;
  /** By what they were rejected. */
  rejections?: RejectedPorts[];
  /** Of the ports that were not tried, those to which a packet could not be sent. */
  unsent?: number;
  /** Ports that were open since the last closed one responded. */
  openRun?: number;
  /** Ports without a response, of a host that drops probes (`dropsProbes`). */
  silent?: number[];
}

export function unreached(host: string, planned: number, problem: string): SweepOutcome {
  return { host, open: 0, closed: 0, filtered: 0, not_tried: planned, problem };
}

/** Probes that an interrupted sweep could not send: they are not tried again. */
export function reportEarlierUnsent(
  { onUnsent }: Pick<SweepInput, 'onUnsent'>,
  restored: ChunkState | null,
): void {
  const count = restored?.counts.unsent.reduce((sum, unsent) => sum + unsent, 0) ?? 0;
  if (count > 0) onUnsent('before an interruption', count);
}

/** Why an engine did not start, or null. @throws the reason of the abort */
export async function startObstacle(started: Promise<unknown>, signal: AbortSignal): Promise<string | null> {
  try {
    await untilAborted(started, signal);
    return null;
  } catch (error) {
    signal.throwIfAborted();
    return (error as Error).message;
  }
}

/** Endpoints of this server itself. */
export function sparedEndpoints(
  { isOwn, onSpared }: Pick<SweepInput, 'isOwn' | 'onSpared'>,
  hosts: readonly string[],
  ports: Uint16Array,
): Uint32Array {
  const spared: number[] = [];
  for (const [host, ip] of hosts.entries()) {
    for (const [number, port] of ports.entries()) {
      if (!isOwn(ip, port)) continue;
      spared.push(host * ports.length + number);
      onSpared();
    }
  }
  return Uint32Array.from(spared);
}

/** Minimum number of responses to retries that indicate rate limiting, and their minimum share of all responses. */
const leastLate = 2;
const leastLateShare = 0.25;

/**
 * Whether a host drops probes above a certain rate: many of its ports were silent at first and responded to a retry.
 * Packet loss of up to 25 % does not count as that.
 * @param late ports that responded only to a retry
 * @param responded all ports that responded
 */
export function dropsProbes(late: number, responded: number): boolean {
  return late >= leastLate && late >= leastLateShare * responded;
}
