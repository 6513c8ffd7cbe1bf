import type { Command } from 'commander';
import { print } from './output.ts';
import type { CliWiring } from './wiring.ts';

export function addVersionCommand(program: Command, wiring: CliWiring): void {
  program
    .command('version')
    .description('print the version of the program and of its runtime')
    .option('--short', 'the version number alone')
    .action(({ short }: { short?: boolean }) => {
      const { node, openssl } = process.versions;
      if (short) print(`${wiring.version}\n`);
      else
        print(
          `portolan ${wiring.version}\nnode ${node}\nopenssl ${openssl}\n${process.platform} ${process.arch}\n`,
        );
    });
}
