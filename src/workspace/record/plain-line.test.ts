import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ResultRow } from '../../domain/result.ts';
import { PlainLines } from './plain-line.ts';
import { rowLine } from './row-line.ts';

const timestamp = '2026-10-06T14:30:23.000Z';
const port = {
  type: 'port',
  timestamp,
  host: '10.0.0.1',
  port: 443,
  protocol: 'tcp',
  state: 'open',
  reason: 'syn-ack',
  service: { name: 'http', cpe: null, confidence: 0.9, tags: [[], {}, [true, false, -1.5]] },
  banner: 'HTTP/1.1 200 OK\r\nETag: "a\\b"\u0000\u001b',
} as unknown as ResultRow;
const host = { type: 'host', timestamp, host: 'fe80::1%eth0', state: 'up' } as ResultRow;

const hostOf = (line: string) => new PlainLines(Buffer.from(`${line}\n`)).hostOf(0, Buffer.byteLength(line));
/** A line of a port with more members. */
const withMembers = (members: string) => rowLine(port).replace(/\}$/, `,${members}}`);

describe('a plain line', () => {
  it('is what rowLine writes for hosts and ports', () => {
    expect([hostOf(rowLine(port)), hostOf(rowLine(host))]).toEqual(['10.0.0.1', 'fe80::1%eth0']);
    expect(hostOf(withMembers('"more":[1]'))).toBe('10.0.0.1');
  });

  it('is found among others', () => {
    const lines = [rowLine(port), '{}', rowLine(host)];
    const bytes = Buffer.from(`${lines.join('\n')}\n`);
    const plain = new PlainLines(bytes);
    const starts = [0, rowLine(port).length + 1, rowLine(port).length + 4];
    const found = starts.map((start, at) => plain.hostOf(start, start + (lines[at] ?? '').length));
    expect(found).toEqual(['10.0.0.1', null, 'fe80::1%eth0']);
    expect(plain.hostOf(0, bytes.length - 1)).toBeNull();
  });

  it.each([
    ['a second host', '"host":"10.0.0.2"'],
    ['a second host in escapes', '"h\\u006fst":"10.0.0.2"'],
    ['a second host in escapes of ASCII letters', '"\\u0068ost":"10.0.0.2"'],
    ['an escape in a key', '"a\\n":1'],
    ['a second type', '"type":"summary"'],
    ['a second port', '"port":1'],
    ['a second protocol', '"protocol":"udp"'],
    ['a second timestamp', '"timestamp":1'],
    ['a prototype', '"__proto__":{}'],
    ['half a character', '"a":"\\ud800"'],
    ['a line separator', '"a":"\u2028"'],
    ['a letter outside of ASCII', '"a":"é"'],
    ['an escaped slash', '"a":"\\/"'],
    ['an unknown escape', '"a":"\\x"'],
    ['a control character', '"a":"\t"'],
    ['blanks', '"a": 1'],
    ['a leading zero', '"a":01'],
    ['a number without digits', '"a":-'],
    ['a number without a fraction', '"a":1.'],
    ['an exponent', '"a":1e999'],
    ['a long number', '"a":12345678901234567890'],
    ['another literal', '"a":NaN'],
    ['no value', '"a":'],
    ['an open array', '"a":[1'],
    ['an open object', '"a":{"b":1'],
    ['an open string', '"a":"b'],
    ['an object without a value', '"a":{"b"}'],
    ['a comma too much', '"a":[1,]'],
    ['deep nesting', `"a":${'['.repeat(1000)}${']'.repeat(1000)}`],
    ['something after its end', '"a":1}'],
  ])('has not %s', (_, members) => {
    expect(hostOf(withMembers(members))).toBeNull();
  });

  it.each([
    '',
    '{}',
    '[]',
    rowLine({ ...port, type: 'summary' } as unknown as ResultRow),
    rowLine({ type: 'error', timestamp, host: null, target: 'a', code: 'b', message: 'c', node: null }),
    JSON.stringify({ ...port, host: null }),
    JSON.stringify({ ...port, port: '443' }),
    JSON.stringify({ ...port, port: 123_456 }),
    JSON.stringify({ ...port, protocol: 'sctp' }),
    JSON.stringify({ host: '10.0.0.1', type: 'host', timestamp }),
    rowLine(host).slice(0, -1),
    ` ${rowLine(host)}`,
  ])('is not %s', (line) => {
    expect(hostOf(line)).toBeNull();
  });

  it('holds, for every reader, the row that a parsed and rewritten line would hold', () => {
    const text = fc.oneof(fc.string({ unit: 'grapheme-ascii' }), fc.string({ unit: 'binary', maxLength: 2 }));
    const value = fc.oneof(fc.jsonValue({ maxDepth: 2, stringUnit: 'grapheme-ascii' }), fc.integer());
    const more = fc.dictionary(text, value, { maxKeys: 3 });
    const rows = fc.record({ host: text, port: fc.nat(70_000), more });
    const pieces = fc.constantFrom(
      '"',
      '\\',
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"host":"x"',
      '\\u0068',
      '0',
      '-',
      '.',
    );
    const changes = fc.array(fc.record({ at: fc.nat(), length: fc.nat(3), piece: pieces }), { maxLength: 2 });
    let accepted = 0;
    fc.assert(
      fc.property(rows, changes, ({ host, port, more }, changed) => {
        const row = { ...more, type: 'port', timestamp, host, port, protocol: 'tcp' };
        let line = rowLine(row as unknown as ResultRow);
        for (const { at, length, piece } of changed) {
          const from = at % line.length;
          line = line.slice(0, from) + piece + line.slice(from + length);
        }
        const found = hostOf(line);
        if (found === null) return;
        accepted += 1;
        const parsed = JSON.parse(line) as ResultRow;
        expect(parsed).toMatchObject({ type: 'port', host: found });
        expect(JSON.parse(rowLine(parsed))).toEqual(parsed);
        expect(line.startsWith(rowLine(parsed).slice(0, line.indexOf('"protocol"')))).toBe(true);
      }),
      { numRuns: 3000 },
    );
    expect(accepted).toBeGreaterThan(100);
  });
});
