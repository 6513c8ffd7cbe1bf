import {
  collectGarbage,
  type GarbageReport,
  type GarbageRequest,
} from '../../actions/workspace/collect-garbage.ts';
import { findServer } from '../session/server-choice.ts';
import type { ServerFlags } from '../session/server-flags.ts';
import { garbageShape } from '../session/server-responses.ts';
import { withStore } from '../session/session.ts';
import { isConfirmed } from '../terminal/confirm.ts';
import { amountText, bytesText, countText } from '../terminal/draw/amounts.ts';
import { printable, printableJson } from '../terminal/draw/printable.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note, print } from '../terminal/output.ts';
import { requireLocalStore } from './require-local-store.ts';

/** Timeout of a deletion by a server, milliseconds: many scans take long. */
const deletionMs = 600_000;

export interface GarbageFlags extends ServerFlags {
  olderThan?: string;
  keepLast?: number;
  dryRun?: boolean;
  force?: boolean;
  format: string;
}

type Collect = (request: GarbageRequest) => Promise<GarbageReport>;

/** @returns 0, or 1 when a scan could not be deleted or the user declined */
export async function gc(flags: GarbageFlags, global: GlobalFlags): Promise<number> {
  const request = requestOf(flags);
  const collect = await collectorOf(flags, global);
  if (!flags.force && !flags.dryRun && !(await mayDelete(collect, request))) return 1;
  const report = await collect(request);
  if (isAimless(report)) note('nothing to do: no criteria given, and workspace.retention.enabled is false');
  print(flags.format === 'json' ? printableJson(report) : reportText(report));
  for (const { scan_id, message } of report.errors) note(`portolan: ${printable(`${scan_id}: ${message}`)}`);
  return report.errors.length > 0 ? 1 : 0;
}

function requestOf({ olderThan, keepLast, dryRun }: GarbageFlags): GarbageRequest {
  return {
    ...(olderThan !== undefined && { older_than: olderThan }),
    ...(keepLast !== undefined && { keep_last: keepLast }),
    ...(dryRun && { dry_run: true }),
  };
}

/** Runs on the server that is named or has the workspace locked, else in this process. */
async function collectorOf(flags: GarbageFlags, global: GlobalFlags): Promise<Collect> {
  const client = await findServer(flags, global);
  if (!client) {
    return (request) =>
      withStore(global, async ({ store, workspace, config }) => {
        requireLocalStore(config);
        const { openResultStore } = await import('../../workspace/result-store/open-result-store.ts');
        const { retention } = config.workspace;
        const results = await openResultStore(config, store);
        const { report } = await collectGarbage({ store, workspace, retention, results }, request);
        return report;
      });
  }
  return (request) => client.call('POST', '/api/v1/workspace/gc', garbageShape, request, deletionMs);
}

/** Whether there are no criteria at all. */
function isAimless({ policy }: GarbageReport): boolean {
  return policy.older_than === null && policy.keep_last === null && !policy.retention;
}

/** Asks about what would be deleted, unless that is nothing. */
async function mayDelete(collect: Collect, request: GarbageRequest): Promise<boolean> {
  const { deleted_count, freed_bytes } = await collect({ ...request, dry_run: true });
  if (deleted_count === 0) return true;
  return await isConfirmed(`Delete ${countText(deleted_count, 'scan')} (${bytesText(freed_bytes)})`);
}

function reportText({
  dry_run,
  deleted_count,
  deleted_scans,
  freed_bytes,
  kept_count,
}: GarbageReport): string {
  const verb = dry_run ? 'would be deleted' : 'deleted';
  const sum = `${countText(deleted_count, 'scan')} ${verb} (${bytesText(freed_bytes)}), ${amountText(kept_count)} kept\n`;
  return deleted_scans.map((id) => `${printable(id)}\n`).join('') + sum;
}
