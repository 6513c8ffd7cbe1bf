import type { Command } from 'commander';
import { print } from './output.ts';
import { formatOption } from './output-options.ts';
import { jsonText } from './printable.ts';
import type { CliWiring } from './wiring.ts';

export function addVersionCommand(program: Command, wiring: CliWiring): void {
  program
    .command('version')
    .description('print the version of the program and of its runtime')
    .option('--short', 'the version number alone')
    .addOption(formatOption())
    .action(({ short, format }: { short?: boolean; format: string }) => {
      const { node, openssl } = process.versions;
      const { platform, arch } = process;
      const { version } = wiring;
      if (short) print(`${version}\n`);
      else if (format === 'json') print(jsonText({ version, node, openssl, platform, arch }));
      else print(`portolan ${version}\nnode ${node}\nopenssl ${openssl}\n${platform} ${arch}\n`);
    });
}
