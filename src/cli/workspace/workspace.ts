import { InvalidArgumentError, Option } from 'commander';
import { ambiguousMinutes, parseDuration } from '../../domain/time/duration.ts';
import { serverOptions } from '../session/server-flags.ts';
import type { CliCommand } from '../terminal/cli-command.ts';
import { numberOption } from '../terminal/globals.ts';
import { formatOption } from '../terminal/output-options.ts';
import { addKeptScans } from './kept-scans.ts';
import { addMaintenanceCommands } from './maintenance-commands.ts';

export function addWorkspaceCommand(program: CliCommand): void {
  const workspace = program.command('workspace').alias('storage').description('manage stored scans');
  workspace
    .command('info')
    .description('show location and size of the workspace')
    .addOption(formatOption())
    .addOptions(serverOptions())
    .runs(async () => (await import('./workspace-work.ts')).info);
  addKeptScans(workspace);
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

/** Returns the text unchanged; the action parses it again. @throws InvalidArgumentError */
function retentionAge(text: string): string {
  if (parseDuration(text, { retention: true }) !== null) return text;
  const reason = ambiguousMinutes(text) ?? 'must be a duration such as 30d, 6mo or 1y';
  throw new InvalidArgumentError(`It ${reason}.`);
}
