import type { ClaimLoop } from './claim-loop.ts';
import type { PoolContext } from './pool-context.ts';
import { type ScanSlot, slotFields } from './scan-slot.ts';

type LeaseContext = Pick<PoolContext, 'slots' | 'queue' | 'log'>;

/** Renews the lease of each scan here; ends the process of a scan whose lease was lost. */
export async function renewLeases(
  context: LeaseContext,
  claims: Pick<ClaimLoop, 'lastClaim'>,
): Promise<void> {
  for (const slot of context.slots.values()) {
    try {
      await renewLease(context, claims, slot);
    } catch (err) {
      context.log.error({ err, ...slotFields(slot) }, 'heartbeat of a scan failed, retrying');
    }
  }
}

async function renewLease(
  { slots, queue, log }: LeaseContext,
  claims: Pick<ClaimLoop, 'lastClaim'>,
  slot: ScanSlot,
): Promise<void> {
  const { scanId, attempt } = slot;
  if (await queue.heartbeat(scanId, attempt)) return;
  // After the lease expired, this server may have claimed the scan again meanwhile.
  await claims.lastClaim;
  if (slot.attempt !== attempt) return;
  if (!slots.has(scanId) || slot.process?.outcome) return;
  slot.leaseLost = true;
  slot.process?.kill();
  log.error(slotFields(slot), 'lease of a scan lost, its process ended');
}
