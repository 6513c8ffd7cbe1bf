import { type NmapFlag, nmapGroups } from './nmap-flags.ts';

/** `-oX FILE`, `-Pn, -P0` */
export function nmapTerm({ flags, value }: NmapFlag): string {
  return `${flags.join(', ')}${value === undefined ? '' : ` ${value}`}`;
}

/** The table of nmap's flags for a terminal of 80 columns. */
export function nmapHelp(): string {
  const groups = nmapGroups.map(({ title, rows }) => `${title}\n${rows.map(line).join('')}`);
  return `Flags of nmap, and what they do here. A later flag wins; letters may stand
together (-sSV). A flag that is not offered ends with exit code 2.

${groups.join('\n')}
More for those who come from nmap, naabu or nuclei: docs/coming-from-nmap.md
`;
}

/** Columns of the left side; longer ones have a line of their own. */
const termColumns = 26;

function line(row: NmapFlag): string {
  const lines = wrapped(nmapTerm(row), 76);
  const last = lines.pop() ?? '';
  const before = lines.map((text) => `  ${text}\n`).join('');
  if (last.length > termColumns) return `${before}  ${last}\n${' '.repeat(termColumns + 4)}${row.here}\n`;
  return `${before}  ${last.padEnd(termColumns)}  ${row.here}\n`;
}

function wrapped(text: string, columns: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (`${last} ${word}`.length > columns) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines;
}
