import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { renderPages } from '../docs.ts';
import { amountText, type InternalLimit, internalLimits, limitsIn } from '../internal-limits.ts';
import { parseQuery } from '../src/domain/query/parse-query.ts';
import { root } from './program.ts';

const read = (file: string) => readFileSync(join(root, file), 'utf8');

describe('the pages made from the sources', () => {
  it.each([...renderPages()])('%s is what `npm run docs` writes', (name, text) => {
    expect(read(name) === text, `${name} is stale: run \`npm run docs\` and commit it`).toBe(true);
  });
});

describe('caps of the program', () => {
  const limits = internalLimits();
  const places = (list: InternalLimit[]) => list.map(({ file, name }) => `src/${file} ${name}`);

  it('are found', () => {
    expect(limits.length).toBeGreaterThan(100);
  });

  it('have a comment each', () => {
    const missing = places(limits.filter(({ comment }) => comment === ''));
    expect(missing, 'write a comment above each: what it limits and its unit; then `npm run docs`').toEqual(
      [],
    );
  });

  it('are numbers', () => {
    const unknown = places(limits.filter(({ value }) => Number.isNaN(value)));
    expect(unknown, 'use numbers and constants of the same file only').toEqual([]);
  });

  it('are read with value and comment', () => {
    const source = [
      '/** Unit. */',
      'const mebibyte = 1024 ** 2;',
      '',
      '/**',
      ' * Size of a body,',
      ' * bytes.',
      ' */',
      'export const maxBodyBytes = 2 * mebibyte;',
      'const maxBodyBytes2 = (2 + 1) * mebibyte;',
      '// Depth of a body.',
      'const depthLimit = 1_000;',
      'const maxOf = (a: number) => a;',
      '/** Twice that. */',
      'const largestBody: number = maxBodyBytes * 2;',
      'const maxList = [1, 2];',
    ].join('\n');
    expect(limitsIn(source)).toEqual([
      { name: 'maxBodyBytes', value: 2 * 2 ** 20, comment: 'Size of a body, bytes.' },
      { name: 'maxBodyBytes2', value: 3 * 2 ** 20, comment: '' },
      { name: 'depthLimit', value: 1000, comment: 'Depth of a body.' },
      { name: 'largestBody', value: 4 * 2 ** 20, comment: 'Twice that.' },
    ]);
  });

  it.each([
    ['maxBytes', 2 * 2 ** 20, '2 MiB'],
    ['maxBytes', 768, '768 bytes'],
    ['longestMs', 1500, '1,500 ms'],
    ['longestMs', 86_400_000, '1 d'],
    ['maxTags', 10_000, '10,000'],
  ])('%s = %d shows as %s', (name, value, text) => {
    expect(amountText(name, value)).toBe(text);
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
