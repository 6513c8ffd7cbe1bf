import { describe, expect, it } from 'vitest';
import { clickValue, excludeValue, markOf, readChips } from './query-edit.ts';

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
    expect(readChips('port:443').chips?.[0]?.parts).toEqual({ field: 'port:', value: '443' });
  });

  it('are one for alternatives', () => {
    expect(chipTexts('port:22 or port:80')).toEqual(['(port:22 or port:80)']);
    expect(readChips('not (port:22 or kev:true)').chips?.[0]).toEqual({
      text: 'not (port:22 or kev:true)',
      isNegated: true,
    });
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
    expect(clickValue('port:22 kev:true', 'port', 443)).toBe('port:22,443 kev:true');
  });

  it('removes what is there', () => {
    expect(clickValue('port:22,443', 'port', 22)).toBe('port:443');
    expect(clickValue('port:443 kev:true', 'port', '443')).toBe('kev:true');
    expect(clickValue('kev:true', 'kev', true)).toBe('');
  });

  it('narrows a comparison', () => {
    expect(clickValue('severity:>=medium', 'severity', 'high')).toBe('severity:>=medium severity:high');
  });

  it('takes back an exclusion of the same value', () => {
    expect(clickValue('not product:nginx', 'product', 'nginx')).toBe('product:nginx');
  });

  it('finds rows without a value', () => {
    expect(clickValue('', 'product', null)).toBe('product:none');
    expect(markOf('product:none', 'product', null)).toBe('added');
    expect(markOf('product:none', 'product', 'nginx')).toBe('none');
  });

  it('leaves a text alone that is no query, and a field that there is not', () => {
    expect(clickValue('port:', 'kev', true)).toBe('port:');
    expect(clickValue('port:1', 'nonsense', 'x')).toBe('port:1');
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

describe('the mark of a value', () => {
  it('follows comparisons and ranges', () => {
    expect(markOf('severity:>=medium', 'severity', 'critical')).toBe('added');
    expect(markOf('severity:>=medium', 'severity', 'low')).toBe('none');
    expect(markOf('port:8000-8100', 'port', 8080)).toBe('added');
  });

  it('knows exclusions', () => {
    expect(markOf('not product:nginx', 'product', 'nginx')).toBe('excluded');
    expect(markOf('not product:nginx', 'product', 'lighttpd')).toBe('none');
  });
});
