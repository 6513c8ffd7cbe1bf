import { type Command, Option } from 'commander';
import { serverOptions } from '../session/server-flags.ts';
import type { CliCommand } from '../terminal/cli-command.ts';
import { guarded } from '../terminal/failure.ts';
import { type GlobalFlags, globalFlags } from '../terminal/globals.ts';
import { scanArgument } from '../terminal/scan-argument.ts';
import { type ControlFlags, controlFlags } from './control-flags.ts';

/** `scan status|cancel|pause|resume|watch|diff`. */
export function addScanControl(scan: CliCommand): void {
  control(scan, 'status', 'show a scan of a server', async (...input) =>
    (await import('./scan-control.ts')).showScanCommand(...input),
  );
  control(scan, 'cancel', 'cancel a scan of a server; its results stay', async (...input) =>
    (await import('./scan-control.ts')).steerScan('cancel', ...input),
  );
  control(scan, 'pause', 'pause a scan of a server until it is resumed', async (...input) =>
    (await import('./scan-control.ts')).steerScan('pause', ...input),
  );
  control(
    scan,
    'resume',
    'resume a paused scan of a server; without one, go on with an interrupted scan',
    async (...input) => (await import('./resume-scan.ts')).resumeScanCommand(...input, scan.wiring),
  ).option('--progress', 'show progress even if stderr is not a terminal');
  control(
    scan,
    'watch',
    'watch a scan of a server or this workspace until it ends; exit codes as with scan',
    async (...input) => (await import('./watch-scan.ts')).watchScanCommand(...input),
  ).option('--progress', 'show progress even if stderr is not a terminal');
  addDiff(scan);
}

type Work = (id: string, flags: ControlFlags, global: GlobalFlags) => Promise<number>;

function control(scan: CliCommand, name: string, description: string, work: Work): CliCommand {
  return withPlace(scan.command(name).description(description).addArgument(scanArgument())).action(
    guarded(async (id: string, _own: unknown, command: Command) =>
      work(id, controlFlags(command), globalFlags(command)),
    ),
  );
}

function addDiff(scan: CliCommand): void {
  withPlace(scan.command('diff'))
    .description('show the changes of a scan since another one')
    .addArgument(scanArgument())
    .argument('[baseline]', 'scan to compare with (default: the one before of the same targets)')
    .option('--fail-on-change', 'exit code 8 if something changed')
    .addHelpText('after', '\nWithout a server, compares the scans of the workspace.')
    .action(
      guarded(async (id: string, baseline: string | undefined, _own: unknown, command: Command) => {
        const { diffScans } = await import('./scan-diff.ts');
        return diffScans({ id, baseline }, controlFlags(command), globalFlags(command), scan.wiring);
      }),
    );
}

function withPlace(command: CliCommand): CliCommand {
  return command
    .addOption(new Option('--format <format>', 'output format').choices(['text', 'json']))
    .addOptions(serverOptions());
}
