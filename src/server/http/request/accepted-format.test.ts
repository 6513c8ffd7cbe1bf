import { expect, it } from 'vitest';
import { prefersOpenMetrics } from './accepted-format.ts';

const openMetrics = 'application/openmetrics-text';

it.each([
  // Prometheus 2.42 and 3.5
  `${openMetrics};version=1.0.0,${openMetrics};version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1`,
  `${openMetrics};version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=0.0.4;q=0.3,*/*;q=0.2`,
  openMetrics,
  openMetrics.toUpperCase(),
  `${openMetrics}; version="1.0.0"`,
  `text/plain;q=0.9, ${openMetrics}`,
])('%s prefers OpenMetrics', (accept) => {
  expect(prefersOpenMetrics(accept)).toBe(true);
});

it.each([
  undefined,
  '',
  '*/*',
  'text/plain;version=0.0.4',
  `${openMetrics};q=0`,
  `${openMetrics};q=nonsense`,
  `${openMetrics};q=7`,
  `${openMetrics};version=2.0.0`,
  `${openMetrics};q=0.5,text/plain`,
  `${openMetrics};q=0.5,*/*`,
  `${openMetrics},${'x'.repeat(2000)}`,
  ',,;;==',
])('%s does not', (accept) => {
  expect(prefersOpenMetrics(accept)).toBe(false);
});
