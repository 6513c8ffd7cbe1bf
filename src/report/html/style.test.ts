import { expect, it } from 'vitest';
import { pageStyle } from './style.ts';

it('loads nothing, closes every brace, and uses only colors that it defines', () => {
  const css = pageStyle({ light: '#336699', dark: '#99bbee' });
  expect(css).not.toMatch(/url\(|@import|<|expression/);
  expect(css.match(/\{/g)?.length).toBe(css.match(/\}/g)?.length);
  const defined = new Set([...css.matchAll(/(--[\w-]+):/g)].map(([, name]) => name));
  // A host has these of its own.
  for (const own of ['--w', '--a', '--p']) defined.add(own);
  const used = [...css.matchAll(/var\((--[\w-]+)/g)].map(([, name]) => name);
  expect(used.length).toBeGreaterThan(50);
  expect(used.filter((name) => !defined.has(name))).toEqual([]);
});

it('takes the color of a template for links, in both looks', () => {
  const css = pageStyle({ light: '#336699', dark: '#99bbee' });
  expect(css).toContain(':root{--link:#336699}');
  expect(css).toContain('{:root{--link:#99bbee}}');
});
