import type { PortCounts } from '../../domain/host.ts';
import type { RateBounds } from '../adaptive/rate.ts';
import type { ChunkState } from '../packets/engine/chunk.ts';
import type { PermutationKey } from '../packets/frame/permutation.ts';

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
export interface SweepOutcome extends Omit<PortCounts, 'protocol' | 'all_ports_open'> {
  /** Why nothing could be sent to it, or null. */
  problem: string | null;
  /** Of the filtered ports, those with an ICMP error. */
  rejected?: number;
  /** Of the ports that were not tried, those to which a packet could not be sent. */
  unsent?: number;
  /** Ports without a response, of a host that drops probes (`dropsProbes`). */
  silent?: number[];
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
