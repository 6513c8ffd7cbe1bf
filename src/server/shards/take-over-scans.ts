import { serverOf } from '../../domain/executor.ts';
import type { Store } from '../../store/open.ts';
import type { TakenScan } from '../../store/scan-takeovers.ts';
import { writeEarlierRows } from '../../worker/earlier-rows.ts';
import { ShardResults } from '../../worker/shard-results.ts';
import { openRecord } from '../../workspace/record/record-writer.ts';
import type { ScanFolder } from '../../workspace/scan-folder.ts';
import { folderOf, type PoolContext } from '../scans/pool-context.ts';
import type { Distribution } from './distribution.ts';
import { GatheredRows, isOfEarlierVersion } from './gathered-rows.ts';

/** Scans taken over per transaction, which must not take long: folders are removed in it. */
const scansAtOnce = 500;

/**
 * Takes over the unfinished scans of servers without a heartbeat for as long as a lease. What their workers have found is
 * in the database; scans that an earlier version has divided stay, their rows are on the disk of their server.
 */
export async function takeOverScans(context: PoolContext, shards: Distribution): Promise<TakenScan[]> {
  const { store, standIn, log } = context;
  const resumesUndivided = standIn === null || standIn.resumesUndivided();
  const own = { id: shards.home, executor: store.executor, resumesUndivided };
  const taken: TakenScan[] = [];
  for (const owner of await shards.presence.absentOwners(shards.line.leaseMs)) {
    if (standIn !== null && owner !== standIn.serverId) continue;
    for (let last = scansAtOnce; last === scansAtOnce; ) {
      const scans = await store.transaction(async (inside) => {
        const found = await inside.scanTakeovers.take(owner, own, scansAtOnce);
        // What is here of an earlier time may have other rows than what the last owner has stored.
        for (const scan of found) await folderOf(context, scan).remove();
        return found;
      }, 'read committed');
      if (scans.length > 0)
        log.warn({ server_id: owner, scans: scans.length }, 'scans of an absent server taken over');
      taken.push(...scans);
      last = scans.length;
    }
  }
  return taken;
}

/** Takes over what servers that are gone have not sent. */
export async function takeOverNotifications(
  { store, log }: Pick<PoolContext, 'store' | 'log'>,
  { presence, line }: Pick<Distribution, 'presence' | 'line'>,
): Promise<void> {
  for (const owner of await store.outbox.owners()) {
    const server_id = serverOf(owner);
    if (server_id === null || !(await presence.isGone(server_id, line.leaseMs))) continue;
    await store.outbox.handOver(owner, store.executor);
    log.warn({ server_id }, 'notifications of an absent server taken over');
  }
}

/**
 * Creates the folder of a scan that was submitted to another server.
 * @param isBegun whether another run of it, undivided, has begun: its stored rows belong to it
 */
export async function prepareFolder(
  context: Pick<PoolContext, 'store' | 'workspace'>,
  scan: Pick<TakenScan, 'scanId' | 'tenant'>,
  isBegun: boolean,
): Promise<void> {
  const { store } = context;
  const folder = folderOf(context, scan);
  if (isBegun && (await isBehind(store, folder, scan.scanId))) await folder.remove();
  if (await folder.exists()) return;
  const request = await store.scans.request(scan.scanId);
  if (request === null) return;
  await folder.create(request);
  if (!isBegun) return;
  const stored = ShardResults.ofUndivided(store, { scanId: scan.scanId, attempt: 0, owner: '' });
  await writeEarlierRows(folder, stored, 0);
}

/** Whether a folder misses stored rows: it was lost, or its rows were being fetched when this server died. */
async function isBehind(store: Store, folder: ScanFolder, scanId: string): Promise<boolean> {
  if (!(await folder.exists())) return false;
  const record = await openRecord(folder);
  await record.close();
  return record.rows < (await store.undividedResults.rowsOf(scanId));
}

/** Writes what workers have found into the record of a scan that ends without a process. */
export async function gatherRows(
  context: Pick<PoolContext, 'store' | 'workspace' | 'log'>,
  scan: Pick<TakenScan, 'scanId' | 'tenant'>,
): Promise<void> {
  const { store, log } = context;
  const { scanId } = scan;
  const hasBlocks = await store.shardResults.hasBlocks(scanId);
  await prepareFolder(context, scan, hasBlocks === null);
  const folder = folderOf(context, scan);
  if (!(await folder.exists()) || !hasBlocks) return;
  const record = await openRecord(folder);
  try {
    if (record.finished) return;
    const rows = new GatheredRows({
      store,
      scanId,
      sink: record,
      skip: (await isOfEarlierVersion(folder)) ? 0 : record.rows,
      onInvalid: (message) => log.warn({ scan_id: scanId }, message),
    });
    await rows.take(await store.shards.ofScan(scanId));
  } finally {
    await record.close();
  }
}
