import type { Command } from 'commander';
import type { ServerFlags } from '../session/server-flags.ts';
import { usage } from '../terminal/failure.ts';

/** Flags of the subcommands of `scan`. */
export type ControlFlags = ServerFlags & { format: string; progress?: boolean };

/**
 * The flags of a subcommand. `scan` has flags of the same names and consumes them first, so its values are read; flags
 * without a meaning here are rejected rather than ignored.
 */
export function controlFlags(command: Command): ControlFlags {
  const scan = command.parent as Command;
  const own = new Set(command.options.map((option) => option.attributeName()));
  for (const option of scan.options) {
    const name = option.attributeName();
    if (scan.getOptionValueSource(name) !== 'cli' || own.has(name)) continue;
    throw usage(`${option.long} is a flag of scan, not of scan ${command.name()}`);
  }
  const { format = 'text', ...others } = command.optsWithGlobals() as Partial<ControlFlags>;
  if (format !== 'text' && format !== 'json') throw usage(`--format: "${format}" is not one of text, json`);
  return { ...others, format };
}
