import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { viewOfChanges } from './compared-with.ts';

beforeEach(() => {
  vi.stubEnv('NO_COLOR', '');
  vi.stubEnv('FORCE_COLOR', '1');
});
afterEach(() => void vi.unstubAllEnvs());

it('changes after a result have its colors, and none with --no-color', () => {
  for (const output of [
    { file: null, format: 'text' },
    { file: null, format: 'json' },
    { file: 'result.json', format: 'json' },
  ] as const) {
    expect(viewOfChanges(output, { color: true }).style.color).toBe(true);
    expect(viewOfChanges(output, { color: false }).style.color).toBe(false);
  }
});
