import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { run } from '../../cli/command.ts';
import { root } from '../../program.ts';

const built = join(root, 'dist/ui');
const assets = join(built, 'assets');
const names = readdirSync(assets);
const plain = [...new Set(names.map((name) => name.replace(/\.(?:br|gz)$/, '')))].filter((name) =>
  /\.(?:js|css)$/.test(name),
);

/** Most that a page may load, bytes of gzip. */
const [firstLoad, lazyPart] = [200_000, 100_000];

const text = (name: string) =>
  names.includes(`${name}.gz`)
    ? gunzipSync(readFileSync(join(assets, `${name}.gz`))).toString()
    : readFileSync(join(assets, name), 'utf8');
const gzipSize = (name: string) =>
  statSync(join(assets, names.includes(`${name}.gz`) ? `${name}.gz` : name)).size;

/** Files that a script imports at once, itself included. */
function withStaticImports(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  const imported = text(name).matchAll(/(?:\bfrom|\bimport)\s*["']\.\/([\w.-]+\.js)["']/g);
  for (const [, next = ''] of imported) withStaticImports(next, found);
  return found;
}

const page = readFileSync(join(built, 'index.html'), 'utf8');
const entries = [...page.matchAll(/(?:src|href)="\.\/assets\/([^"]+)"/g)].map(([, name = '']) => name);
const scripts = new Set(
  entries.filter((name) => name.endsWith('.js')).flatMap((name) => [...withStaticImports(name)]),
);
const styles = entries.filter((name) => name.endsWith('.css'));

describe('the built UI', () => {
  it('loads at most 200 kB before its first page', () => {
    expect(scripts.size).toBeGreaterThan(0);
    expect(styles.length).toBeGreaterThan(0);
    const size = [...scripts, ...styles].reduce((sum, name) => sum + gzipSize(name), 0);
    expect(size).toBeLessThanOrEqual(firstLoad);
  });

  it('loads at most 100 kB more for each page', () => {
    const later = plain.filter((name) => !scripts.has(name) && !styles.includes(name));
    const parts = later.map((name) => {
      const needed = name.endsWith('.js') ? [...withStaticImports(name)] : [name];
      return {
        name,
        size: needed.filter((one) => !scripts.has(one)).reduce((sum, one) => sum + gzipSize(one), 0),
      };
    });
    expect(parts.filter(({ size }) => size > lazyPart)).toEqual([]);
  });

  it('has the same content in every encoding', () => {
    const compressed = names.filter((name) => name.endsWith('.br'));
    expect(compressed.length).toBeGreaterThan(3);
    expect(names.filter((name) => name.endsWith('.gz')).length).toBe(compressed.length);
    for (const name of compressed) {
      const content = brotliDecompressSync(readFileSync(join(assets, name))).toString();
      expect(content === text(name.slice(0, -3)), name).toBe(true);
    }
  });

  it('adds at most 2 MB to an installation', () => {
    const sizes = names.map((name) => statSync(join(assets, name)).size);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(2_000_000);
  });

  it('leaves the choice of the theme to the browser', () => {
    const css = styles.map(text).join('');
    expect(css.match(/light-dark\(/g)?.length).toBeGreaterThan(60);
  });

  it('needs nothing that the policy of the pages forbids', () => {
    expect(page).not.toMatch(/<style|<script>|\son\w+=|\sstyle=/);
    expect(page).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
    const foreign = plain.filter(
      (name) => /url\(["']?(?:https?:|\/\/)|@import/.test(text(name)) && name.endsWith('.css'),
    );
    expect(foreign).toEqual([]);
  });

  it('is built again only after a change', async () => {
    const { code, stdout, stderr } = await run(process.execPath, ['build.ts', 'prepare'], { cwd: root });
    expect([code, stdout, stderr]).toEqual([0, 'Program unchanged\nWeb UI unchanged\n', '']);
  });
});
