import { expect, it } from 'vitest';
import { selfTests } from './selftest.ts';

it.each(selfTests)('$name', ({ run }) => {
  expect(run).not.toThrow();
});
