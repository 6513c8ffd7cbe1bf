import { expect, it } from 'vitest';
import { classOf } from './finding.ts';

it('the class of a finding is the one it names', () => {
  expect(classOf({ class: 'possible', cpe: null, confidence: 1 })).toBe('possible');
});

it.each([
  [{ cpe: null, confidence: 0.95 }, 'certain'],
  [{ cpe: null, confidence: 0.8 }, 'likely'],
  [{ cpe: 'cpe:2.3:a:x:y:1:*:*:*:*:*:*:*', confidence: 0.95 }, 'likely'],
  [{ cpe: 'cpe:2.3:a:x:y:1:*:*:*:*:*:*:*', confidence: 0.4 }, 'possible'],
  [{}, 'possible'],
  [{ class: 'sure' as 'certain', confidence: 0.4 }, 'possible'],
])('the class of %j, which names none, is %s', (finding, expected) => {
  expect(classOf(finding)).toBe(expected);
});
