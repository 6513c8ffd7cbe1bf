import { expect, it } from 'vitest';
import { pagePolicy, reportPolicy } from './policy.ts';

const template = { name: 'x', title: null, mark: null, blocks: {}, logo: null, accent: null };

it('a page allows no images unless its template has one, and never scripts or anything from other addresses', () => {
  const strict = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
  expect(pagePolicy(null)).toBe(strict);
  expect(pagePolicy(template)).toBe(strict);
  expect(
    pagePolicy({ ...template, logo: { kind: 'vector', x: 0, y: 0, width: 1, height: 1, shapes: [] } }),
  ).toBe(strict);
  expect(pagePolicy({ ...template, logo: { kind: 'png', width: 1, height: 1, data: '' } })).toBe(
    reportPolicy,
  );
  expect(reportPolicy).toBe(`${strict}; img-src data:`);
});
