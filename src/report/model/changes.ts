import type { Severity } from '../../domain/finding.ts';
import type { Protocol } from '../../domain/host.ts';

/** What a report says about an earlier scan. Plain data of limited size. */
export interface ReportChanges {
  /** ID of the earlier scan. */
  against: string;
  /** ISO 8601 UTC: when the earlier scan ended. */
  at: string;
  /** Findings. `new` are those that the earlier scan would have found; `unseen` those that it could not have found. */
  new: number;
  fixed: number;
  unchanged: number;
  unseen: number;
  /** New minus fixed findings. */
  balance: Record<Severity, number>;
  /** Hosts that appeared, or are gone. */
  hostsAdded: number;
  hostsRemoved: number;
  /** The most severe first, new before fixed; of limited length. */
  items: ChangeItem[];
  /** Changes of findings beyond `items`. */
  itemsLeft: number;
  /** Hosts, ports and findings that only one of the scans could have found, by reason. */
  notComparable: { reason: string; count: number; example: string }[];
}

export interface ChangeItem {
  sign: 'new' | 'fixed';
  severity: Severity;
  id: string;
  title: string;
  product: string | null;
  host: string;
  port: number | null;
  protocol: Protocol | null;
  /** `service appeared since`, `updated 2.4.57 → 2.4.62`, `port closed`; empty if unknown. */
  why: string;
}
