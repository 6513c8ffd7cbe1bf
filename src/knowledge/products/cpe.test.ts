import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareAttribute, formatCpe, parseCpe, productKey } from './cpe.ts';

test.each([
  [{ vendor: 'openbsd', product: 'openssh', version: '9.2', update: 'p1' }, 'openbsd:openssh:9.2:p1'],
  [{ vendor: 'f5', product: 'nginx' }, 'f5:nginx:*:*'],
  [{ vendor: 'a b', product: 'C', version: '1:2~3+x', update: '' }, 'a_b:c:1\\:2\\~3\\+x:*'],
  [{ vendor: 'x', product: 'y', version: '-' }, 'x:y:\\-:*'],
  [{ vendor: 'x', product: 'y', version: '\u202e\n' }, 'x:y:*:*'],
])('%j', (name, middle) => {
  expect(formatCpe({ part: 'a', ...name })).toBe(`cpe:2.3:a:${middle}:*:*:*:*:*:*`);
});

test.each([
  [
    'cpe:2.3:a:openbsd:openssh:9.2:p1:*:*:*:*:*:*',
    { part: 'a', vendor: 'openbsd', product: 'openssh', version: '9.2', update: 'p1', other: '*' },
  ],
  ['CPE:2.3:O:Cisco:IOS:15.2\\(4\\)M3:*:*:*:*:*:*:*', { part: 'o', product: 'ios', version: '15.2(4)m3' }],
  [
    'cpe:2.3:a:a\\:b:c\\\\d:1\\+2:-:*:*:*:*:*:*',
    { vendor: 'a:b', product: 'c\\d', version: '1+2', update: '-' },
  ],
  ['cpe:2.3:a:x:y:\\-:*:*:*:*:*:*:*', { version: '\\-' }],
  ['cpe:2.3:a:x:y:1\\*2:*:*:*:*:*:*:*', { version: '1*2' }],
  [
    'cpe:2.3:a:jenkins:git:*:*:*:en:lts:jenkins:x64:z',
    { language: 'en', swEdition: 'lts', targetSw: 'jenkins', targetHw: 'x64', other: 'z' },
  ],
  ['cpe:/a:openbsd:openssh:7.4:p1', { part: 'a', version: '7.4', update: 'p1', edition: '*' }],
  ['cpe:/o:avm:fritz%21os', { part: 'o', product: 'fritz!os', version: '*' }],
  [
    'cpe:/a:x:y::-:~~pro~windows~x64~',
    { version: '*', update: '-', edition: '*', swEdition: 'pro', targetSw: 'windows' },
  ],
  ['cpe:/a:x:y:1%2a', { version: '1*' }],
])('reads %s', (text, attributes) => {
  expect(parseCpe(text)).toMatchObject(attributes);
});

test.each([
  '',
  'openssh',
  'cpe:2.3:a:openbsd:openssh',
  'cpe:2.3:a:openbsd:openssh:9.2:p1:*:*:*:*:*:*:*',
  'cpe:2.3:x:openbsd:openssh:9.2:*:*:*:*:*:*:*',
  'cpe:2.3:a:openbsd:open*:9.2:*:*:*:*:*:*:*',
  'cpe:2.3:a:openbsd:openssh:9.?:*:*:*:*:*:*:*',
  'cpe:2.3:a:open bsd:openssh:9.2:*:*:*:*:*:*:*',
  'cpe:2.3:a::openssh:9.2:*:*:*:*:*:*:*',
  'cpe:/a:x:y:%zz',
  'cpe:/a:x:y:%01',
  'cpe:/a:x:y:%00',
  'cpe:/a:1:2:3:4:5:6:7',
])('%j is no CPE name', (text) => {
  expect(parseCpe(text)).toBeNull();
});

test('what is written can be read', () => {
  const value = fc.string({ unit: fc.constantFrom(...'aZ0-_.:\\*?+~!(% '), minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(value, value, value, (vendor, product, version) => {
      const read = parseCpe(formatCpe({ part: 'a', vendor, product, version }));
      const plain = (text: string): string => text.toLowerCase().replaceAll(' ', '_');
      const own = (text: string): string => (/^[*-]$/.test(text) ? `\\${text}` : plain(text));
      expect([read?.vendor, read?.product, read?.version]).toEqual([vendor, product, version].map(own));
    }),
  );
});

test('any text is read or refused', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary-ascii' }), (text) => {
      parseCpe(text);
      parseCpe(`cpe:2.3:${text}`);
      parseCpe(`cpe:/${text}`);
      productKey(`cpe:2.3:a:${text}`);
    }),
  );
});

test('a name of 300,000 characters is read or refused in one pass', () => {
  for (const unit of ['\\', ':', 'a', '%41', '~', '*', '\\:']) {
    parseCpe(`cpe:2.3:a:${unit.repeat(300_000)}`);
    parseCpe(`cpe:/a:${unit.repeat(300_000)}`);
    productKey(`cpe:2.3:a:${unit.repeat(300_000)}`);
  }
});

test('one key for every spelling of a product', () => {
  expect(productKey('cpe:2.3:a:next\\.JS:x\\!:1:*:*:*:*:*:*:*')).toBe('next.js:x!');
  expect(productKey('cpe:2.3:a:next.js')).toBeNull();
});

test.each([
  ['1', '1', 'equal'],
  ['*', '1', 'superset'],
  ['1', '*', 'subset'],
  ['-', '1', 'disjoint'],
  ['*', '-', 'superset'],
])('%s beside %s: %s', (source, target, relation) => {
  expect(compareAttribute(source, target)).toBe(relation);
});
