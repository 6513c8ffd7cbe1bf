import { serverOptions } from '../session/server-flags.ts';
import type { CliCommand } from '../terminal/cli-command.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { formatOption } from '../terminal/output-options.ts';
import { scanArgument } from '../terminal/scan-argument.ts';
import type { CliWiring } from '../wiring.ts';
import type { ControlFlags } from './control-flags.ts';
import type { DiffFlags } from './scan-diff.ts';

/** `scan status|cancel|pause|resume|watch|diff`. */
export function addScanControl(scan: CliCommand): void {
  control(scan, 'status', 'show a scan of a server').runs(
    async () => (await import('./scan-control.ts')).showScanCommand,
  );
  control(scan, 'cancel', 'cancel a scan of a server; its results stay').runs(() => steers('cancel'));
  control(scan, 'pause', 'pause a scan of a server until it is resumed').runs(() => steers('pause'));
  control(scan, 'resume', 'resume a paused scan of a server; without one, go on with an interrupted scan')
    .option('--progress', 'show progress even if stderr is not a terminal')
    .runs(async () => (await import('./resume-scan.ts')).resumeScanCommand);
  control(scan, 'watch', 'watch a scan of a server or this workspace until it ends; exit codes as with scan')
    .option('--progress', 'show progress even if stderr is not a terminal')
    .runs(async () => (await import('./watch-scan.ts')).watchScanCommand);
  addDiff(scan);
}

function steers(action: 'cancel' | 'pause') {
  return async (id: string, flags: ControlFlags, global: GlobalFlags): Promise<number> => {
    const { steerScan } = await import('./scan-control.ts');
    return steerScan(action, id, flags, global);
  };
}

function control(scan: CliCommand, name: string, description: string): CliCommand {
  return withPlace(scan.command(name).description(description).addArgument(scanArgument()));
}

function addDiff(scan: CliCommand): void {
  withPlace(scan.command('diff'))
    .description('show the changes of a scan since another one')
    .addArgument(scanArgument())
    .argument(
      '[baseline]',
      'scan to compare with (default: the last completed one of the same name, else of the same targets, ports, profile and evaluation)',
    )
    .option('--fail-on-change', 'exit code 8 if something changed, 7 if the scan failed or is partial')
    .addHelpText('after', '\nWithout a server, compares the scans of the workspace.')
    .runs(
      () =>
        async (
          id: string,
          baseline: string | undefined,
          flags: DiffFlags,
          ...rest: [GlobalFlags, CliWiring]
        ) => {
          const { diffScans } = await import('./scan-diff.ts');
          return diffScans({ id, baseline }, flags, ...rest);
        },
    );
}

function withPlace(command: CliCommand): CliCommand {
  return command.addOption(formatOption()).addOptions(serverOptions());
}
