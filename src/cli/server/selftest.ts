import type { CliCommand } from '../terminal/cli-command.ts';
import { printable, printableJson } from '../terminal/draw/printable.ts';
import { print } from '../terminal/output.ts';
import { formatOption } from '../terminal/output-options.ts';

interface Outcome {
  name: string;
  status: 'ok' | 'fail';
  /** The error, or null. */
  message: string | null;
}

const help = `
For unusual machines: checks the parts of the packet engine (checksums, hashes,
endpoint permutation, packet parsing, rate control). Sends nothing and needs no
privileges; to check the privileges of this machine, use: portolan doctor.
Exit code 0 if all checks pass, else 1.
`;

export function addSelftestCommand(program: CliCommand): void {
  program
    .command('selftest')
    .description('check the packet engine on this machine')
    .addOption(formatOption())
    .addHelpText('after', help)
    .runs(() => selftest);
}

async function selftest({ format }: { format: string }): Promise<number> {
  const { selfTests } = await import('../../net/packets/engine/selftest.ts');
  const checks = selfTests.map(({ name, run }) => outcomeOf(name, run));
  const ok = checks.every(({ status }) => status === 'ok');
  print(format === 'json' ? printableJson({ ok, checks }) : textOf(checks));
  return ok ? 0 : 1;
}

function outcomeOf(name: string, run: () => void): Outcome {
  try {
    run();
    return { name, status: 'ok', message: null };
  } catch (error) {
    return { name, status: 'fail', message: (error as Error).message };
  }
}

function textOf(checks: Outcome[]): string {
  const lines = checks.map(
    ({ name, status, message }) =>
      `${status.padEnd(4)}  ${name}${message === null ? '' : `: ${printable(message)}`}`,
  );
  return `${lines.join('\n')}\n`;
}
