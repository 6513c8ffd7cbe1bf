import type { Command } from 'commander';
import { guarded } from '../terminal/failure.ts';
import { print } from '../terminal/output.ts';
import { formatOption } from '../terminal/output-options.ts';
import { printable, printableJson } from '../terminal/printable.ts';

interface Outcome {
  name: string;
  status: 'ok' | 'fail';
  /** What is wrong, or null. */
  message: string | null;
}

const help = `
For machines that are out of the ordinary: it checks the parts that the packet engine is made of (checksums, hashes,
the walk over endpoints, the reading of packets, the pace). Nothing is sent, and no rights are needed; what this machine
allows is told by: portolan doctor. Exit code 0 when all is well, else 1.
`;

export function addSelftestCommand(program: Command): void {
  program
    .command('selftest')
    .description('check the packet engine itself on this machine')
    .addOption(formatOption())
    .addHelpText('after', help)
    .action(
      guarded(async ({ format }: { format: string }) => {
        const { selfTests } = await import('../../net/packets/selftest.ts');
        const checks = selfTests.map(({ name, run }) => outcomeOf(name, run));
        const ok = checks.every(({ status }) => status === 'ok');
        print(format === 'json' ? printableJson({ ok, checks }) : textOf(checks));
        return ok ? 0 : 1;
      }),
    );
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
