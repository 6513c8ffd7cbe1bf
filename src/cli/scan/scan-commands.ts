import { type Command, Option } from 'commander';
import { caFileOption, serverOption, tokenOption } from '../session/server-flags.ts';
import { guarded } from '../terminal/failure.ts';
import { type GlobalFlags, globalFlags } from '../terminal/globals.ts';
import { scanArgument } from '../terminal/scan-argument.ts';
import type { CliWiring } from '../wiring.ts';
import { type ControlFlags, controlFlags } from './control-flags.ts';

/** `scan status|cancel|pause|resume|watch|diff`. */
export function addScanControl(scan: Command, wiring: CliWiring): void {
  control(scan, 'status', 'show a scan of a server', async (id, flags, global) => {
    const { showScanCommand } = await import('./scan-control.ts');
    return showScanCommand(id, flags, global);
  });
  control(scan, 'cancel', 'cancel a scan of a server; its results stay', async (id, flags, global) => {
    const { steerScan } = await import('./scan-control.ts');
    return steerScan('cancel', id, flags, global);
  });
  control(scan, 'pause', 'pause a scan of a server until it is resumed', async (id, flags, global) => {
    const { steerScan } = await import('./scan-control.ts');
    return steerScan('pause', id, flags, global);
  });
  control(
    scan,
    'resume',
    'resume a paused scan of a server; without one, go on with an interrupted scan',
    async (id, flags, global) => {
      const { resumeScanCommand } = await import('./resume-scan.ts');
      return resumeScanCommand(id, flags, global, wiring);
    },
  ).option('--progress', 'show progress even if stderr is not a terminal');
  control(
    scan,
    'watch',
    'watch a scan of a server or this workspace until it ends; exit codes as with scan',
    async (id, flags, global) => {
      const { watchScanCommand } = await import('./watch-scan.ts');
      return watchScanCommand(id, flags, global);
    },
  ).option('--progress', 'show progress even if stderr is not a terminal');
  addDiff(scan, wiring);
}

type Work = (id: string, flags: ControlFlags, global: GlobalFlags) => Promise<number>;

function control(scan: Command, name: string, description: string, work: Work): Command {
  return withPlace(scan.command(name).description(description).addArgument(scanArgument())).action(
    guarded(async (id: string, _own: unknown, command: Command) =>
      work(id, controlFlags(command), globalFlags(command)),
    ),
  );
}

function addDiff(scan: Command, wiring: CliWiring): void {
  withPlace(scan.command('diff'))
    .description('show the changes of a scan since another one')
    .addArgument(scanArgument())
    .argument('[baseline]', 'scan to compare with (default: the one before of the same targets)')
    .option('--fail-on-change', 'exit code 8 if something changed')
    .addHelpText('after', '\nWithout a server, compares the scans of the workspace.')
    .action(
      guarded(async (id: string, baseline: string | undefined, _own: unknown, command: Command) => {
        const { diffScans } = await import('./scan-diff.ts');
        return diffScans({ id, baseline }, controlFlags(command), globalFlags(command), wiring);
      }),
    );
}

function withPlace(command: Command): Command {
  return command
    .addOption(new Option('--format <format>', 'output format').choices(['text', 'json']))
    .addOption(serverOption())
    .addOption(tokenOption())
    .addOption(caFileOption());
}
