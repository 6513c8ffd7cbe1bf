import { type ConfigKey, configKeys, environmentNames } from './schema.ts';

/** Longest line of a comment, characters without its indentation. */
const commentWidth = 96;

const opening = [
  'Example configuration of Portolan: every key, with its meaning and environment names. Lines that are commented',
  'out show the default; the others are a sensible start for a server that other machines can reach.',
];

/** One level of the file: name -> key, or the keys below it. */
type Section = Map<string, ConfigKey | Section>;

/** The example file: `portolan config init`, and config.example.yaml in the sources. */
export function renderExample(): string {
  return [...opening.map((line) => `# ${line}\n`), ...sectionLines(sectionsOf(configKeys), 0)].join('');
}

function sectionsOf(keys: readonly ConfigKey[]): Section {
  const root: Section = new Map();
  for (const key of keys) {
    const names = key.path.split('.');
    const leaf = names.pop() as string;
    let section = root;
    for (const name of names) {
      const below = section.get(name);
      const next = below instanceof Map ? below : new Map();
      section.set(name, next);
      section = next;
    }
    section.set(leaf, key);
  }
  return root;
}

function sectionLines(section: Section, depth: number): string[] {
  return [...section].flatMap(([name, entry]) => {
    const gap = depth === 0 ? ['\n'] : [];
    if (!(entry instanceof Map)) return [...gap, ...keyLines(name, entry, depth)];
    const header = line(`${name}:`, depth, !isActive(entry));
    return [...gap, header, ...sectionLines(entry, depth + 1)];
  });
}

function isActive(entry: ConfigKey | Section): boolean {
  return entry instanceof Map ? [...entry.values()].some(isActive) : entry.shipped !== undefined;
}

function keyLines(name: string, key: ConfigKey, depth: number): string[] {
  const comments = wrap(
    `${key.description}${memberText(key)} Environment: ${environmentNames(key).join(', ')}.`,
  );
  const value = yamlValue(key.shipped ?? key.default);
  const setting = value === '' ? `${name}:` : `${name}: ${value}`;
  return [
    ...comments.map((text) => line(text, depth, true)),
    line(setting, depth, key.shipped === undefined),
  ];
}

function line(text: string, depth: number, comment: boolean): string {
  return `${'  '.repeat(depth)}${comment ? '# ' : ''}${text}\n`;
}

/** ` A list of {name, url, secret}.` */
function memberText({ type, members = {} }: ConfigKey): string {
  const names = Object.keys(members).join(', ');
  if (type === 'entries') return ` A list of {${names}}.`;
  return type === 'map' ? ` A map of name to {${names}}.` : '';
}

/** As YAML 1.2 core reads it back; ambiguous values are quoted. */
function yamlValue(value: ConfigKey['default']): string {
  if (value === null || value === '') return '';
  if (Array.isArray(value)) return `[${value.map(quoted).join(', ')}]`;
  if (typeof value === 'object') return '{}';
  return typeof value === 'string' ? quoted(value) : String(value);
}

function quoted(text: string): string {
  return /^[a-z/][\w/.-]*$/i.test(text) || /^\d+[a-z]+$/i.test(text) ? text : JSON.stringify(text);
}

function wrap(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < commentWidth) lines[lines.length - 1] += ` ${word}`;
    else lines.push(word);
  }
  return lines;
}
