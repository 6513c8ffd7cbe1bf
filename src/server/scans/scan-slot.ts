import type { ScanProgress } from '../../domain/scan.ts';
import {
  type ScanLogFields,
  type ScanOrigin,
  scanLogFields,
  unknownOrigin,
} from '../../domain/scan-origin.ts';
import { notSending } from '../../domain/scan-progress.ts';
import type { PauseMark } from '../../store/scan-pauses.ts';
import type { QueueClaim } from '../../store/scan-queue.ts';
import type { RunningScan } from '../../worker/running-scan.ts';

/** A claimed scan and the process that runs it. */
export interface ScanSlot extends QueueClaim {
  process: RunningScan | null;
  /** Of the scan, once it was read from the store. */
  origin: ScanOrigin;
  canceled: boolean;
  /** Paused by a client. */
  paused: boolean;
  /** By whom and when; null if it is not paused, or unknown. */
  pauseMark: PauseMark | null;
  /** Of the scan request, packets per second. */
  requestedRate: number;
  /** Current rate limit of the process, packets per second. */
  assignedRate: number;
  /** The lease was lost: reject further writes. */
  leaseLost: boolean;
  /** It returns to the queue: the next claim of the scan is a run of its own. */
  isLeaving: boolean;
  /** Whether workers share the scan. */
  isDivided: boolean;
  /** Whether its end adds notifications; unknown ones may. */
  notifies: boolean;
  /** Its results have been stored with its end. */
  isStored: boolean;
  /** Nothing is left to remove after its end. */
  isCleared: boolean;
  /** Resolves when everything about the scan is stored. */
  ended: Promise<void>;
  /** Last stored report. */
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
    pauseMark: null,
    requestedRate: 0,
    assignedRate: 0,
    leaseLost: false,
    isLeaving: false,
    isDivided: false,
    notifies: true,
    isStored: false,
    isCleared: false,
    ended: Promise.resolve(),
    storedReport: null,
  };
}

/** Log fields of the scan. */
export function slotFields({ scanId, origin }: Pick<ScanSlot, 'scanId' | 'origin'>): ScanLogFields {
  return scanLogFields(scanId, origin.requestId);
}

export function cancelSlot(slot: ScanSlot): void {
  slot.canceled = true;
  slot.process?.cancel();
}

/** Progress fields that a pause changes. */
export function pauseProgress({
  paused,
  pauseMark,
}: Pick<ScanSlot, 'paused' | 'pauseMark'>): Partial<ScanProgress> {
  if (!paused) return { paused, paused_by: null, paused_at: null };
  return { paused, ...notSending, paused_by: pauseMark?.by ?? null, paused_at: pauseMark?.at ?? null };
}
