import { describe, expect, it } from 'vitest';
import { clickValue, excludeValue, readChips, valueState } from './query-edit.ts';

const chipTexts = (text: string) => readChips(text).chips?.map((chip) => chip.text);

describe('the chips of a query', () => {
  it('are the terms that all must hold', () => {
    expect(chipTexts('port:443 severity:>=medium not product:"Apache httpd" "free text"')).toEqual([
      'port:443',
      'severity:>=medium',
      'not product:"Apache httpd"',
      '"free text"',
    ]);
  });

  it('name field and value', () => {
    const { chips } = readChips('not severity:>=high');
    expect(chips?.[0]).toEqual({
      text: 'not severity:>=high',
      isNegated: true,
      parts: { field: 'severity:', value: '>=high' },
    });
  });

  it('are one for alternatives', () => {
    expect(chipTexts('port:22 or port:80')).toEqual(['(port:22 or port:80)']);
    expect(chipTexts('(port:22 or port:80) kev:true')).toEqual(['(port:22 or port:80)', 'kev:true']);
  });

  it('give way to the problem of a text that is no query', () => {
    const { chips, problem } = readChips('port:443 sevrity:high');
    expect(chips).toBeNull();
    expect(problem?.message).toMatch(/^column 10: unknown field `sevrity`/);
  });

  it('of an empty text are none', () => {
    expect(chipTexts('  ')).toEqual([]);
  });
});

describe('a click on a value', () => {
  it('adds a condition', () => {
    expect(clickValue('', 'port', '443')).toBe('port:443');
    expect(clickValue('kev:true', 'product', 'Apache httpd')).toBe('kev:true product:"Apache httpd"');
  });

  it('adds to other values of the field', () => {
    expect(clickValue('port:22 kev:true', 'port', '443')).toBe('port:22,443 kev:true');
  });

  it('removes what is there', () => {
    expect(clickValue('port:22,443', 'port', '22')).toBe('port:443');
    expect(clickValue('port:443 kev:true', 'port', '443')).toBe('kev:true');
  });

  it('takes the place of a comparison', () => {
    expect(clickValue('severity:>=medium', 'severity', 'high')).toBe('severity:high');
  });

  it('takes back an exclusion of the same value', () => {
    expect(clickValue('not product:nginx', 'product', 'nginx')).toBe('product:nginx');
  });

  it('keeps alternatives together', () => {
    expect(clickValue('port:22 or port:80', 'kev', 'true')).toBe('(port:22 or port:80) kev:true');
  });

  it('writes hostile values as text', () => {
    const q = clickValue('', 'product', 'a" or severity:critical');
    expect(q).toBe('product:"a\\" or severity:critical"');
    expect(readChips(q).chips).toHaveLength(1);
  });

  it('asks for rows without a value', () => {
    expect(clickValue('', 'product', 'none')).toBe('product:none');
    expect(valueState('product:none', 'product', 'none')).toBe('added');
    expect(valueState('product:none', 'product', 'nginx')).toBe('none');
  });

  it('leaves a text alone that is no query', () => {
    expect(clickValue('port:', 'kev', 'true')).toBe('port:');
  });
});

describe('an excluded value', () => {
  it('gets a condition of its own', () => {
    expect(excludeValue('port:443', 'product', 'Apache httpd')).toBe('port:443 not product:"Apache httpd"');
  });

  it('is excluded no more by a second Alt-click', () => {
    expect(excludeValue('port:443 not product:nginx', 'product', 'nginx')).toBe('port:443');
  });

  it('is not added at the same time', () => {
    expect(excludeValue('product:nginx', 'product', 'nginx')).toBe('not product:nginx');
  });
});

describe('the state of a value', () => {
  it('follows comparisons', () => {
    expect(valueState('severity:>=medium', 'severity', 'critical')).toBe('added');
    expect(valueState('severity:>=medium', 'severity', 'low')).toBe('none');
  });

  it('knows ranges of ports', () => {
    expect(valueState('port:8000-8100', 'port', '8080')).toBe('added');
  });

  it('knows exclusions', () => {
    expect(valueState('not product:nginx', 'product', 'nginx')).toBe('excluded');
    expect(valueState('not product:nginx', 'product', 'lighttpd')).toBe('none');
  });
});
