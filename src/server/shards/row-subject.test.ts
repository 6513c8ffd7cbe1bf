import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rowLine } from '../../workspace/record/row-line.ts';
import { RowSubjects } from './row-subject.ts';

const identity = { type: 'port', timestamp: '2026-10-06T14:30:23.000Z', host: '10.0.0.1' } as const;
const line = JSON.stringify({
  ...identity,
  port: 22,
  tls: { names: ['a'] },
  banner: 'x\r\n"\\"',
  score: -0.5,
});

/** Of a line between others. */
function rowSubject(text: string): ReturnType<RowSubjects['of']> {
  const row = Buffer.from(text);
  const before = Buffer.from(`${line}\n`);
  const block = Buffer.concat([before, row, Buffer.from(`\n${line}\n`)]);
  return new RowSubjects(block).of(before.length, before.length + row.length);
}

/** What JSON.parse says of a line. */
function asParsed(text: string): ReturnType<typeof rowSubject> {
  try {
    const { type, timestamp, host = null } = JSON.parse(text) as Record<string, unknown>;
    const isRow = /^(host|port|vulnerability|compliance|extra|error|summary)$/.test(String(type));
    if (!isRow || typeof type !== 'string' || typeof timestamp !== 'string') return null;
    return host === null || typeof host === 'string' ? { type, host } : null;
  } catch {
    return null;
  }
}

describe('the subject of a row', () => {
  it('is its kind and its host', () => {
    expect(rowSubject(line)).toEqual({ type: 'port', host: '10.0.0.1' });
    const { type, timestamp } = identity;
    expect(rowSubject(JSON.stringify({ type: 'extra', timestamp, key: 'k' }))).toEqual({
      type: 'extra',
      host: null,
    });
    expect(rowSubject(JSON.stringify({ type, timestamp, host: null }))).toEqual({ type, host: null });
    expect(rowSubject(JSON.stringify({ timestamp, host: 'a', deep: [[[[1]]]], type }))).toEqual({
      type,
      host: 'a',
    });
  });

  it('is that of the row, whatever row was read before', () => {
    const rows = Array.from({ length: 500 }, (_, at) =>
      line.replace('10.0.0.1', `10.0.${at >> 8}.${at & 255}`),
    );
    const block = Buffer.from(rows.join('\n'));
    const subjects = new RowSubjects(block);
    for (const at of [0, 499, 1, 250, 2, 0]) {
      const row = rows[at] ?? '';
      const start = block.indexOf(row);
      const { host } = JSON.parse(row) as { host: string };
      expect(subjects.of(start, start + row.length)).toEqual({ type: 'port', host });
    }
  });

  it('has the host as it was written', () => {
    for (const host of ['schön.example', '\u{1f600}', '\u00ff'])
      expect(rowSubject(line.replace('10.0.0.1', host))).toEqual({ type: 'port', host });
  });

  it.each([
    '',
    '{}',
    'null',
    '[]',
    '"x"',
    line.slice(0, -1),
    `${line},`,
    `${line}${line}`,
    line.replace('22', '022'),
    line.replace('22', '.5'),
    line.replace('22', '1.'),
    line.replace('"port"', '"ports"'),
    line.replace('"10.0.0.1"', '1'),
    line.replace('\\r', '\r'),
    line.replace('\\r', '\\x'),
    line.replace('["a"]', '["a",]'),
    line.replace(/"timestamp":"[^"]*"/, '"timestamp":1'),
  ])('is null for an invalid line: %j', (text) => {
    expect(rowSubject(text)).toBeNull();
  });

  it('is the one that counts for a reader when it is named twice', () => {
    for (const again of ['"host":"10.0.0.2"', '"h\\u006fst":"10.0.0.2"'])
      expect(rowSubject(line.replace(/\}$/, `,${again}}`))?.host).toBe('10.0.0.2');
    expect(rowSubject(line.replace(/\}$/, ',"type":"summary"}'))?.type).toBe('summary');
  });

  it('equals that of a parsed row for any row', () => {
    const members = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue());
    fc.assert(
      fc.property(members, fc.string({ unit: 'binary' }), (more, banner) => {
        const text = rowLine({ ...more, ...identity, banner } as never);
        expect(rowSubject(text)).toEqual(asParsed(text));
      }),
      { numRuns: 500 },
    );
  });

  it('equals that of a parsed row for any damage', () => {
    const damage = fc.tuple(
      fc.nat(line.length),
      fc.nat(3),
      fc.oneof(
        fc.constantFrom(...'{}[],:"\\0-.eut \n\r\u2028'),
        fc.constantFrom('"host":"b",', '\\u0041', '"a":[],'),
      ),
    );
    fc.assert(
      fc.property(fc.array(damage, { minLength: 1, maxLength: 3 }), (damages) => {
        const text = damages.reduce(
          (sum, [at, gone, put]) => sum.slice(0, at) + put + sum.slice(at + gone),
          line,
        );
        expect(rowSubject(text)).toEqual(asParsed(text));
      }),
      { numRuns: 5000 },
    );
  });

  it('is found in lines of any length', () => {
    const long = JSON.stringify({
      ...identity,
      banner: '\r\n'.repeat(500_000),
      list: Array(100_000).fill('x'),
    });
    for (const text of [long, `${long.slice(0, -1)},`, `${long.slice(0, 60_000)}`])
      expect(rowSubject(text)).toEqual(asParsed(text));
  });
});
