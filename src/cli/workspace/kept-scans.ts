import { Option } from 'commander';
import { scanStatuses } from '../../domain/scan.ts';
import { serverOptions } from '../session/server-flags.ts';
import type { CliCommand } from '../terminal/cli-command.ts';
import { type GlobalFlags, numberOption } from '../terminal/globals.ts';
import { listOrders } from '../terminal/list-order.ts';
import { paperOption, templateOption } from '../terminal/output.ts';
import { formatOption, limitOption, listFormatOption } from '../terminal/output-options.ts';
import { scanArgument } from '../terminal/scan-argument.ts';
import type { MatchFlags } from './show-matches.ts';
import type { ShowFlags } from './workspace-work.ts';

/** `list`, `show`, `export` and `delete`, of `workspace` and of `scan`. */
export function addKeptScans(parent: CliCommand): void {
  parent
    .command('list')
    .description('list scans')
    .addOption(listFormatOption())
    .addOption(new Option('--status <status>', 'filter by status').choices(scanStatuses))
    .option('--since <time>', 'only scans created then or later (ISO 8601)')
    .addOption(limitOption())
    .addOption(new Option('--sort <order>', 'sort order').choices(listOrders).default('newest'))
    .addOptions(serverOptions())
    .runs(async () => (await import('./workspace-work.ts')).listWorkspaceScans);
  parent
    .command('show')
    .description('show one scan')
    .addArgument(scanArgument())
    .option('--show-results', 'include its results')
    .option('--findings', 'only its findings, all of them')
    .option('--query <text>', "only the results that match, e.g. 'port:443 severity:>=high'")
    .addOption(formatOption(['jsonl', 'csv']))
    .addOptions(serverOptions())
    .runs(() => show);
  parent
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
  parent
    .command('delete')
    .description('delete a scan and its files')
    .addArgument(scanArgument())
    .option('--force', 'do not ask; stop and delete a queued or running scan')
    .addOptions(serverOptions())
    .runs(async () => (await import('./workspace-work.ts')).removeWorkspaceScan);
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
