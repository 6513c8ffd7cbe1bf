import type { CliCommand } from './cli-command.ts';
import { printableJson } from './draw/printable.ts';
import { print } from './output.ts';
import { formatOption } from './output-options.ts';

export function addVersionCommand(program: CliCommand): void {
  const { wiring } = program;
  program
    .command('version')
    .description('print version, commit and runtime versions')
    .option('--short', 'print only the version number')
    .addOption(formatOption())
    .action(({ short, format }: { short?: boolean; format: string }) => {
      const { node, openssl } = process.versions;
      const { platform, arch } = process;
      const { version } = wiring;
      if (short) return print(`${version}\n`);
      const { commit, built_at } = wiring.build();
      if (format === 'json')
        return print(printableJson({ version, commit, built_at, node, openssl, platform, arch }));
      const built = built_at === null ? '' : `, built ${built_at}`;
      const program = `portolan ${version}\nnode ${node}\nopenssl ${openssl}\n${platform} ${arch}\n`;
      print(`${program}commit ${commit ?? 'unknown'}${built}\n`);
    });
}
