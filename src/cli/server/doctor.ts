import { PortolanError } from '../../domain/errors.ts';
import { type ServerFlags, tokenOption } from '../session/server-flags.ts';
import { readConfigQuietly } from '../session/session.ts';
import type { CliCommand } from '../terminal/cli-command.ts';
import { printableJson } from '../terminal/draw/printable.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { print } from '../terminal/output.ts';
import { formatOption } from '../terminal/output-options.ts';
import type { CheckResult } from './doctor-checks.ts';

const help = `
Checks privileges, interfaces, routes, the limit of open files, free space, the
clock, the sandbox of plugins, the workspace, its server and the resolver.
Changes nothing and sends a single packet, a DNS query to the resolver. -v shows
what is well too. Exit code 0 if no check fails, else 1.
`;

export function addDoctorCommand(program: CliCommand): void {
  program
    .command('doctor')
    .description('check privileges and prerequisites of this machine')
    .addOption(formatOption())
    .addOption(tokenOption())
    .addHelpText('after', help)
    .runs(() => doctor);
}

async function doctor(flags: { format: string; apiToken?: string }, global: GlobalFlags): Promise<number> {
  const findings = await examine(flags, global);
  if (flags.format === 'json') print(printableJson(reportOf(findings)));
  else {
    const [{ doctorText }, { styleOf }] = await Promise.all([
      import('./doctor-text.ts'),
      import('../terminal/draw/style.ts'),
    ]);
    const all = (global.verbosity ?? global.verbose ?? 0) > 0;
    print(doctorText(findings, styleOf(process.stdout, global), all));
  }
  return findings.some(({ status }) => status === 'fail') ? 1 : 0;
}

async function examine(flags: ServerFlags, global: GlobalFlags): Promise<CheckResult[]> {
  const { configuredChecks, machineChecks } = await import('./doctor-checks.ts');
  const machine = await machineChecks();
  try {
    const { config, warnings } = await readConfigQuietly(global);
    const remedy = 'see: portolan config validate';
    const configuration: CheckResult = {
      name: 'configuration',
      status: warnings.length > 0 ? 'warn' : 'ok',
      message: warnings.length > 0 ? warnings.join('; ') : 'no problems',
      remedy: warnings.length > 0 ? remedy : null,
    };
    return [...machine, configuration, ...(await configuredChecks(config, flags))];
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    const remedy = 'fix it; checks that depend on it were skipped';
    return [...machine, { name: 'configuration', status: 'fail', message: error.message, remedy }];
  }
}

function reportOf(checks: CheckResult[]): { status: CheckResult['status']; checks: CheckResult[] } {
  const worst = (['fail', 'warn'] as const).find((status) => checks.some((check) => check.status === status));
  return { status: worst ?? 'ok', checks };
}
