import { Argument, type Command, Option } from 'commander';
import type { CliCommand } from '../cli-command.ts';
import { globalFlags } from '../globals.ts';
import { print } from '../output.ts';
import { type ValueKind, valueKinds } from './completion-values.ts';

const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;
type Shell = (typeof shells)[number];

const installHelp = `
Install:
  bash   portolan completion bash > \\
           ~/.local/share/bash-completion/completions/portolan
  zsh    portolan completion zsh > "\${fpath[1]}/_portolan"
  fish   portolan completion fish > ~/.config/fish/completions/portolan.fish
  PowerShell, in $PROFILE:
         portolan completion powershell | Out-String | Invoke-Expression
`;

export function addCompletionCommand(program: CliCommand): void {
  program
    .command('completion')
    .description('print a shell completion script')
    .addArgument(new Argument('<shell>', 'shell to complete for').choices(shells))
    .addOption(
      new Option('--values <kind>', 'what its scripts ask: names and ids, one a line')
        .choices(valueKinds)
        .hideHelp(),
    )
    .addHelpText('after', installHelp)
    .action(async (shell: Shell, { values }: { values?: ValueKind }, command: Command) => {
      if (values !== undefined) {
        const { printValues } = await import('../draw/print-values.ts');
        return await printValues(values, globalFlags(command), program.wiring);
      }
      const { completionScript } = await import('./completion-script.ts');
      print(completionScript(program, shell));
    });
}
