import { InvalidArgumentError, Option } from 'commander';
import { scanStatuses } from '../../domain/scan.ts';
import { ambiguousMinutes, parseDuration } from '../../domain/time/duration.ts';
import { serverOptions } from '../session/server-flags.ts';
import type { CliCommand } from '../terminal/cli-command.ts';
import { type GlobalFlags, numberOption } from '../terminal/globals.ts';
import { listOrders } from '../terminal/list-order.ts';
import { paperOption, templateOption } from '../terminal/output.ts';
import { formatOption, limitOption, listFormatOption } from '../terminal/output-options.ts';
import { scanArgument } from '../terminal/scan-argument.ts';
import { addMaintenanceCommands } from './maintenance-commands.ts';
import type { MatchFlags } from './show-matches.ts';
import type { ShowFlags } from './workspace-work.ts';

export function addWorkspaceCommand(program: CliCommand): void {
  const workspace = program.command('workspace').alias('storage').description('manage stored scans');
  workspace
    .command('info')
    .description('show location and size of the workspace')
    .addOption(formatOption())
    .addOptions(serverOptions())
    .runs(async () => (await import('./workspace-work.ts')).info);
  workspace
    .command('list')
    .description('list scans')
    .addOption(listFormatOption())
    .addOption(new Option('--status <status>', 'filter by status').choices(scanStatuses))
    .option('--since <time>', 'only scans created then or later (ISO 8601)')
    .addOption(limitOption())
    .addOption(new Option('--sort <order>', 'sort order').choices(listOrders).default('newest'))
    .addOptions(serverOptions())
    .runs(async () => (await import('./workspace-work.ts')).listWorkspaceScans);
  workspace
    .command('show')
    .description('show one scan')
    .addArgument(scanArgument())
    .option('--show-results', 'include its results')
    .option('--findings', 'only its findings, all of them')
    .option('--query <text>', "only the results that match, e.g. 'port:443 severity:>=high'")
    .addOption(formatOption(['jsonl', 'csv']))
    .addOptions(serverOptions())
    .runs(() => show);
  workspace
    .command('export')
    .description('export the results of a scan')
    .addArgument(scanArgument())
    .option('-o, --output <file>', 'output file (default: stdout)')
    .option(
      '--format <format>',
      'json (default), jsonl, csv, yaml, html, pdf, markdown, nmap, sarif, text or tar.gz',
    )
    .option('--include-artifacts', 'the folder of the scan with all files, as tar.gz')
    .addOption(templateOption())
    .option('--against <id>', 'the report also says what changed since this scan')
    .addOption(paperOption())
    .addOption(numberOption('--fix <n>', 'markdown: one fix of the report, as a ticket', 1, 9_999_999))
    .addOptions(serverOptions())
    .runs(async () => (await import('./workspace-export.ts')).exportScanCommand);
  workspace
    .command('delete')
    .description('delete a scan and its files')
    .addArgument(scanArgument())
    .option('--force', 'do not ask; stop and delete a queued or running scan')
    .addOptions(serverOptions())
    .runs(async () => (await import('./workspace-work.ts')).removeWorkspaceScan);
  workspace
    .command('gc')
    .description('delete old scans; default criteria: workspace.retention')
    .addOption(
      new Option('--older-than <duration>', 'only scans older than this, e.g. 30d, 6mo, 1y').argParser(
        retentionAge,
      ),
    )
    .addOption(numberOption('--keep-last <n>', 'keep the n newest scans', 0, 9_999_999_999))
    .option('--dry-run', 'show what would be deleted')
    .option('--force', 'do not ask for confirmation')
    .addOptions(serverOptions())
    .addOption(formatOption())
    .runs(async () => (await import('./workspace-gc.ts')).gc);
  addMaintenanceCommands(workspace);
}

async function show(id: string, flags: ShowFlags & Partial<MatchFlags>, global: GlobalFlags): Promise<void> {
  const { query } = flags;
  if (query !== undefined) {
    const { showMatches } = await import('./show-matches.ts');
    return showMatches(id, { ...flags, query }, global);
  }
  const { showWorkspaceScan } = await import('./workspace-work.ts');
  return showWorkspaceScan(id, flags, global);
}

/** Returns the text unchanged; the action parses it again. @throws InvalidArgumentError */
function retentionAge(text: string): string {
  if (parseDuration(text, { retention: true }) !== null) return text;
  const reason = ambiguousMinutes(text) ?? 'must be a duration such as 30d, 6mo or 1y';
  throw new InvalidArgumentError(`It ${reason}.`);
}
