import { describe, expect, it } from 'vitest';
import { chosen, incompleteReason, nightly, typed } from './schedule-choice.ts';

describe('a schedule that is chosen or typed', () => {
  it('is the one of the choice', () => {
    expect(chosen('0 * * * *', nightly)).toEqual({ choice: '0 * * * *', text: '0 * * * *' });
    expect(chosen('', nightly)).toEqual({ choice: '', text: '' });
  });

  it('stays as it is under "Own"', () => {
    expect(chosen('own', nightly)).toEqual({ choice: 'own', text: '0 2 * * *' });
  });

  it('is known as one of the choices when it is typed', () => {
    expect(typed(' 0 2 1 * * ').choice).toBe('0 2 1 * *');
    expect(typed('5 2 * * *').choice).toBe('own');
    expect(typed('').choice).toBe('own');
  });

  it.each([
    ['', 'Five fields, or @daily'],
    ['5', '1 of five fields'],
    ['5 2 * ', '3 of five fields'],
    ['5 2 * * *', null],
    ['5 2 * * * *', null],
    ['@da', '@hourly, @daily, @weekly, @monthly or @yearly'],
    ['@daily', null],
  ])('%j is incomplete: %s', (text, reason) => {
    expect(incompleteReason(text)).toBe(reason);
  });
});
