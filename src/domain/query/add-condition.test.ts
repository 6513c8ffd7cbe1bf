import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyUnits, queryText } from '../../../test/query-texts.ts';
import {
  addCondition,
  conditionText,
  excludeCondition,
  queryTermsOf,
  removeCondition,
  removeTerm,
  valueState,
} from './add-condition.ts';
import { parseQuery } from './parse-query.ts';
import { QueryProblem } from './query-problem.ts';

const port = (value: number) => ({ field: 'port', value }) as const;
const product = (value: string | null) => ({ field: 'product', value }) as const;

describe('addCondition', () => {
  it.each([
    ['', 'port:443'],
    ['nginx', 'nginx port:443'],
    ['a or b', '(a or b) port:443'],
    ['(a or b)', '(a or b) port:443'],
    ['(a) or (b)', '((a) or (b)) port:443'],
    ['((a or b)) or c', '(((a or b)) or c) port:443'],
    ['((a or b) or c)', '((a or b) or c) port:443'],
    ['port:80', 'port:80,443'],
    ['port:443', 'port:443'],
    ['a  and PORT:80 b', 'a port:80,443 b'],
    ['port:>80', 'port:>80 port:443'],
    ['not port:443', 'port:443'],
    ['not port:80,443', 'not port:80 port:443'],
    ['not (port:443 or a)', 'not (port:443 or a) port:443'],
  ])('narrows %j', (text, expected) => expect(addCondition(text, port(443))).toBe(expected));

  it('quotes where needed', () => {
    expect(addCondition('', product('Apache httpd'))).toBe('product:"Apache httpd"');
    expect(addCondition('', product('none'))).toBe('product:"none"');
    expect(addCondition('', product(null))).toBe('product:none');
    expect(addCondition('', { field: 'cvss', value: 7, operator: '>=' })).toBe('cvss:>=7');
  });

  it('cuts a value that no query contains', () => {
    expect(conditionText(product('evil\u001b[2J'))).toBe('product:evil*');
    expect(conditionText(product('\u0000'))).toBe('product:*');
    expect(conditionText(product('x'.repeat(1_000_000)))).toBe(`product:${'x'.repeat(200)}*`);
  });

  it('makes a query of every text', () => {
    fc.assert(
      fc.property(anyUnits, (value) => {
        expect(parseQuery(conditionText(product(value)))?.kind).toBe('condition');
      }),
    );
  });
});

describe('excludeCondition', () => {
  it.each([
    ['', 'not port:443'],
    ['port:443', 'not port:443'],
    ['port:80,443', 'port:80 not port:443'],
    ['not port:80', 'not port:80,443'],
    ['a or b', '(a or b) not port:443'],
  ])('of %j', (text, expected) => expect(excludeCondition(text, port(443))).toBe(expected));
});

describe('removeCondition', () => {
  it.each([
    ['port:443', ''],
    ['a and port:443', 'a'],
    ['port:80,443', 'port:80'],
    ['not port:443 b', 'b'],
    ['(a or b) port:443', 'a or b'],
    ['(port:443 or b)', 'port:443 or b'],
    ['a b', 'a b'],
  ])('of %j', (text, expected) => expect(removeCondition(text, port(443))).toBe(expected));
});

describe('queryTermsOf', () => {
  it('has the text of every term, and its condition', () => {
    const terms = queryTermsOf('port:443 and not product:"Apache httpd" (a or b) nginx');
    expect(terms.map(({ text }) => text)).toEqual([
      'port:443',
      'not product:"Apache httpd"',
      '(a or b)',
      'nginx',
    ]);
    expect(terms.map(({ condition, negated }) => [condition?.field, negated])).toEqual([
      ['port', false],
      ['product', true],
      [undefined, undefined],
      [undefined, undefined],
    ]);
  });

  it('a term goes by its position', () => {
    expect(removeTerm('port:443 and (a or b) nginx', 1)).toBe('port:443 nginx');
    expect(removeTerm('port:443 (a or b)', 0)).toBe('a or b');
    expect(removeTerm('a or b', 0)).toBe('');
  });
});

describe('valueState', () => {
  it.each([
    ['severity:>=medium', 'severity', 'high', 'included'],
    ['severity:>=medium', 'severity', 'low', 'outside'],
    ['not severity:low', 'severity', 'low', 'excluded'],
    ['not severity:low', 'severity', 'high', null],
    ['port:443', 'severity', 'high', null],
    ['product:none', 'product', null, 'included'],
  ] as const)('%s: %s %s is %s', (text, field, value, state) => {
    expect(valueState(text, field, value)).toBe(state);
  });
});

describe('edits of any query', () => {
  it('say what they did, and can be undone', () => {
    fc.assert(
      fc.property(queryText, fc.integer({ min: 0, max: 65_535 }), (text, number) => {
        // At the limits, one more condition is too much.
        fc.pre(isQuery(`${text} ${'x '.repeat(4)}`));
        const excluded = excludeCondition(text, port(number));
        expect(valueState(excluded, 'port', number)).not.toBe('included');
        const added = addCondition(excluded, port(number));
        expect(
          queryTermsOf(added).some(({ condition, negated }) => condition?.field === 'port' && !negated),
        ).toBe(true);
        const removed = removeCondition(added, port(number));
        expect(removeCondition(removed, port(number))).toBe(removed);
      }),
    );
  });
});

function isQuery(text: string): boolean {
  try {
    parseQuery(text);
    return true;
  } catch (error) {
    if (error instanceof QueryProblem) return false;
    throw error;
  }
}
