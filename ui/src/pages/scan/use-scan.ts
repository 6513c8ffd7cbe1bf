import { useParams } from '@tanstack/react-router';
import type { Data } from '../../api/api-types.ts';
import { type Got, useGet } from '../../api/use-get.ts';

export type Scan = Data<'/api/v1/scans/{scan_id}'>;
export type Stage = Scan['stages'][number];

/** The scan of the URL, kept current by events. */
export function useScan(): Got<Scan> & { scanId: string } {
  const scanId = useScanId();
  return { ...useGet('/api/v1/scans/{scan_id}', { path: { scan_id: scanId } }), scanId };
}

export function useScanId(): string {
  const { scanId = '' } = useParams({ strict: false }) as { scanId?: string };
  return scanId;
}

/** Whole percent of the known ports or hosts that were tried; 100 only at the end. */
export function percentTried({ tried, not_tried: notTried, percent }: Scan['progress']): number {
  const known = tried + notTried;
  return Math.min(99, Math.floor(known > 0 ? (tried * 100) / known : percent));
}

export function hasEnded({ status }: Pick<Scan, 'status'>): boolean {
  return status === 'completed' || status === 'failed';
}

/** A scan, or its item in a list, which has the first targets. */
export type NamedScan = Pick<Scan, 'name' | 'targets'> & { targets_total?: number };

/** Name, else targets, as a title. */
export function scanTitle({ name, targets, targets_total: total = targets.length }: NamedScan): string {
  if (name !== null && name !== '') return name;
  const first = targets.slice(0, 2);
  const more = total - first.length;
  return more > 0 ? `${first.join(', ')} and ${more} more` : first.join(', ');
}
