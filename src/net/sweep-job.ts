import type { PortCounts } from '../domain/host.ts';
import type { ChunkState } from './packets/chunk.ts';
import type { WalkKey } from './packets/walk.ts';

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
  /** Where an interrupted sweep of the same job was. */
  restored: SweepProgress | null;
}

/** How far a job is: what belongs together goes the same way. */
export interface SweepProgress {
  parts: { hosts: string[]; key: WalkKey; state: ChunkState }[];
}

/** How the sweep of one host ended. */
export interface SweepOutcome extends Omit<PortCounts, 'protocol' | 'all_ports_open'> {
  /** Why nothing could be sent to it, or null. */
  problem: string | null;
}
