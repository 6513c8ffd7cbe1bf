import { Command } from 'commander';
import type { PortolanError } from '../../domain/errors.ts';
import { nearest } from '../../domain/text/nearest.ts';
import { reportFailure, usage } from './failure.ts';
import { type KnownFlag, unknownFlag } from './unknown-flag.ts';

/**
 * A command whose errors name what to type instead. commander calls these methods; it ends the program after its own
 * errors, so they do.
 */
export class CliCommand extends Command {
  override createCommand(name?: string): CliCommand {
    return new CliCommand(name);
  }

  unknownOption(flag: string): void {
    const words = rootOf(this).rawArgs;
    this.#fail(unknownFlag(flag, words[words.indexOf(flag) + 1], this.#flags(), `${pathOf(this)} --help`));
  }

  unknownCommand(): void {
    const [name = ''] = this.args;
    const known = this.commands.flatMap((each) => [each.name(), ...each.aliases()]);
    const path = pathOf(this);
    const guess = nearest(name, known);
    const hint = guess === null ? `${path} --help` : `${path} ${guess}`;
    this.#fail(usage(`"${name}" is no command of ${this.name()}`, hint));
  }

  missingArgument(name: string): void {
    this.#fail(
      usage(
        `${pathOf(this)} needs ${/^[aeio]/.test(name) ? 'an' : 'a'} ${name}`,
        `${pathOf(this)} ${name.toUpperCase()}`,
      ),
    );
  }

  optionMissingArgument({ flags }: { flags: string }): void {
    const [, flag = flags, value = 'VALUE'] = /(?<![\w-])(-[\w-]{1,60}) <([^<>]{1,60})>$/.exec(flags) ?? [];
    this.#fail(usage(`${flag} needs a value`, `${flag} ${value.toUpperCase()}`));
  }

  #flags(): KnownFlag[] {
    const commands = [this as Command, ...ancestorsOf(this)];
    return commands.flatMap(({ options }) =>
      options
        .filter(({ hidden }) => !hidden)
        .flatMap(({ short, long, required }) =>
          [short, long].flatMap((flag) => (flag ? [{ flag, takesValue: required }] : [])),
        ),
    );
  }

  #fail(error: PortolanError): never {
    process.exit(reportFailure(error));
  }
}

/** The program alone: flags of a parent command are not flags of its subcommands. */
function ancestorsOf(command: Command): Command[] {
  const program = rootOf(command);
  return program === command ? [] : [program];
}

function rootOf(command: Command): Command & { rawArgs: string[] } {
  let root = command;
  while (root.parent) root = root.parent;
  return root as Command & { rawArgs: string[] };
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}
