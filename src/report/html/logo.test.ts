import { expect, it } from 'vitest';
import type { VectorShape } from '../template/report-template.ts';
import { logoHtml } from './logo.ts';

const shape: VectorShape = {
  path: 'M0 0h4v4z',
  transform: [1, 0, 0, 1, 2, 3],
  fill: '#336699',
  stroke: '#000000',
  strokeWidth: 2,
  evenOdd: true,
  opacity: 0.5,
};

it('a PNG is part of the page, a vector logo is written anew from its shapes', () => {
  expect(logoHtml({ kind: 'png', width: 8, height: 4, data: 'iVBORw0KGgo=' })).toBe(
    '<img src="data:image/png;base64,iVBORw0KGgo=" width="8" height="4" alt="">',
  );
  expect(logoHtml({ kind: 'vector', x: -1, y: 0, width: 80, height: 20, shapes: [shape] })).toBe(
    '<svg class="logo" viewBox="-1 0 80 20" height="20" aria-hidden="true"><path d="M0 0h4v4z" fill="#336699" stroke="#000000" stroke-width="2" fill-rule="evenodd" opacity="0.5" transform="matrix(1 0 0 1 2 3)"/></svg>',
  );
});

it('nothing of a logo is markup', () => {
  const said = '"/><script>alert(1)</script>';
  const hostile = { ...shape, path: said, fill: said, stroke: said };
  const svg = logoHtml({ kind: 'vector', x: 0, y: 0, width: 8, height: 8, shapes: [hostile] });
  expect([...svg.matchAll(/<(\w+)/g)].map(([, name]) => name)).toEqual(['svg', 'path']);
  expect(logoHtml({ kind: 'png', width: 8, height: 4, data: said })).not.toContain('<script');
});
