import { expect, it } from 'vitest';
import { cpeUri } from './cpe-uri.ts';

it.each([
  ['cpe:2.3:a:f5:nginx:1.24.0:*:*:*:*:*:*:*', 'cpe:/a:f5:nginx:1.24.0'],
  ['cpe:2.3:a:openbsd:openssh:9.2:p1:*:*:*:*:*:*', 'cpe:/a:openbsd:openssh:9.2:p1'],
  ['cpe:2.3:a:x:y\\:z:*:*:*:*:*:*:*:*', 'cpe:/a:x:y%3Az'],
  ['cpe:2.3:o:linux:linux_kernel:-:*:*:*:*:*:*:*', 'cpe:/o:linux:linux_kernel:-'],
  ['cpe:2.3:a:x:*:*:*:*:*:*:*:*:*', null],
  ['cpe:/a:f5:nginx', null],
  ['<b>', null],
])('%s becomes %s', (formatted, uri) => {
  expect(cpeUri(formatted)).toBe(uri);
});
