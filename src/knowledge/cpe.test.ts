import { expect, test } from 'vitest';
import { formatCpe } from './cpe.ts';

test.each([
  [{ vendor: 'openbsd', product: 'openssh', version: '9.2', update: 'p1' }, 'openbsd:openssh:9.2:p1'],
  [{ vendor: 'f5', product: 'nginx' }, 'f5:nginx:*:*'],
  [{ vendor: 'a b', product: 'C', version: '1:2~3+x', update: '' }, 'a_b:c:1\\:2\\~3\\+x:*'],
  [{ vendor: 'x', product: 'y', version: '-' }, 'x:y:\\-:*'],
  [{ vendor: 'x', product: 'y', version: '\u202e\n' }, 'x:y:*:*'],
])('%j', (name, middle) => {
  expect(formatCpe({ part: 'a', ...name })).toBe(`cpe:2.3:a:${middle}:*:*:*:*:*:*`);
});
