import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from './program.ts';

const src = join(root, 'ui/src');

/** The layers of docs/architecture.md: a file imports only from lower ranks or its own folder. */
const ranks: Record<string, number> = {
  styles: 0,
  format: 0,
  url: 1,
  api: 2,
  session: 3,
  live: 4,
  components: 5,
  pages: 6,
  app: 7,
  'main.tsx': 8,
};
/** What the pages share with the server: pure, and small enough for browsers. */
const shared = join(root, 'src/domain/query');
const sharedWords = ['finding-order.ts', 'scan-state.ts'].map((name) => join(root, 'src/domain', name));
const maxLines = 500;
const vagueNames = /^(utils?|common|helpers?|misc|manager|base|index|shared|lib)(\.|$)/;
const kebab = /^[a-z0-9]+(-[a-z0-9]+)*(\.(worker|test))*\.tsx?$/;
/** Made by a generator. */
const generated = 'api/schema.d.ts';
/** Packages that may run in a page. Each was tried under the server's content security policy. */
const packages = [
  '@base-ui/react',
  '@dagrejs/dagre',
  '@tanstack/react-query',
  '@tanstack/react-router',
  '@tanstack/react-virtual',
  '@xyflow/react',
  'openapi-fetch',
  'react',
  'react-dom',
  'uplot',
];

const files = readdirSync(src, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
  .map((entry) => join(entry.parentPath, entry.name))
  .filter((file) => relative(src, file) !== generated);
const sources = files.filter((file) => !isTest(file));

function isTest(file: string): boolean {
  return file.endsWith('.test.ts');
}

function folderOf(file: string): string {
  return relative(src, file).split(sep)[0] as string;
}

function specifiersIn(text: string): string[] {
  const pattern = /(?:\bfrom\s+|\bimport\s*\(\s*|^import\s+|\bnew URL\(\s*)'([^']+)'/gm;
  return [...text.matchAll(pattern)].map(([, name = '']) => name);
}

/** Without those of types, which are gone when the code runs. */
function runtimeImportsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8').replaceAll(/^(?:import|export) type [^;]*;/gm, '');
  return importsOf(file, text);
}

/** Files that a file imports, of any kind. */
function importsOf(file: string, text = readFileSync(file, 'utf8')): string[] {
  return specifiersIn(text)
    .filter((name) => name.startsWith('.'))
    .map((name) => resolve(dirname(file), name.replace(/\?.*$/, '')));
}

/** A folder of its own for each page. */
function pageOf(file: string): string | null {
  const [folder, page] = relative(src, file).split(sep);
  return folder === 'pages' ? (page ?? null) : null;
}

/** @returns what is wrong, a line for each import */
function importsThat(isWrong: (file: string, target: string) => boolean): string[] {
  return sources.flatMap((file) =>
    importsOf(file)
      .filter((target) => isWrong(file, target))
      .map((target) => `${relative(src, file)} imports ${relative(src, target)}`),
  );
}

/** Chains of imports that lead back to where they began. */
function cycles(): string[] {
  const state = new Map<string, 'open' | 'done'>();
  const found: string[] = [];
  const visit = (file: string, path: string[]) => {
    if (state.get(file) === 'done') return;
    if (state.get(file) === 'open') {
      found.push([...path.slice(path.indexOf(file)), file].map((each) => relative(src, each)).join(' -> '));
      return;
    }
    state.set(file, 'open');
    if (sources.includes(file)) for (const next of runtimeImportsOf(file)) visit(next, [...path, file]);
    state.set(file, 'done');
  };
  for (const file of sources) visit(file, []);
  return found;
}

/** Files whose text has something that must not be there. */
function filesWith(pattern: RegExp, allowed: readonly string[] = []): string[] {
  return sources
    .filter((file) => pattern.test(readFileSync(file, 'utf8')))
    .map((file) => relative(src, file))
    .filter((file) => !allowed.includes(file));
}

describe('the layout of the UI', () => {
  it('has no folder beside those that the architecture names', () => {
    expect([...new Set(files.map(folderOf))].filter((folder) => ranks[folder] === undefined)).toEqual([]);
  });

  it('imports run one way', () => {
    const isInside = (target: string) => !relative(src, target).startsWith('..');
    const breaches = importsThat((file, target) => {
      const [from, to] = [folderOf(file), folderOf(target)];
      return isInside(target) && from !== to && (ranks[to] ?? 99) >= (ranks[from] as number);
    });
    expect(breaches).toEqual([]);
  });

  it('no page draws another one: that would load both', () => {
    const isEntry = (file: string) => /(?:^page|-tab|-step)\.tsx$/.test(basename(file));
    const breaches = sources.flatMap((file) =>
      runtimeImportsOf(file)
        .filter((target) => isEntry(target) && pageOf(file) !== null && pageOf(file) !== pageOf(target))
        .map((target) => `${relative(src, file)} imports ${relative(src, target)}`),
    );
    expect(breaches).toEqual([]);
  });

  it('of the server it imports the query language, the order of findings and the words of states alone', () => {
    const isOutside = (target: string) => relative(src, target).startsWith('..');
    const breaches = importsThat(
      (_file, target) =>
        isOutside(target) &&
        !sharedWords.includes(target) &&
        !(target.startsWith(`${shared}${sep}`) && !isTest(target)),
    );
    expect(breaches).toEqual([]);
  });

  it('the server imports nothing of it', () => {
    const server = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .filter((name) => /from '(?:\.\.\/)+ui\//.test(readFileSync(join(root, 'src', name), 'utf8')));
    expect(server).toEqual([]);
  });

  it('runs the tried packages only, and nothing of Node', () => {
    const name = (specifier: string) =>
      specifier
        .split('/')
        .slice(0, specifier.startsWith('@') ? 2 : 1)
        .join('/');
    const breaches = sources.flatMap((file) =>
      specifiersIn(readFileSync(file, 'utf8'))
        .filter((specifier) => !specifier.startsWith('.') && !packages.includes(name(specifier)))
        .map((specifier) => `${relative(src, file)} imports ${specifier}`),
    );
    expect(breaches).toEqual([]);
  });

  it('has no cycle', () => {
    expect(cycles()).toEqual([]);
  });

  it('has no file above 500 lines', () => {
    const long = sources.filter((file) => readFileSync(file, 'utf8').split('\n').length - 1 > maxLines);
    expect(long.map((file) => relative(src, file))).toEqual([]);
  });

  it('names files after what they are', () => {
    const odd = files.filter((file) => vagueNames.test(basename(file)) || !kebab.test(basename(file)));
    expect(odd.map((file) => relative(src, file))).toEqual([]);
  });

  it('gives every page its entry', () => {
    const pages = new Set(sources.map(pageOf).filter((page) => page !== null));
    expect([...pages].filter((page) => !existsSync(join(src, 'pages', page, 'page.tsx')))).toEqual([]);
  });
});

describe('what a target says stays text', () => {
  it('no file makes HTML, styles or code of a text', () => {
    const makesCode =
      /\bdangerouslySetInnerHTML\b|\b(?:inner|outer)HTML\b|\binsertAdjacentHTML\b|\beval\(|\bnew Function\(|<style\b|createElement\('(?:style|script)'\)/;
    expect(filesWith(makesCode)).toEqual([]);
  });

  it('tokens never get into what stays in the browser', () => {
    expect(filesWith(/\bdocument\.cookie\b|\bindexedDB\b/)).toEqual([]);
    const storesAToken = /localStorage\.setItem\([^)]*token/i;
    expect(filesWith(storesAToken)).toEqual([]);
  });
});
