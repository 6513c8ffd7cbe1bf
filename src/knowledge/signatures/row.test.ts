import { expect, test } from 'vitest';
import { compileMatcher } from '../rules/matcher.ts';
import { protocolRows, rows } from './row.ts';

const server = rows('http', 'http.header.server', 0.9, { flags: 'i' });

test('a row reads a version into the product and its CPE name', () => {
  expect(server('http.x', 'X', 'maker:x_server', '^X/<v>', 'X/1.2', '1.2', { certainty: 0.5 })).toEqual({
    id: 'http.x',
    service: 'http',
    source: 'http.header.server',
    pattern: String.raw`^X/(?P<version>\d+(?:\.\d+)*)`,
    product: 'X',
    vendor: 'maker',
    version: '{version}',
    cpe: { part: 'a', vendor: 'maker', product: 'x_server', version: '{version}' },
    certainty: 0.5,
    flags: 'i',
    examples: [{ text: 'X/1.2', version: '1.2' }],
  });
});

test('a suffix that the pattern does not list costs neither product nor version', () => {
  const page = server('http.x', 'X', null, '<i>X/<v></i>', '<i>X/1.2</i>', '1.2');
  const read = (text: string) => {
    const match = compileMatcher(page.pattern).match(text);
    return match && [match.groups.get('version'), match.groups.get('suffix')];
  };
  expect(page).toMatchObject({ version: '{version}', revision: '{suffix}' });
  expect(read('<i>X/1.2</i>')).toEqual(['1.2', undefined]);
  expect(read('<i>X/1.2-cll-lve</i>')).toEqual(['1.2', 'cll-lve']);
  expect(read('<i>X/1.2.3b_acme+7</i>')).toEqual(['1.2.3', 'b_acme+7']);
  expect(read('<i>X/1.2 y</i>')).toBeNull();
});

test.each([
  [null, null, undefined],
  ['maker', 'maker', undefined],
  ['maker:x', 'maker', { part: 'a', vendor: 'maker', product: 'x' }],
  ['o:maker:x', 'maker', { part: 'o', vendor: 'maker', product: 'x' }],
])('maker %s', (maker, vendor, cpe) => {
  expect(server('http.x', 'X', maker, '^X$', 'X')).toMatchObject({ vendor, ...(cpe && { cpe }) });
  expect('cpe' in server('http.x', 'X', maker, '^X$', 'X')).toBe(cpe !== undefined);
});

test('an exact row matches its text and nothing else', () => {
  expect(server.exact('http.x', 'X', null, 'X (y)\r\n').pattern).toBe(String.raw`^X \(y\)\r\n$`);
});

test('a prefix row matches its text up to the version, or all of it', () => {
  expect(server.prefix('http.x', 'X', null, 'X+ v1.2 (y)', '1.2').pattern).toBe(
    String.raw`^X\+ v(?P<version>\d+(?:\.\d+)*)`,
  );
  expect(server.prefix('http.x', 'X', null, 'X.y').pattern).toBe(String.raw`^X\.y`);
});

test('a protocol row has no product', () => {
  expect(protocolRows('form', 0.75)('git', '^git', 'git', { certainty: 0.6 })).toEqual({
    id: 'form.git',
    service: 'git',
    source: 'banner.raw',
    pattern: '^git',
    product: null,
    vendor: null,
    certainty: 0.6,
    examples: [{ text: 'git' }],
  });
});
