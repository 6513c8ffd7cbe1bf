import { expect, it } from 'vitest';
import { stabilizeTickShapes } from './tick-shape.ts';

it('keeps a tick object without arguments and one with them', async () => {
  const kept = stabilizeTickShapes();
  await new Promise((resolve) => setImmediate(resolve));
  expect(kept).toEqual([
    expect.objectContaining({ callback: expect.any(Function), args: undefined }),
    expect.objectContaining({ callback: expect.any(Function), args: ['with an argument'] }),
  ]);
  expect(stabilizeTickShapes()).toHaveLength(2);
});
