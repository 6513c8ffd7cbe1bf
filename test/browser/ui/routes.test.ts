import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../program.ts';
import { routes } from './page-table.ts';

const pagesFolder = join(root, 'ui/src/pages');
const folders = existsSync(pagesFolder)
  ? readdirSync(pagesFolder, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [entry.name] : [],
    )
  : [];

function testOf(folder: string): string {
  return join(import.meta.dirname, `${folder}.test.ts`);
}

function pathsIn(folder: string): string[] {
  const file = testOf(folder);
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return [...text.matchAll(/['"`](\/[^'"`\s]*)['"`]/g)].map(([, path = '']) => path);
}

describe('the pages of the UI', () => {
  it.each(folders)('%s has a test of its own', (folder) => {
    expect(existsSync(testOf(folder)), `${testOf(folder)} is missing`).toBe(true);
  });

  // The first tab of a page stands at the address of the page itself.
  it.each(routes.map(({ path }) => path.replace(/(.)\/$/, '$1')))(
    'the route %s is named by a test',
    (path) => {
      const tested = folders.flatMap(pathsIn);
      expect(tested, `no test of a page names '${path}'`).toContain(path);
    },
  );

  it('have each a path and a title of their own', () => {
    const paths = routes.map(({ path }) => path);
    expect(paths).toEqual([...new Set(paths)]);
    expect(routes.filter(({ title }) => title.trim() === '')).toEqual([]);
  });
});
