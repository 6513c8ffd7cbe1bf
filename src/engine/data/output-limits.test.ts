import { describe, expect, it } from 'vitest';
import { LimitedOutput } from './output-limits.ts';

const limits = { node_items: 10, node_bytes: 1000, scan_items: 15, scan_bytes: 1500 };
const text = (bytes: number) => 'x'.repeat(bytes - 2);
const many = (count: number, bytes = 3) => Array.from({ length: count }, () => text(bytes));

describe('the output of a plugin', () => {
  it('passes as it is within its limits', () => {
    const output = new LimitedOutput(limits, { items: 0, bytes: 0 });
    expect(output.accept([{ a: 1 }, 'b', null])).toEqual([{ a: 1 }, 'b', null]);
    expect(output.loss).toBe(null);
  });

  it.each([
    ['items of its node', many(12), 10, '2 items beyond plugins.limits.node_items (10) dropped, 10 kept'],
    ['bytes of its node', many(5, 300), 3, '2 items beyond plugins.limits.node_bytes (1KB) dropped, 3 kept'],
  ])('is dropped beyond the %s, and counted', (_, items, kept, loss) => {
    const output = new LimitedOutput(limits, { items: 0, bytes: 0 });
    expect(output.accept(items)).toHaveLength(kept);
    expect(output.accept([])).toEqual([]);
    expect(output.loss).toContain(loss);
  });

  it.each([
    [
      'items',
      { items: 9, bytes: 0 },
      many(9),
      '3 items beyond plugins.limits.scan_items (15) dropped, 6 kept',
    ],
    [
      'bytes',
      { items: 0, bytes: 1200 },
      many(3, 300),
      '2 items beyond plugins.limits.scan_bytes (1.5KB) dropped, 1 kept',
    ],
  ])('is dropped beyond the %s of all plugins of the scan', (what, ofScan, items, loss) => {
    const output = new LimitedOutput(limits, ofScan);
    output.accept(items);
    expect(output.loss).toContain(loss);
    expect(ofScan).toEqual(what === 'items' ? { items: 15, bytes: 18 } : { items: 1, bytes: 1500 });
  });

  it('is dropped to its end after the first item without room', () => {
    const output = new LimitedOutput(limits, { items: 0, bytes: 0 });
    expect(output.accept([text(2000), 'small'])).toEqual([]);
    expect(output.accept(['small'])).toEqual([]);
    expect(output.loss).toMatch(/^3 items/);
  });
});
