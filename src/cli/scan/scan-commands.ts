import { type Command, Option } from 'commander';
import { serverOption, tokenOption } from '../session/server-flags.ts';
import { guarded } from '../terminal/failure.ts';
import { type GlobalFlags, globalFlags } from '../terminal/globals.ts';
import type { CliWiring } from '../wiring.ts';
import { type ControlFlags, controlFlags } from './control-flags.ts';

/** `scan status|cancel|pause|resume|watch|diff`. */
export function addScanControl(scan: Command, wiring: CliWiring): void {
  control(scan, 'status', 'show a scan of a server', async (id, flags, global) => {
    const { showScanCommand } = await import('./scan-control.ts');
    return showScanCommand(id, flags, global);
  });
  control(scan, 'cancel', 'end a scan of a server; its results stay', async (id, flags, global) => {
    const { steerScan } = await import('./scan-control.ts');
    return steerScan('cancel', id, flags, global);
  });
  control(
    scan,
    'pause',
    'let a scan of a server send nothing until it is resumed',
    async (id, flags, global) => {
      const { steerScan } = await import('./scan-control.ts');
      return steerScan('pause', id, flags, global);
    },
  );
  control(scan, 'resume', 'let a paused scan of a server go on', async (id, flags, global) => {
    const { steerScan } = await import('./scan-control.ts');
    return steerScan('resume', id, flags, global);
  });
  control(
    scan,
    'watch',
    'follow a scan of a server to its end; exit code as of scan',
    async (id, flags, global) => {
      const { watchScanCommand } = await import('./scan-control.ts');
      return watchScanCommand(id, flags, global);
    },
  ).option('--progress', 'show progress even when stderr is no terminal');
  addDiff(scan, wiring);
}

type Work = (id: string, flags: ControlFlags, global: GlobalFlags) => Promise<number>;

function control(scan: Command, name: string, description: string, work: Work): Command {
  return withPlace(scan.command(name).description(description).argument('<id>', 'scan id')).action(
    guarded(async (id: string, _own: unknown, command: Command) =>
      work(id, controlFlags(command), globalFlags(command)),
    ),
  );
}

function addDiff(scan: Command, wiring: CliWiring): void {
  withPlace(scan.command('diff'))
    .description('show what changed in a scan since another one')
    .argument('<id>', 'scan id')
    .argument('<baseline>', 'id of the scan that it is compared with')
    .addHelpText('after', '\nWithout a server the scans of the workspace are compared.')
    .action(
      guarded(async (id: string, baseline: string, _own: unknown, command: Command) => {
        const { diffScans } = await import('./scan-diff.ts');
        return diffScans({ id, baseline }, controlFlags(command), globalFlags(command), wiring);
      }),
    );
}

function withPlace(command: Command): Command {
  return command
    .addOption(new Option('--format <format>', 'form').choices(['text', 'json']))
    .addOption(serverOption())
    .addOption(tokenOption());
}
