import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openService, type Service } from '../../fixtures/service.ts';
import { parseJsonBody } from './json-body.ts';

let service: Service;
let url: string;
beforeAll(async () => {
  service = await openService();
  url = await service.listen();
});
afterAll(() => service.close());

const body = (members: string) => `{"targets":["127.0.0.1"],${members}}`;

async function post(text: string | Buffer): Promise<{ status: number; answer: string }> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}/api/v1/scans`, { method: 'POST', headers, body: text });
  return { status: response.status, answer: await response.text() };
}

// The large ones nearly fill a body: more than linear time would exceed the test timeout.
const refused: [string, string | Buffer][] = [
  ['__proto__', body('"__proto__":{"polluted":1}')],
  ['__proto__ in escapes', body('"\\u005f\\u005fproto\\u005f_":{"polluted":1}')],
  ['__proto__ in a list', body('"tags":[{"__proto__":{"polluted":1}}]')],
  ['constructor.prototype', body('"x":{"constructor":{"prototype":{"polluted":1}}}')],
  ['constructor as the only key', '{"constructor":{"prototype":{"polluted":1}}}'],
  ['10,000 lists in each other', body(`"x":${'['.repeat(10_000)}${']'.repeat(10_000)}`)],
  ['300,000 objects in each other', body(`"x":${'{"a":'.repeat(300_000)}1${'}'.repeat(300_000)}`)],
  ['a million opened lists', '['.repeat(1_000_000)],
  ['1e999', body('"rate":1e999')],
  ['-1e999', body('"rate":-1e999')],
  ['2^53+1', body('"rate":9007199254740993')],
  ['a number of two million digits', body(`"rate":${'9'.repeat(2_000_000)}`)],
  ['trailing garbage', `${body('"rate":5')} x`],
  ['a second document', `${body('"rate":5')}{}`],
  ['a NUL behind', `${body('"rate":5')}\0`],
  ['a byte order mark', `\ufeff${body('"rate":5')}`],
  ['a byte order mark of UTF-16', Buffer.from(`\ufeff${body('"rate":5')}`, 'utf16le')],
  ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ['a number in another form', body('"rate":0x10')],
  ['NaN', body('"rate":NaN')],
  ['a comma at the end', '{"targets":["127.0.0.1"],}'],
];

describe('JSON traps', () => {
  it.each(refused)('%s is refused with 400 and leaves nothing behind', async (_trap, text) => {
    const { status, answer } = await post(text);
    const { error } = JSON.parse(answer);
    expect([status, error.code]).toEqual([400, 'invalid_request']);
    expect(error.details.fields.length).toBeGreaterThan(0);
    expect(answer.length).toBeLessThan(2000);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect((await service.store.scans.totals()).scan_count).toBe(0);
  });

  it('of two equal keys the last one counts, at every level', () => {
    expect(parseJsonBody(Buffer.from('{"a":1,"b":{"c":1,"c":2},"a":3}'))).toEqual({ a: 3, b: { c: 2 } });
  });

  it('a duplicate that hides a forbidden key does not pass', () => {
    const text = '{"x":1,"__proto__":{"polluted":1},"x":2}';
    expect(() => parseJsonBody(Buffer.from(text))).toThrow('__proto__');
  });

  it('64 levels are taken and 65 are not', () => {
    const nested = (levels: number) => Buffer.from('['.repeat(levels) + ']'.repeat(levels));
    expect(() => parseJsonBody(nested(64))).not.toThrow();
    expect(() => parseJsonBody(nested(65))).toThrow('64 levels');
  });

  it('names that only look dangerous are members like others', () => {
    const text = '{"prototype":1,"toString":2,"hasOwnProperty":3,"__proto":4}';
    const read = parseJsonBody(Buffer.from(text)) as object;
    expect(Object.keys(read)).toEqual(['prototype', 'toString', 'hasOwnProperty', '__proto']);
    expect(String({})).toBe('[object Object]');
  });

  it('numbers keep their value, or none', () => {
    expect(parseJsonBody(Buffer.from('[1e999,-0,9007199254740991]'))).toEqual([
      Number.POSITIVE_INFINITY,
      -0,
      9007199254740991,
    ]);
  });
});
