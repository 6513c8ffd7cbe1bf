import { Command, type Option } from 'commander';
import type { PortolanError } from '../../domain/errors.ts';
import { nearest } from '../../domain/text/nearest.ts';
import type { CliWiring } from '../wiring.ts';
import { type ExitCode, guarded, reportFailure, rootOf, usage } from './failure.ts';
import { type GlobalFlags, globalFlags } from './globals.ts';
import { type KnownFlag, unknownFlag } from './unknown-flag.ts';

/** Takes the arguments of a command, its flags, the global flags and the wiring; `guarded` takes what it returns. */
type CommandWork =
  | ((flags: never, global: GlobalFlags, wiring: CliWiring) => ExitCode)
  | ((argument: never, flags: never, global: GlobalFlags, wiring: CliWiring) => ExitCode)
  | ((one: never, two: never, flags: never, global: GlobalFlags, wiring: CliWiring) => ExitCode);

/**
 * A command whose errors name what to type instead. commander calls the methods of errors; it ends the program after its
 * own errors, so they do.
 */
export class CliCommand extends Command {
  readonly wiring: CliWiring;

  constructor(name: string | undefined, wiring: CliWiring) {
    super(name);
    this.wiring = wiring;
  }

  override createCommand(name?: string): CliCommand {
    return new CliCommand(name, this.wiring);
  }

  addOptions(options: readonly Option[]): this {
    for (const option of options) this.addOption(option);
    return this;
  }

  /** @param load called when the command runs: the others need not load its work */
  runs(load: () => CommandWork | Promise<CommandWork>): this {
    return this.action(
      guarded(async (...input: unknown[]) => {
        const work = (await load()) as (...input: unknown[]) => ExitCode;
        const argumentsAndFlags = input.slice(0, -1);
        return work(...argumentsAndFlags, globalFlags(this), this.wiring);
      }),
    );
  }

  unknownOption(flag: string): void {
    const { rawArgs: words } = rootOf(this) as Command & { rawArgs: string[] };
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

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}
