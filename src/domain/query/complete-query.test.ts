import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { queryish } from '../../../test/query-texts.ts';
import { applyCompletion, completeQuery, type QueryCompletion, suggestionsFor } from './complete-query.ts';

/** Completion at the `|` in a text. */
function at(marked: string): QueryCompletion | null {
  const cursor = marked.indexOf('|');
  return completeQuery(marked.slice(0, cursor) + marked.slice(cursor + 1), cursor);
}

describe('completeQuery', () => {
  it.each([
    ['|', { kind: 'field', typed: '', from: 0, to: 0 }],
    ['port:443 |', { kind: 'field', typed: '', from: 9, to: 9 }],
    ['a (sev|', { kind: 'field', typed: 'sev', from: 3, to: 6 }],
    ['se|v:high', { kind: 'field', typed: 'se', from: 0, to: 4 }],
    ['sevrity:hi|', { kind: 'field', typed: 'sevrity', from: 0, to: 8 }],
    ['severity:|', { kind: 'operator', field: 'severity', typed: '', taken: [], from: 9, to: 9 }],
    ['product:|', { kind: 'value', field: 'product', typed: '', taken: [], from: 8, to: 8 }],
    ['severity:>=hi|', { kind: 'value', field: 'severity', typed: 'hi', taken: [], from: 11, to: 13 }],
    ['severity:high,c|', { kind: 'value', field: 'severity', typed: 'c', taken: ['high'], from: 14, to: 15 }],
    ['port:22,|,80 x', { kind: 'value', field: 'port', typed: '', taken: ['22', '80'], from: 8, to: 8 }],
    [
      'product:"Apache ht|',
      { kind: 'value', field: 'product', typed: 'Apache ht', taken: [], from: 8, to: 18 },
    ],
    [
      'product:"a,b",n|gin',
      { kind: 'value', field: 'product', typed: 'n', taken: ['a,b'], from: 14, to: 18 },
    ],
    ['name:*exa|', { kind: 'value', field: 'name', typed: 'exa', taken: [], from: 5, to: 9 }],
    ['exploited:t|', { kind: 'value', field: 'kev', typed: 't', taken: [], from: 10, to: 11 }],
  ] as const)('%s', (marked, expected) => expect(at(marked)).toEqual(expected));

  it('has nothing to say within quoted free text', () => expect(at('"a b|"')).toBeNull());

  it('names characters of the text, wherever the cursor is', () => {
    fc.assert(
      fc.property(queryish, fc.integer({ min: -1, max: 80 }), (text, cursor) => {
        const completion = completeQuery(text, cursor);
        if (completion === null) return;
        const { from, to } = completion;
        expect([0 <= from, from <= to, to <= text.length]).toEqual([true, true, true]);
        for (const { insert } of suggestionsFor(completion)) {
          const applied = applyCompletion(text, completion, insert);
          expect(applied.text.slice(from, applied.cursor).trimEnd()).toBe(insert);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('takes a million characters', () => {
    for (const piece of ['"', 'a,', 'port:', '"a",', '(']) {
      const text = `product:${piece.repeat(200_000)}`;
      expect(completeQuery(text, text.length)).not.toBeUndefined();
    }
  });
});

describe('suggestionsFor', () => {
  const inserts = (marked: string) =>
    suggestionsFor(at(marked) as QueryCompletion).map(({ insert }) => insert);

  it('names fields that begin so, then aliases, then others', () => {
    expect(inserts('pro|')).toEqual(['protocol:', 'product:']);
    expect(inserts('ex|')).toEqual(['kev:']);
    expect(inserts('ver|')).toEqual(['version:', 'severity:']);
    expect(inserts('|').length).toBe(30);
  });

  it('names values of closed fields that are not taken, and operators', () => {
    expect(inserts('severity:critical,|')).toEqual(['high', 'medium', 'low', 'info', 'none']);
    expect(inserts('severity:|')).toEqual([
      'critical',
      'high',
      'medium',
      'low',
      'info',
      'none',
      '>',
      '>=',
      '<',
      '<=',
    ]);
    expect(inserts('state:o|')).toEqual(['open', 'open|filtered']);
    expect(inserts('product:|')).toEqual(['none']);
  });

  it('a choice replaces what was typed', () => {
    expect(applyCompletion('sev x', at('sev| x') as QueryCompletion, 'severity:')).toEqual({
      text: 'severity: x',
      cursor: 9,
    });
    expect(applyCompletion('severity:h', at('severity:h|') as QueryCompletion, 'high')).toEqual({
      text: 'severity:high ',
      cursor: 14,
    });
    expect(applyCompletion('cvss:', at('cvss:|') as QueryCompletion, '>=')).toEqual({
      text: 'cvss:>=',
      cursor: 7,
    });
  });
});
