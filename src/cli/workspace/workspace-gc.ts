import { createInterface } from 'node:readline';
import {
  collectGarbage,
  type GarbageReport,
  type GarbageRequest,
} from '../../actions/workspace/collect-garbage.ts';
import { formatByteSize } from '../../domain/text/byte-size.ts';
import { findServer } from '../session/server-choice.ts';
import type { ServerFlags } from '../session/server-flags.ts';
import { withStore } from '../session/session.ts';
import { countText } from '../terminal/amounts.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note, print } from '../terminal/output.ts';
import { printable, printableJson } from '../terminal/printable.ts';
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
  if (!flags.force && !flags.dryRun && isTerminal() && !(await isConfirmed(collect, request))) {
    note('nothing deleted');
    return 1;
  }
  const report = await collect(request);
  if (isAimless(report)) note('nothing to do: no criteria given, and workspace.retention.enabled is false');
  print(flags.format === 'json' ? printableJson(report) : reportText(report));
  for (const { scan_id, message } of report.errors) note(`portolan: ${scan_id}: ${printable(message)}`);
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
        const results = await openResultStore(config);
        const { report } = await collectGarbage({ store, workspace, retention, results }, request);
        return report;
      });
  }
  return (request) => client.call<GarbageReport>('POST', '/api/v1/workspace/gc', request, deletionMs);
}

/** Whether there are no criteria at all. */
function isAimless({ policy }: GarbageReport): boolean {
  return policy.older_than === null && policy.keep_last === null && !policy.retention;
}

function isTerminal(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

async function isConfirmed(collect: Collect, request: GarbageRequest): Promise<boolean> {
  const { deleted_count, freed_bytes } = await collect({ ...request, dry_run: true });
  if (deleted_count === 0) return true;
  const question = `delete ${countText(deleted_count, 'scan')} (${formatByteSize(freed_bytes)}) for good? [y/N] `;
  return /^y(?:es)?$/i.test((await prompt(question)).trim());
}

/** Reads one line from the terminal; empty after Ctrl-C or Ctrl-D. */
async function prompt(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await new Promise<string>((resolve) => {
    terminal.once('close', () => resolve(''));
    terminal.question(question, resolve);
  });
  terminal.close();
  return answer;
}

function reportText({
  dry_run,
  deleted_count,
  deleted_scans,
  freed_bytes,
  kept_count,
}: GarbageReport): string {
  const verb = dry_run ? 'would be deleted' : 'deleted';
  const sum = `${countText(deleted_count, 'scan')} ${verb} (${formatByteSize(freed_bytes)}), ${kept_count} kept\n`;
  return deleted_scans.map((id) => `${id}\n`).join('') + sum;
}
