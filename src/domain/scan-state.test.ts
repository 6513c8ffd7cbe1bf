import { expect, test } from 'vitest';
import { shownState, stateWithReason } from './scan-state.ts';

const progress = { paused: false, interrupted: false };

test('a state is the status, or the more precise word for why it is so', () => {
  const failed = (code: string) => shownState({ status: 'failed', error: { code }, progress });
  expect(['timeout', 'canceled', 'interrupted', 'pipeline_failed'].map(failed)).toEqual([
    'timed out',
    'canceled',
    'interrupted',
    'failed',
  ]);
  const running = (more: Partial<typeof progress>) =>
    shownState({ status: 'running', error: null, progress: { ...progress, ...more } });
  expect([running({}), running({ paused: true }), running({ paused: true, interrupted: true })]).toEqual([
    'running',
    'paused',
    'interrupted',
  ]);
  expect(shownState({ status: 'completed', error: null })).toBe('completed');
});

test('the reason follows the state, its code only that of a failure', () => {
  const failed = (code: string) => stateWithReason({ status: 'failed', error: { code, message: 'Why.' } });
  expect([failed('timeout'), failed('permission')]).toEqual(['timed out: Why.', 'failed (permission): Why.']);
  expect(stateWithReason({ status: 'pending', error: null })).toBe('pending');
});
