import type { Command } from 'commander';

/** The flags of a command that its short help does not explain, one or more lines each. */
export function rareFlags(
  command: Command,
  shortHelp: string,
  title: string,
  explained: readonly string[] = [],
): string {
  const help = command.createHelp();
  help.helpWidth = 80;
  const options = help.visibleOptions(command).filter(({ long }) => !explained.includes(long ?? ''));
  const rare = options.filter(({ long }) => !isExplained(shortHelp, long ?? ''));
  const width = 26;
  const lines = rare.map((option) => {
    const term = help.optionTerm(option);
    return help.formatItem(term, Math.max(width, term.length), help.optionDescription(option), help);
  });
  return lines.length === 0 ? '' : `${title}\n${lines.join('\n')}\n`;
}

function isExplained(text: string, flag: string): boolean {
  return text.split(/[\s,;:|()]/).includes(flag);
}
