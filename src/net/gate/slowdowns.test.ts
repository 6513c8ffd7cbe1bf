import { expect, it } from 'vitest';
import { Slowdowns } from './slowdowns.ts';

it('slowdowns of a host in several sweeps count once, with their extremes', () => {
  const slowdowns = new Slowdowns();
  slowdowns.note('192.0.2.1', { shortAt: 8000, lowest: 2000 });
  slowdowns.note('192.0.2.1', { shortAt: 4000, lowest: 3000 });
  slowdowns.note('192.0.2.2', { shortAt: 500, lowest: 250 });
  expect([...slowdowns.hosts]).toEqual([
    ['192.0.2.1', { shortAt: 4000, lowest: 2000 }],
    ['192.0.2.2', { shortAt: 500, lowest: 250 }],
  ]);
});
