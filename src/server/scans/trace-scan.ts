import type { Scan } from '../../domain/scan.ts';
import type { Store } from '../../store/open.ts';
import type { Tracer } from '../../telemetry/tracer.ts';

/** Sends the trace of a finished scan; skips it if the store cannot be read. */
export async function traceScan(
  { store, traces }: { store: Pick<Store, 'scans'>; traces: Tracer | null },
  scan: Scan,
): Promise<void> {
  if (traces === null) return;
  const origin = await store.scans.originOf(scan.scan_id).catch(() => null);
  if (origin) traces.scanEnded(scan, origin);
}
