import { createInterface } from 'node:readline';
import {
  collectGarbage,
  type GarbageReport,
  type GarbageRequest,
} from '../../actions/workspace/collect-garbage.ts';
import { formatByteSize } from '../../domain/byte-size.ts';
import { findServer } from '../session/server-choice.ts';
import type { ServerFlags } from '../session/server-flags.ts';
import { withStore } from '../session/session.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note, print } from '../terminal/output.ts';
import { printable, printableJson } from '../terminal/printable.ts';
import { formatCount } from '../terminal/progress-bar.ts';
import { requireLocalStore } from './require-local-store.ts';

/** Deleting very many scans takes a server its time. */
const deletionMs = 600_000;

export interface GarbageFlags extends ServerFlags {
  olderThan?: string;
  keepLast?: number;
  dryRun?: boolean;
  force?: boolean;
  format: string;
}

type Collect = (request: GarbageRequest) => Promise<GarbageReport>;

/** @returns 0, or 1 when a scan could not be deleted or the person said no */
export async function gc(flags: GarbageFlags, global: GlobalFlags): Promise<number> {
  const request = requestOf(flags);
  const collect = await positionOf(flags, global);
  if (!flags.force && !flags.dryRun && isTerminal() && !(await isConfirmed(collect, request))) {
    note('nothing is deleted');
    return 1;
  }
  const report = await collect(request);
  if (isAimless(report)) note('no criteria are given and workspace.retention.enabled is not set');
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

/** A server that is named or holds the workspace does the work; else it is done here. */
async function positionOf(flags: GarbageFlags, global: GlobalFlags): Promise<Collect> {
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

/** Nothing says what is to go. */
function isAimless({ policy }: GarbageReport): boolean {
  return policy.older_than === null && policy.keep_last === null && !policy.retention;
}

function isTerminal(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

async function isConfirmed(collect: Collect, request: GarbageRequest): Promise<boolean> {
  const { deleted_count, freed_bytes } = await collect({ ...request, dry_run: true });
  if (deleted_count === 0) return true;
  const question = `delete ${formatCount(deleted_count, 'scan')} (${formatByteSize(freed_bytes)}) for good? [y/N] `;
  return /^y(?:es)?$/i.test((await answerTo(question)).trim());
}

/** One line from the terminal; empty when Ctrl-C or Ctrl-D ended the question. */
async function answerTo(question: string): Promise<string> {
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
  const sum = `${formatCount(deleted_count, 'scan')} ${verb} (${formatByteSize(freed_bytes)}), ${kept_count} kept\n`;
  return deleted_scans.map((id) => `${id}\n`).join('') + sum;
}
