import { Argument, type Command } from 'commander';
import { print } from './output.ts';

const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;
type Shell = (typeof shells)[number];

const installHelp = `
Install:
  bash   portolan completion bash > ~/.local/share/bash-completion/completions/portolan
  zsh    portolan completion zsh > "\${fpath[1]}/_portolan"
  fish   portolan completion fish > ~/.config/fish/completions/portolan.fish
  PowerShell   add to $PROFILE: portolan completion powershell | Out-String | Invoke-Expression
`;

export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('print a shell completion script')
    .addArgument(new Argument('<shell>', 'shell to complete for').choices(shells))
    .addHelpText('after', installHelp)
    .action(async (shell: Shell) => {
      const { completionScript } = await import('./completion-script.ts');
      print(completionScript(program, shell));
    });
}
