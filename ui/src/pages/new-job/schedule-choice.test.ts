import { describe, expect, it } from 'vitest';
import { atTime, chosen, incompleteReason, nightly, timeOf, typed } from './schedule-choice.ts';

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
    expect(typed('5 23 * * *').choice).toBe('0 2 * * *');
    expect(typed('30 * * * *').choice).toBe('0 * * * *');
    expect(typed('0 4 * * sun').choice).toBe('0 4 * * SUN');
    expect(typed('0 2 * * 2').choice).toBe('own');
    expect(typed('@daily').choice).toBe('own');
    expect(typed('').choice).toBe('own');
  });

  it('has a time that can be changed', () => {
    expect(timeOf(nightly.text)).toBe('02:00');
    expect(atTime(nightly, '23:05')).toEqual({ choice: '0 2 * * *', text: '5 23 * * *' });
    expect(atTime(nightly, '')).toBe(nightly);
    for (const text of ['0 * * * *', '@daily', '*/5 2 * * *', '0 2,4 * * *', '60 2 * * *', ''])
      expect(timeOf(text)).toBeNull();
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
