import type { ScanProgress } from '../../domain/scan.ts';
import {
  type ScanLogFields,
  type ScanOrigin,
  scanLogFields,
  unknownOrigin,
} from '../../domain/scan-origin.ts';
import type { QueueClaim } from '../../store/scan-queue.ts';
import type { RunningScan } from '../../worker/running-scan.ts';

/** A claimed scan and the process that runs it. */
export interface ScanSlot extends QueueClaim {
  process: RunningScan | null;
  /** Of the scan, from the moment it is read from the store. */
  origin: ScanOrigin;
  canceled: boolean;
  /** Paused by a client. */
  paused: boolean;
  /** Of the scan request, packets per second. */
  requestedRate: number;
  /** Current rate limit of the process, packets per second. */
  assignedRate: number;
  /** Another worker has the scan: nothing of it may be written any more. */
  leaseLost: boolean;
  /** Resolves when everything about the scan is stored. */
  ended: Promise<void>;
  /** The live report that was stored last. */
  storedReport: unknown;
}

/** By scan ID. */
export type ScanSlots = Map<string, ScanSlot>;

export function openSlot(claim: QueueClaim): ScanSlot {
  return {
    ...claim,
    process: null,
    origin: unknownOrigin,
    canceled: false,
    paused: false,
    requestedRate: 0,
    assignedRate: 0,
    leaseLost: false,
    ended: Promise.resolve(),
    storedReport: null,
  };
}

/** What log lines about the scan name. */
export function slotFields({ scanId, origin }: Pick<ScanSlot, 'scanId' | 'origin'>): ScanLogFields {
  return scanLogFields(scanId, origin.requestId);
}

export function cancelSlot(slot: ScanSlot): void {
  slot.canceled = true;
  slot.process?.cancel();
}

/** What a pause shows of the progress. */
export function pauseProgress({ paused }: Pick<ScanSlot, 'paused'>): Partial<ScanProgress> {
  return paused ? { paused, rate: 0, eta_seconds: null } : { paused };
}
