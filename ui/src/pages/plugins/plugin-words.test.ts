import { describe, expect, it } from 'vitest';
import { reasonOf, runsText, signatureWords } from './plugin-words.ts';

describe('words about a plugin', () => {
  it('say who signed it, and what is wrong with a signature', () => {
    expect(signatureWords({ state: 'trusted', publisher: 'Acme' })).toBe('Acme, trusted');
    expect(signatureWords({ state: 'expired', publisher: 'Acme' })).toBe('Acme (expired)');
    expect(signatureWords({ state: 'unsigned', publisher: null })).toBe('unsigned');
  });

  it('say where it runs, or why it runs nowhere', () => {
    const row = { loaded: true, disabled: false, runs_in: ['deep', 'quick'] };
    expect(runsText(row)).toBe('deep, quick');
    expect(runsText({ ...row, runs_in: [] })).toBe('no graph names it');
    expect(runsText({ ...row, disabled: true })).toBe('no scan: it is switched off');
  });

  it('leave the name out of the reason of its own error', () => {
    expect(reasonOf({ name: 'a', error: 'plugin a: cannot load' })).toBe('cannot load');
    expect(reasonOf({ name: 'a', error: 'plugin b: cannot load' })).toBe('plugin b: cannot load');
    expect(reasonOf({ name: 'a', error: null })).toBe('');
  });
});
