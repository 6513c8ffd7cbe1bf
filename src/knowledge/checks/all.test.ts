import { expect, test } from 'vitest';
import { sshTexts } from '../ssh/ssh-weaknesses.ts';
import { weaknessTexts } from '../tls/weakness-texts.ts';
import { checks } from './all.ts';
import { versionDisclosure } from './version-disclosure.ts';

const declared = [...checks, versionDisclosure, ...Object.values(weaknessTexts), ...Object.values(sshTexts)];

test.each(declared.map(({ action }) => action))(
  'the action "%s" is short and in the imperative',
  (action) => {
    expect(action.length).toBeLessThanOrEqual(60);
    expect(action).toMatch(/^[A-Z][a-z]+ .*[^.\s]$/);
  },
);

test('one change that removes several findings is one action', () => {
  const { 'tls-v1-0': old, 'tls-v1-1': newer, 'tls-sslv3': oldest } = weaknessTexts;
  expect(new Set([old.action, newer.action])).toEqual(new Set(['Turn off TLS 1.0 and 1.1']));
  expect(oldest.action).not.toBe(old.action);
});

test('equal actions are written the same', () => {
  const texts = new Set(declared.map(({ action }) => action));
  expect(new Set([...texts].map((text) => text.toLowerCase()))).toHaveProperty('size', texts.size);
});
