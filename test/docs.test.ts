import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { renderPages } from '../docs.ts';
import { parseQuery } from '../src/domain/query/parse-query.ts';
import { root } from './program.ts';

const read = (file: string) => readFileSync(join(root, file), 'utf8');

function filesBelow(folder: string, ending: string): string[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith(ending)).map((name) => join(folder, name));
}

describe('the pages made from the sources', () => {
  it.each([...renderPages()])('%s is what `npm run docs` writes', (name, text) => {
    expect(read(name)).toBe(text);
  });
});

describe('docs/limits.md', () => {
  const rows = [...read('docs/limits.md').matchAll(/^\| .* \| (.+) \| `(.+)` `(.+)` \|$/gm)].map(
    ([, limit = '', file = '', name = '']) => ({ limit, file, name }),
  );

  it.each(rows)('$file $name is $limit', ({ limit, file, name }) => {
    expect(amountOf(limit)).toBe(constantIn(read(`src/${file}`), name));
  });

  it('lists no constant twice', () => {
    const names = rows.map(({ file, name }) => `${file} ${name}`);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it('lists every constant that is named as a cap', () => {
    const listed = new Set(rows.map(({ file, name }) => `src/${file} ${name}`));
    const cap = /^(?:export )?const ((?:max|most|largest|longest|highest)[A-Z]\w*|\w+Limit) = [\d(]/gm;
    // Not a cap: how long work goes on before other work of the process has its turn.
    const turns = /longestStretch$/;
    const found = filesBelow('src', '.ts')
      .filter((file) => !file.endsWith('.test.ts'))
      .flatMap((file) => [...read(file).matchAll(cap)].map(([, name]) => `${file} ${name}`));
    expect(found.filter((place) => !listed.has(place) && !turns.test(place))).toEqual([]);
  });
});

describe.each(['docs/architecture.md', 'docs/internals.md'])('%s', (page) => {
  it('names files and folders of src/ that exist', () => {
    const paths = [...read(page).matchAll(/`([a-z][\w-]*(?:\/[\w.-]*)+)`/g)].map(([, path = '']) => path);
    expect(paths.length).toBeGreaterThan(5);
    // A folder of one word stands in the row of the layer that holds it.
    const layers = readdirSync(join(root, 'src')).map((layer) => join('src', layer));
    const bases = ['src', '', 'docs', ...layers];
    const missing = paths.filter((path) => !bases.some((base) => existsSync(join(root, base, path))));
    expect(missing).toEqual([]);
  });
});

describe('docs/queries.md', () => {
  const blocks = [...read('docs/queries.md').matchAll(/^```\n([^`]*?)^```$/gm)].map(([, text = '']) =>
    text.trimEnd().split('\n'),
  );

  it.each(blocks[0] ?? [])('has the example %s', (example) => {
    expect(parseQuery(example)).not.toBeNull();
  });

  it('has errors as they are', () => {
    const messages = ['port:443 sevrity:high', 'port>1000', 'severity:critcal'].map((text) => {
      try {
        return String(parseQuery(text));
      } catch (error) {
        return (error as Error).message;
      }
    });
    expect(read('docs/queries.md')).toContain(messages.join('\n'));
  });
});

describe('links between the pages', () => {
  const pages = [
    'README.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'bench/README.md',
    ...filesBelow('docs', '.md'),
  ];

  it.each(pages)('of %s lead somewhere', (page) => {
    const links = [...read(page).matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, link]) => link as string);
    expect(links.filter((link) => !existsSync(join(root, dirname(page), link)))).toEqual([]);
  });
});

/** Units of a figure on the page: bytes and milliseconds. */
const units: Record<string, number> = { '': 1, KiB: 2 ** 10, MiB: 2 ** 20, ms: 1, s: 1000, d: 86_400_000 };

/** `2 MiB`, `30 s`, `10,000` */
function amountOf(limit: string): number {
  const [figure = '', unit = ''] = limit.split(' ');
  return Number(figure.replaceAll(',', '')) * (units[unit] ?? Number.NaN);
}

/** The number that a constant or a property stands for: arithmetic of numbers and of constants of the same file. */
function constantIn(source: string, name: string): number {
  const text = new RegExp(`\\b${name}(?: =|:) ([^;,\\n]+)`).exec(source)?.[1] ?? '';
  const numbers = text.replace(/\b[A-Z]\w*/gi, (word) => String(constantIn(source, word)));
  return /^[\d\s_.*+-]+$/.test(numbers) ? Number(runInNewContext(numbers)) : Number.NaN;
}
