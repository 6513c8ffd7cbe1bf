import { describe, expect, it } from 'vitest';
import { noFindings } from '../../domain/finding.ts';
import { classCountsText, classSlots, severityLabel, severitySlots, slotSize, slotText } from './marks.ts';

describe('marks', () => {
  it.each([
    [0, '0'],
    [999, '999'],
    [1000, '1k'],
    [1234, '1.2k'],
    [9949, '9.9k'],
    [9950, '10k'],
    [123_456, '123k'],
    [999_499, '999k'],
    [999_500, '1M'],
    [1_234_567, '1.2M'],
  ])('a count of %d takes the slot as %s', (count, text) => expect(slotText(count)).toBe(text));

  it('stand in the slot of their severity or class, zeros left out', () => {
    expect(severitySlots({ ...noFindings(), high: 2, info: 1500 })).toBe(
      '<span class="n"><i class="h">2</i><i class="i">1.5k</i></span>',
    );
    expect(severitySlots(noFindings())).toBe('<span class="n">0</span>');
    expect(classSlots({ certain: 1, likely: 0, possible: 3 })).toBe(
      '<span class="n"><i class="C">1</i><i class="P">3</i></span>',
    );
    expect(classCountsText({ certain: 1000, likely: 2, possible: 0 })).toBe(
      '<i class="C">1,000 certain</i> <i class="L">2 likely</i>',
    );
    expect(severityLabel('critical')).toBe('<span class="w c">Critical</span>');
  });

  it('get wider slots for three digits', () => {
    expect(slotSize([noFindings(), { ...noFindings(), low: 99 }])).toBe('');
    expect(slotSize([noFindings(), { ...noFindings(), low: 100 }])).toBe(' big');
  });
});
