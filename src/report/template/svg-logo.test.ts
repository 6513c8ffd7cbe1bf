import { describe, expect, it } from 'vitest';
import type { VectorShape } from './report-template.ts';
import { readSvgLogo, SvgProblem } from './svg-logo.ts';

const svg = (inside: string, more = 'viewBox="0 0 20 10"') =>
  `<svg xmlns="http://www.w3.org/2000/svg" ${more}>\n${inside}\n</svg>`;

const shape: VectorShape = {
  path: '',
  transform: null,
  fill: '#000000',
  stroke: null,
  strokeWidth: 1,
  evenOdd: false,
  opacity: 1,
};

const shapesOf = (inside: string) => readSvgLogo(svg(inside)).shapes;

function problemOf(text: string): SvgProblem {
  try {
    readSvgLogo(text);
  } catch (error) {
    if (error instanceof SvgProblem) return error;
    throw error;
  }
  throw new Error('it was taken');
}

describe('an SVG logo', () => {
  it.each([
    ['<rect x="1" y="2" width="3" height="4"/>', 'M1 2h3v4h-3Z'],
    [
      '<rect width="10" height="8" rx="2"/>',
      'M2 0h6a2 2 0 0 1 2 2v4a2 2 0 0 1 -2 2h-6a2 2 0 0 1 -2 -2v-4a2 2 0 0 1 2 -2Z',
    ],
    ['<circle cx="5" cy="5" r="2"/>', 'M3 5a2 2 0 1 1 4 0a2 2 0 1 1 -4 0Z'],
    ['<ellipse cx="5" cy="5" rx="2" ry="1"/>', 'M3 5a2 1 0 1 1 4 0a2 1 0 1 1 -4 0Z'],
    ['<line x1="1" y1="2" x2="3" y2="4" stroke="#000"/>', 'M1 2L3 4'],
    ['<polyline points="0,0 1,1 2-1"/>', 'M0 0L1 1L2 -1'],
    ['<polygon points="0 0 1 1 2 0"/>', 'M0 0L1 1L2 0Z'],
    ['<path d="m1,2-3.5.5 4 4z M.5.5"/>', 'm1 2l-3.5 0.5l4 4zM0.5 0.5'],
    ['<path d="M0 0a1 1 0 01.5.5 1 1 0 1 0 3 3"/>', 'M0 0a1 1 0 0 1 0.5 0.5a1 1 0 1 0 3 3'],
    ['<path d="M1e1 2E-1L0.0000001 1"/>', 'M10 0.2L0 1'],
  ])('%s becomes the path %s', (text, path) => {
    expect(shapesOf(text).map((each) => each.path)).toEqual([path]);
  });

  it('passes paint and transforms of groups on', () => {
    const [first, second] = shapesOf(`<g fill="#ABC" opacity="0.5" transform="translate(10 20)">
      <g transform="scale(2)" fill-rule="evenodd"><path d="M0 0h1" stroke="navy" stroke-width="3px" opacity=".5"/></g>
      <path d="M1 1h1" fill="none" stroke="red"/></g>`);
    expect(first).toEqual({
      ...shape,
      path: 'M0 0h1',
      fill: '#aabbcc',
      stroke: '#000080',
      strokeWidth: 3,
      evenOdd: true,
      opacity: 0.25,
      transform: [2, 0, 0, 2, 10, 20],
    });
    expect(second).toMatchObject({
      fill: null,
      stroke: '#ff0000',
      evenOdd: false,
      transform: [1, 0, 0, 1, 10, 20],
    });
  });

  it('turns around a point', () => {
    const [turned] = shapesOf('<path d="M0 0h1" transform="rotate(90, 5, 5)"/>');
    const [a, b, c, d, e, f] = turned?.transform ?? [];
    // (0, 0) comes to (10, 0).
    for (const [found, wanted] of [
      [a, 0],
      [b, 1],
      [c, -1],
      [d, 0],
      [e, 10],
      [f, 0],
    ])
      expect(found).toBeCloseTo(wanted as number, 9);
  });

  it('leaves out what shows nothing, and notes', () => {
    const shapes = shapesOf(`<title>ACME &amp; sons</title><desc>a logo</desc><!-- note -->
      <rect width="0" height="1"/><path d=""/><path d="M0 0h1" fill="none"/><path d="M0 0h1" opacity="0"/><path d="M0 0h9"/>`);
    expect(shapes).toEqual([{ ...shape, path: 'M0 0h9' }]);
  });

  it('takes its size from width and height without a view box', () => {
    const logo = readSvgLogo(svg('<path d="M0 0h1"/>', 'width="30px" height="12.5"'));
    expect(logo).toMatchObject({ x: 0, y: 0, width: 30, height: 12.5 });
  });

  const rejected: [string, string][] = [
    ['<script>alert(1)</script>', 'element "script" is not allowed'],
    ['<path d="M0 0h1" onload="alert(1)"/>', 'attribute "onload" of path is not allowed'],
    ['<path d="M0 0h1" onclick="alert(1)"/>', 'attribute "onclick" of path is not allowed'],
    ['<image href="https://example.org/x.png" width="1" height="1"/>', 'element "image" is not allowed'],
    ['<image xlink:href="data:image/png;base64,AAAA"/>', 'element "image" is not allowed'],
    ['<use href="#a"/>', 'element "use" is not allowed'],
    ['<a href="https://example.org"><path d="M0 0h1"/></a>', 'element "a" is not allowed'],
    ['<style>@import url(https://example.org/x.css)</style>', 'element "style" is not allowed'],
    ['<path d="M0 0h1" style="fill:url(#a)"/>', 'attribute "style" of path is not allowed'],
    ['<path d="M0 0h1" class="a"/>', 'attribute "class" of path is not allowed'],
    ['<path d="M0 0h1" fill="url(#a)"/>', 'fill "url(#a)" of path is not allowed'],
    ['<path d="M0 0h1" fill="url(https://example.org/x)"/>', 'is not allowed'],
    ['<path d="M0 0h1" filter="url(#a)"/>', 'attribute "filter" of path is not allowed'],
    ['<path d="M0 0h1" fill="expression(alert(1))"/>', 'is not allowed'],
    ['<path d="M0 0h1" fill="constructor"/>', 'fill "constructor" of path is not allowed'],
    [
      '<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"/></foreignObject>',
      'element "foreignObject" is not allowed',
    ],
    ['<animate attributeName="x"/>', 'element "animate" is not allowed'],
    ['<path d="M0 0h1"><set attributeName="onclick" to="alert(1)"/></path>', 'element "set" is not allowed'],
    ['<text>hello</text>', 'element "text" is not allowed'],
    ['<g>hello</g>', 'text is not allowed'],
    ['<g><![CDATA[<script>alert(1)</script>]]></g>', 'CDATA is not allowed'],
    ['<svg viewBox="0 0 1 1"/>', 'svg within svg is not allowed'],
    ['<iframe src="https://example.org"/>', 'element "iframe" is not allowed'],
    ['<metadata><rdf:RDF/></metadata>', 'element "metadata" is not allowed'],
    ['<path d="M0 0h1"><path d="M0 0h1"/></path>', 'not allowed within path'],
    ['<path d="M0 0h1" transform="url(#a)"/>', 'transform cannot be read'],
    ['<path d="M0 0h1" transform="translate(1e999)"/>', 'transform cannot be read'],
    ['<path d="M0 0 &quot;/>&lt;script>"/>', 'path cannot be read'],
    ['<path d="h1"/>', 'path cannot be read'],
    ['<path d="M0 0L1"/>', 'path cannot be read'],
    ['<path d="M1e9 0"/>', 'path cannot be read'],
    ['<polygon points="0 0 z alert"/>', 'polygon cannot be read'],
    ['<rect width="100%" height="1"/>', 'width must be a number'],
    ['<rect width="1e99" height="1"/>', 'width must be a number'],
    ['<g>&lol;</g>', 'is not well-formed'],
    ['<g><path d="M0 0h1"></g>', 'is not well-formed'],
    ['<path d=M0/>', 'is not well-formed'],
    ['<path d="M0 0h1" d="M0 0h2"/>', 'is not well-formed'],
    [`${'<g>'.repeat(40)}${'</g>'.repeat(40)}`, 'is nested more than 32 levels deep'],
    ['<g/>'.repeat(2001), 'has more than 2000 elements'],
    ['<path d="M0 0h1"/>'.repeat(501), 'has more than 500 shapes'],
    [`<path d="M0 0${'h1'.repeat(150_000)}"/>`, 'characters of paths'],
  ];
  it.each(rejected.map(([inside, reason]) => [inside.slice(0, 60), inside, reason]))(
    '%s is rejected with its line',
    (_name, inside, reason) => {
      const { message, line } = problemOf(svg(inside));
      expect(message).toContain(reason);
      expect(line).toBe(2);
    },
  );

  it.each<[string, string]>([
    [
      '<!DOCTYPE svg [<!ENTITY a "x">]><svg viewBox="0 0 1 1"><path d="M0 0h1"/></svg>',
      'a DOCTYPE is not allowed',
    ],
    [
      '<!DOCTYPE svg SYSTEM "http://example.org/x.dtd"><svg viewBox="0 0 1 1"><path d="M0 0h1"/></svg>',
      'a DOCTYPE is not allowed',
    ],
    ['<?xml-stylesheet href="x.css"?><svg viewBox="0 0 1 1"/>', 'a processing instruction is not allowed'],
    ['<html><body/></html>', 'element "html" is not allowed'],
    ['<g/>', 'the first element must be svg'],
    ['', 'is not well-formed'],
    ['\0\x01\x02', 'is not well-formed'],
    ['<svg viewBox="0 0 0 10"><path d="M0 0h1"/></svg>', 'needs a viewBox'],
    ['<svg viewBox="a b c d"><path d="M0 0h1"/></svg>', 'needs a viewBox'],
    ['<svg><path d="M0 0h1"/></svg>', 'needs a viewBox'],
    ['<svg xmlns="http://www.w3.org/1999/xhtml" viewBox="0 0 1 1"/>', 'xmlns must be that of SVG'],
    ['<svg viewBox="0 0 1 1"></svg>', 'shows nothing'],
    ['<svg viewBox="0 0 1 1"><path d="M0 0h1"/></svg><svg/>', 'is not well-formed'],
  ])('%j is rejected', (text, reason) => {
    expect(problemOf(text).message).toContain(reason);
  });

  it('is rejected with the line of the attribute', () => {
    expect(problemOf(svg('<g>\n<path\n  d="M0 0h1"\n  onclick="x"/></g>')).line).toBe(5);
  });

  it('yields nothing but numbers, letters of paths and colors', () => {
    const logo = readSvgLogo(svg('<path id="a&lt;script&gt;" d="M 0,0 C1 2 3 4 5 6" fill="#FFF"/>'));
    for (const { path, fill } of logo.shapes) {
      expect(path).toMatch(/^[A-Za-z\d. -]+$/);
      expect(fill).toMatch(/^#[0-9a-f]{6}$/);
    }
    expect(JSON.stringify(logo)).not.toContain('script');
  });
});
