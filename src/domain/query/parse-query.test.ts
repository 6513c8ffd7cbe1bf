import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyUnits, queryish, queryText } from '../../../test/query-texts.ts';
import { formatQuery } from './format-query.ts';
import { parseQuery } from './parse-query.ts';
import type { Query } from './query.ts';
import { QueryProblem } from './query-problem.ts';
import { queryTokens } from './query-tokens.ts';

/** The problem of a text, or null. */
function problemOf(text: string): QueryProblem | null {
  try {
    parseQuery(text);
    return null;
  } catch (error) {
    if (error instanceof QueryProblem) return error;
    throw error;
  }
}

/** A query without the positions of its parts. */
function meaning(query: Query | null): unknown {
  if (query === null) return null;
  const { from: _from, to: _to, ...rest } = query;
  if (rest.kind === 'not') return { ...rest, term: meaning(rest.term) };
  return 'terms' in rest ? { ...rest, terms: rest.terms.map(meaning) } : rest;
}

const first = (text: string) => {
  const query = parseQuery(text);
  return query?.kind === 'condition' ? query.values : query;
};

describe('parseQuery', () => {
  it.each(['', ' ', '\t\n '])('reads %j as everything', (text) => expect(parseQuery(text)).toBeNull());

  it.each([
    ['a b c', 'a b c'],
    ['a AND b And c', 'a b c'],
    ['a or b and c', 'a or b c'],
    ['(a or b) c', '(a or b) c'],
    ['((a)) (b c)', 'a b c'],
    ['not a b', 'not a b'],
    ['not (a b)', 'not (a b)'],
    ['NOT(a)or(b)', 'not a or b'],
    ['not not a', 'not not a'],
    ['"and" "or"', '"and" "or"'],
    ['exploited:yes cve:CVE-2024-6387', 'kev:true id:CVE-2024-6387'],
    ['PORT:22,80,8000-8100', 'port:22,80,8000-8100'],
    ['severity:>=HIGH', 'severity:>=high'],
    ['type:finding', 'type:vulnerability'],
    ['product:"Apache httpd","a\\"b\\\\c"', 'product:"Apache httpd","a\\"b\\\\c"'],
    ['banner:"\\x16\\x03"', 'banner:"\\\\x16\\\\x03"'],
    ['name:*.example.com,web*,*a*', 'name:*.example.com,web*,*a*'],
    ['banner:*ssh*', 'banner:ssh'],
    ['name:"a b"*', 'name:"a b"*'],
    ['os:none version:*', 'os:none version:*'],
    ['os:"none"', 'os:"none"'],
    ['product:=nginx', 'product:=nginx'],
    ['state:open|filtered', 'state:open|filtered'],
    ['mac:AA:BB:CC:DD:EE:FF', 'mac:AA:BB:CC:DD:EE:FF'],
    ['host:10.0.0.77/24,10.0.0.5-20', 'host:10.0.0.0/24,10.0.0.5-10.0.0.20'],
    ['host:2001:DB8:0::1', 'host:2001:db8::1'],
    ['2001:db8::1', '"2001:db8::1"'],
    ['*ngin*', 'ngin'],
    ['port:"22"', 'port:22'],
  ])('reads %s', (text, canonical) => expect(formatQuery(parseQuery(text))).toBe(canonical));

  it('knows the characters of every part', () => {
    const query = parseQuery('port:22  not (os:linux or "a b")');
    expect(query).toMatchObject({
      kind: 'and',
      from: 0,
      to: 32,
      terms: [
        { from: 0, to: 7 },
        {
          kind: 'not',
          from: 9,
          to: 32,
          term: {
            kind: 'or',
            from: 13,
            to: 32,
            terms: [
              { from: 14, to: 22 },
              { from: 26, to: 31 },
            ],
          },
        },
      ],
    });
  });

  it('reads values by the kind of their field', () => {
    expect(first('cvss:7-8.9')).toEqual([{ kind: 'numbers', first: 7, last: 8.9 }]);
    expect(first('host:10.0.0.0/24')).toEqual([
      { kind: 'addresses', text: '10.0.0.0/24', first: '40a000000', last: '40a0000ff' },
    ]);
    expect(first('host:fe80::1%eth0')).toEqual([{ kind: 'text', text: 'fe80::1%eth0', match: 'whole' }]);
    expect(first('host:web-1')).toEqual([{ kind: 'text', text: 'web-1', match: 'whole' }]);
    expect(first('seen:2026-02-28')).toEqual([
      { kind: 'time', text: '2026-02-28', from: '2026-02-28T00:00:00.000Z', to: '2026-03-01T00:00:00.000Z' },
    ]);
    expect(first('version:<1.2')).toEqual([{ kind: 'version', text: '1.2' }]);
  });

  it.each([
    ['port:443 sevrity:high', 'column 10: unknown field `sevrity`; did you mean `severity`?', 9, 16],
    ['http://x', 'column 1: unknown field `http`; quote a text that contains a colon', 0, 4],
    ['severity:critcal', 'column 10: `critcal` is not a severity; did you mean `critical`?', 9, 16],
    ['port:70000', 'column 6: `70000` is not a port (0 to 65535) or range such as `8000-8100`', 5, 10],
    ['port:90-80', 'column 6: `90-80` is not a port (0 to 65535) or range such as `8000-8100`', 5, 10],
    ['cvss:high', 'column 6: `high` is not a number or range such as `7-8.9`', 5, 9],
    ['kev:maybe', 'column 5: `kev` is `true`, `false` or `none`, not `maybe`', 4, 9],
    ['kev:constructor', 'column 5: `kev` is `true`, `false` or `none`, not `constructor`', 4, 15],
    ['host:10.0.0.256', 'column 6: `10.0.0.256` is not an address, CIDR block, range or name', 5, 15],
    ['host:>web', 'column 7: `web` is not an address', 6, 9],
    ['version:>=new', 'column 11: `new` is not a version', 10, 13],
    [
      'seen:2026-02-30',
      'column 6: `2026-02-30` is not a time; write `2026-11-23` or `2026-11-23T14:30` (UTC)',
      5,
      15,
    ],
    ['product:>nginx', 'column 9: `product` has no order; quote a value that begins with `>`', 8, 9],
    ['port:>1,2', 'column 7: `>` takes one value', 6, 9],
    ['port:>none', 'column 7: `none` does not fit `>`', 6, 10],
    ['port:', 'column 6: `port` needs a value directly behind the colon', 5, 5],
    ['port: 22', 'column 6: `port` needs a value directly behind the colon', 5, 5],
    ['port:22,', 'column 9: `port` needs a value directly behind the colon', 8, 8],
    ['product:""', 'column 9: `product` needs a value directly behind the colon', 8, 10],
    ['port:8*', 'column 6: `port` takes no wildcard', 5, 7],
    ['name:a*b', 'column 6: `*` stands at the start or the end of a value; quote it as a character', 5, 8],
    ['name:=a*', 'column 7: `*` does not fit `=`', 6, 8],
    ['product:"a"b', 'column 12: a blank or a comma is missing here', 11, 12],
    ['"a', 'column 1: the quote is not closed', 0, 2],
    ['os:"a', 'column 4: the quote is not closed', 3, 5],
    ['"a"b', 'column 4: a blank is missing behind the quote', 3, 4],
    ['a"b"', 'column 2: a blank is missing before the quote', 1, 4],
    ['""', 'column 1: an empty text', 0, 2],
    ['*', 'column 1: an empty text', 0, 1],
    ['(a', 'column 1: `(` without `)`', 0, 1],
    ['a)', 'column 2: `)` without `(`', 1, 2],
    ['()', 'column 2: a condition is missing behind `(`', 1, 2],
    ['and a', 'column 1: a condition must come first', 0, 3],
    ['a or', 'column 5: a condition is missing behind `or`', 4, 4],
    ['a and or b', 'column 7: a condition is missing behind `and`', 6, 8],
    ['not', 'column 4: a condition is missing behind `not`', 3, 3],
    ['port>1000', 'column 1: did you mean `port:>1000`?', 0, 9],
    ['port=22', 'column 1: did you mean `port:22`?', 0, 7],
    ['-port:22', 'column 1: write `not port:22`', 0, 8],
    ['a\u0000b', 'column 2: a control character or half a character', 1, 2],
    ['a \ud800', 'column 3: a control character or half a character', 2, 3],
    ['"a\nb"', 'column 3: a line break or tab within quotes', 2, 5],
  ])('rejects %j', (text, message, from, to) => {
    const problem = problemOf(text);
    expect({ message: problem?.message, from: problem?.from, to: problem?.to }).toEqual({
      message,
      from,
      to,
    });
  });

  it('rejects what is too long, too deep or too much', () => {
    expect(problemOf('a'.repeat(2001))?.message).toMatch('at most 2000 characters');
    expect(problemOf(`port:${Array.from({ length: 64 }, (_, port) => port).join(',')}`)).toBeNull();
    expect(problemOf(`x port:${Array.from({ length: 64 }, (_, port) => port).join(',')}`)?.message).toMatch(
      'more than 64',
    );
    expect(problemOf(`${'('.repeat(16)}a${')'.repeat(16)}`)).toBeNull();
    expect(problemOf(`${'('.repeat(17)}a${')'.repeat(17)}`)?.message).toMatch('more than 16 levels');
    expect(problemOf(`${'not '.repeat(17)}a`)?.message).toMatch('more than 16 levels');
  });

  it('repeats only the start of a long text', () => {
    expect(problemOf(`${'x'.repeat(1000)}:1`)?.message.length).toBeLessThan(150);
    expect(problemOf(`port:${'9'.repeat(1000)}`)?.message.length).toBeLessThan(150);
  });

  it('throws nothing but a problem within the text', () => {
    fc.assert(
      fc.property(fc.oneof(queryish, anyUnits, fc.string()), (text) => {
        const problem = problemOf(text);
        if (problem === null) return;
        expect(problem.from).toBeGreaterThanOrEqual(0);
        expect(problem.to).toBeGreaterThanOrEqual(problem.from);
        expect(problem.to).toBeLessThanOrEqual(text.length);
      }),
      { numRuns: 5000 },
    );
  });

  it('reads back what formatQuery writes', () => {
    fc.assert(
      fc.property(queryText, (text) => {
        const problem = problemOf(text);
        if (problem) return expect(problem.message).toMatch('more than 64');
        const query = parseQuery(text);
        expect(meaning(parseQuery(formatQuery(query)))).toEqual(meaning(query));
      }),
      { numRuns: 3000 },
    );
  });

  it('reads back what it read of any text', () => {
    fc.assert(
      fc.property(queryish, (text) => {
        if (problemOf(text) !== null) return;
        const query = parseQuery(text);
        expect(meaning(parseQuery(formatQuery(query)))).toEqual(meaning(query));
      }),
      { numRuns: 5000 },
    );
  });

  // With quadratic time, each of these would take minutes.
  it.each([
    '(',
    ')',
    '"',
    '\\',
    '"\\',
    '*',
    ',',
    ':',
    'a:',
    'not ',
    '>',
    '"a"',
    'port:',
    'a,',
    '\ud800',
    'é',
  ])('splits a million characters of %j', (piece) => {
    const text = piece.repeat(1_000_000 / piece.length);
    expect(queryTokens(text).at(-1)?.to).toBe(text.trimEnd().length);
    expect(problemOf(text)?.from).toBe(2000);
  });
});
