import type { PortCounts } from '../../domain/host.ts';
import type { ChunkState } from '../packets/chunk.ts';
import type { PermutationKey } from '../packets/permutation.ts';

export interface SweepHost {
  ip: string;
  /** Where discovery has seen it. */
  mac?: string | undefined;
  latencyMs?: number | null | undefined;
}

/** The same ports of some hosts. */
export interface SweepJob {
  /** At most `maxChunkHosts`, and with the ports at most `maxChunkEndpoints` endpoints. */
  hosts: readonly SweepHost[];
  ports: Uint16Array;
  /** Further tries for an endpoint that stays silent. */
  retries: number;
  timeoutMs: number;
  signal: AbortSignal;
  /** @param reason `syn-ack` when it is left out */
  onOpen(host: string, port: number, reason?: string): void;
  /** Told now and then; every open port in it was told before. */
  onState(state: SweepProgress): void;
  /** List the silent ports of every host in its outcome. */
  listsSilent?: boolean;
  /** Where an interrupted sweep of the same job was. */
  restored: SweepProgress | null;
}

/** A sweep by full connections. */
export interface ConnectJob extends SweepJob {
  /** Most sockets open at the same time. */
  concurrency: number;
}

/** A sweep by raw packets. */
export interface SynJob extends SweepJob {
  /** Leave by this interface; empty = as the system routes. */
  interface: string;
  /** Send from this address; empty = as the system chooses. */
  sourceIp: string;
  /** Most packets per second to one host; 0 = only the rate counts. */
  hostRate: number;
  /**
   * Only which hosts live is asked. Told once for each host with its first answer, also for one that had answered
   * before an interruption; a host that has answered gets no further probe.
   */
  onAlive?(host: string, reason: SignOfLife): void;
}

export type SignOfLife = 'syn-ack' | 'rst';

/** How far a job is: what belongs together goes the same way. */
export interface SweepProgress {
  parts: { hosts: string[]; key: PermutationKey; state: ChunkState }[];
}

/** How the sweep of one host ended. */
export interface SweepOutcome extends Omit<PortCounts, 'protocol' | 'all_ports_open'> {
  /** Why nothing could be sent to it, or null. */
  problem: string | null;
  /** Ports without a response, of a host that drops probes (`dropsProbes`). */
  silent?: number[];
}

/** Least responses to a further try that tell a host that limits them, and the least share of all responses. */
const leastLate = 2;
const leastLateShare = 0.25;

/**
 * Whether a host drops probes above a rate that it bears: many of its ports were silent at first and responded to a
 * further try. Loss on the way of up to 25 % is not taken for that.
 * @param late ports that responded to a further try only
 * @param responded all ports that responded
 */
export function dropsProbes(late: number, responded: number): boolean {
  return late >= leastLate && late >= leastLateShare * responded;
}
