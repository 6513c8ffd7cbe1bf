import { Command, Option } from 'commander';
import type { PortolanError } from '../../domain/errors.ts';
import type { CliWiring } from '../wiring.ts';
import { type ExitCode, guarded, reportFailure, rootOf, usage } from './failure.ts';
import { type GlobalFlags, globalFlags, sameAs } from './globals.ts';
import { formatsOf, type KnownFlag, knownFlags, unknownFlag } from './unknown-flag.ts';
import { meantCommand } from './verbs.ts';

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

  /** Where `--format json` works, `--json` does. */
  override addOption(option: Option): this {
    super.addOption(option);
    const isFormat = option.long === '--format' && formatsOf(option).includes('json');
    return isFormat
      ? super.addOption(sameAs('format', new Option('--json', 'same as --format json').preset('json')))
      : this;
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
        return work(...input.slice(0, -2), this.#ownFlags(), globalFlags(this), this.wiring);
      }),
    );
  }

  /** Flags of the command, also those before its name: `scan --server URL list`. @throws PortolanError `usage` */
  #ownFlags(): Record<string, unknown> {
    const flags = { ...this.opts() };
    const parent = this.parent?.parent ? this.parent : null;
    for (const option of parent?.options ?? []) {
      const name = option.attributeName();
      if (parent?.getOptionValueSource(name) !== 'cli') continue;
      const own = this.options.find((each) => each.attributeName() === name);
      const value: unknown = parent.getOptionValue(name);
      if (!own) throw this.#flagOfParent(option.long ?? '');
      if (own.argChoices?.includes(String(value)) === false)
        throw usage(`${own.long}: "${value}" is not one of ${own.argChoices.join(', ')}`);
      flags[name] = value;
    }
    return flags;
  }

  #flagOfParent(flag: string): PortolanError {
    return usage(`${flag} is a flag of ${this.parent?.name()}, not of ${this.parent?.name()} ${this.name()}`);
  }

  unknownOption(flag: string): void {
    const { rawArgs: words } = rootOf(this) as Command & { rawArgs: string[] };
    const parent = this.parent?.parent ? this.parent : null;
    if (parent?.options.some(({ short, long }) => flag === short || flag === long))
      this.#fail(this.#flagOfParent(flag));
    this.#fail(unknownFlag(flag, words[words.indexOf(flag) + 1], this.#flags(), `${pathOf(this)} --help`));
  }

  unknownCommand(): void {
    const [name = ''] = this.args;
    const known = this.commands.flatMap((each) => [each.name(), ...each.aliases()]);
    const path = pathOf(this);
    const guess = meantCommand(name, known);
    const hint = guess === null ? `${path} --help` : [path, guess, ...this.args.slice(1)].join(' ');
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
      options.filter(({ hidden, long }) => !hidden || long === '--json').flatMap(knownFlags),
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
