import type { Command, Option } from 'commander';
import { outputFormats } from '../output.ts';

/** What a shell completes by asking the program: names that are installed, scans that are kept. */
export const valueKinds = ['profiles', 'graphs', 'scans'] as const;
export type ValueKind = (typeof valueKinds)[number];

/** Flags whose values the program knows. */
const ofFlags: Record<string, ValueKind> = {
  '--profile': 'profiles',
  '--dag': 'graphs',
  '--compare-with': 'scans',
};

/** The kind of values that complete a flag, or null. */
export function kindOfOption({ long }: Option): ValueKind | null {
  return ofFlags[long ?? ''] ?? null;
}

/** The kind of values that complete the arguments of a command, or null. */
export function kindOfArguments(command: Command): ValueKind | 'files' | null {
  if (command.registeredArguments.length === 0) return null;
  if (command.registeredArguments.some((argument) => /^files?$/.test(argument.name()))) return 'files';
  if (command.parent?.name() === 'profile') return 'profiles';
  if (command.parent?.name() === 'dag') return 'graphs';
  const isScan = command.registeredArguments.some(({ description }) =>
    /^scan id|^scan to|newest/.test(description),
  );
  return isScan || command.name() === 'explain' ? 'scans' : null;
}

/** Values of a flag that the option itself does not list. */
export function choicesOfOption(option: Option): readonly string[] {
  if (option.argChoices !== undefined) return option.argChoices;
  return option.description === outputFormats.join(', ') ? outputFormats : [];
}
