import { expect, it } from 'vitest';
import { siteEvidence } from './site-evidence.ts';

it('joins equal evidence and names the sites of the rest', () => {
  const of = (...found: [string | null, string][]) =>
    siteEvidence(found.map(([name, evidence]) => ({ name, evidence })));
  expect(of()).toBeNull();
  expect(of([null, 'no header'])).toBe('no header');
  expect(of([null, 'no header'], ['v2.test', 'no header'], ['v2.test', 'no header'])).toBe(
    'no header (also v2.test)',
  );
  expect(of(['v2.test', 'CN=v2 expired'], ['v3.test', 'CN=v3 expired'])).toBe(
    'v2.test: CN=v2 expired; v3.test: CN=v3 expired',
  );
  const many = Array.from({ length: 8 }, (_, index): [string, string] => [`v${index}.test`, 'no header']);
  expect(of(...many)).toBe('v0.test, v1.test, v2.test, v3.test, v4.test and 3 more: no header');
});
